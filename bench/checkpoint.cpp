// checkpoint.cpp -- the step of a GPT whose blocks are computed again for the gradient, beside the
// same step without.  The schedule makes values again by itself where memory is short
// (CROZE_RECOMPUTE); that is off here, so what is measured is what the program asks for.
#include "checkpoint.h"

#include <cmath>
#include <vector>

#include "corpus/gpt.h"
#include "croze/base/options.h"
#include "croze/jit/capture.h"
#include "croze/jit/checkpoint.h"
#include "croze/nn/nn.h"
#include "croze/tensor/network/loss.h"
#include "croze/tensor/random/random.h"
#include "measure.h"

namespace croze::bench {
namespace {

using corpus::Gpt;

constexpr double most_of_activations = 0.5, most_of_time = 1.35;
constexpr std::int64_t batch = 16;

// A network with numbers of usual sizes, and its optimizer.
struct Training {
  Gpt net;
  optim::AdamW adam;

  Training() : adam(nn::parameters(net)) {
    for (Tensor t : nn::parameters(net)) {
      const double fan_in = static_cast<double>(t.ndim() > 1 ? t.numel() / t.size(0) : 1);
      t.assign(Tensor::randn(t.shape()) / std::sqrt(fan_in));
      t.realize();
    }
  }

  Tensor step(const Tensor& text, const Tensor& next, bool again) {
    Tensor x = embedding(net.token_embedding, text) + net.place_embedding;
    for (const corpus::TransformerBlock& block : net.blocks) {
      x = again ? checkpoint([&](const Tensor& in) { return block(in); })(x) : block(x);
    }
    const Tensor scores = reshape(net.head(net.norm(x)), {-1, Gpt::vocabulary});
    const Tensor loss = cross_entropy(scores, next);
    adam.step(loss.gradient(adam.parameters));
    return loss;
  }
};

// Values that one launch leaves for another, where most are alive.
double activation_bytes(const Step& step) {
  double bytes = 0;
  for (const ExplainedPeak& peak : step.explanation().peaks) {
    bytes += static_cast<double>(peak.bytes);
  }
  return bytes;
}

}  // namespace

Json checkpoint_rows(double seconds) {
  const Options::Scope off{{Option::Recompute, 0}};
  Training kept, again;
  const Tensor text = Tensor::randint(0, Gpt::vocabulary, {batch, Gpt::sequence}).realize();
  const Tensor next = Tensor::randint(0, Gpt::vocabulary, {batch * Gpt::sequence}).realize();
  auto plain = capture([&](const Tensor& x, const Tensor& y) { return kept.step(x, y, false); });
  auto frugal = capture([&](const Tensor& x, const Tensor& y) { return again.step(x, y, true); });
  const std::vector<double> times = interleaved(
      {[&] { plain(text, next).realize(); }, [&] { frugal(text, next).realize(); }}, seconds);
  const double bytes = activation_bytes(plain.step()), fewer = activation_bytes(frugal.step());
  Json memory = limited("GPT, checkpointed: activations by those without", fewer / bytes, "",
                        most_of_activations, Limit::Most);
  memory["bytes"] = fewer;
  memory["bytes_without"] = bytes;
  Json time = limited("GPT, checkpointed: time by that without", times[1] / times[0], "",
                      most_of_time, Limit::Most);
  time["ms"] = times[1] * 1e3;
  time["ms_without"] = times[0] * 1e3;
  Json rows = Json::array();
  rows.push_back(std::move(memory));
  rows.push_back(std::move(time));
  return rows;
}

}  // namespace croze::bench
