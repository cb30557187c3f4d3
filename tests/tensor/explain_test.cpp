// explain(), and CROZE_EXPLAIN.
#include "croze/tensor/explain.h"

#include <algorithm>

#include "croze/base/log.h"
#include "croze/base/options.h"
#include "croze/run/statistics.h"
#include "support/check.h"

namespace croze {
namespace {

using namespace test;

TEST(ExplainTensors, SaysWhatComputingThemWouldDoAndComputesNothing) {
  const Tensor x = Tensor::ones({300, 200}).realize();
  const Tensor total = x.sum(0);
  const Tensor y = total / total.flip({0}).max();
  const std::int64_t before = run_statistics().kernels;
  const Explanation e = explain({y});
  EXPECT_EQ(run_statistics().kernels, before);
  EXPECT_EQ(e.input_bytes, 240'000);
  EXPECT_EQ(e.result_bytes, 800);
  y.realize();
  EXPECT_EQ(run_statistics().kernels - before, std::ssize(e.launches));
  EXPECT_TRUE(explain({y}).launches.empty()) << "it is computed now";
}

TEST(ExplainTensors, NamesTheCallsThatAreNoted) {
  const Options::Scope noting{{Option::Explain, true}};
  const Tensor x = Tensor::from_data(std::vector<float>(60'000, 1), {300, 200});
  const int line = __LINE__ + 1;
  const Tensor total = x.sum(0);
  const Explanation e = explain({total / total.flip({0}).max()});
  const std::string place = "sum (explain_test.cpp:" + std::to_string(line) + ")";
  const auto named = std::ranges::find(e.buffers, place, &ExplainedBuffer::call);
  EXPECT_NE(named, e.buffers.end()) << to_text(e);
}

TEST(ExplainTensors, TheOptionPrintsEachScheduleThatIsMade) {
  std::string printed;
  set_log_sink([](void* text, std::string_view line) { *static_cast<std::string*>(text) += line; },
               &printed);
  {
    const Options::Scope explaining{{Option::Explain, true}};
    (Tensor::from_data({1.f, 2.f, 3.f}, {3}) * 7.25 + 0.375).realize();
  }
  set_log_sink(nullptr, nullptr);
  EXPECT_NE(printed.find("1 launches of 1 loop nests"), std::string::npos) << printed;
  EXPECT_NE(printed.find("it was asked for"), std::string::npos) << printed;
}

// Layers whose activations the gradient wants.
std::vector<Tensor> gradients_of_layers() {
  manual_seed(7);
  std::vector<Tensor> weights;
  Tensor x = Tensor::uniform({128, 96}, -1, 1).realize();
  for (int i = 0; i < 4; i++) {
    weights.push_back((Tensor::uniform({96, 96}, -1, 1) * 0.2).realize());
    x = gelu(matmul(x, weights.back()), Gelu::Tanh);
  }
  return x.square().mean().gradient(weights);
}

// Of the arenas; all that blocks hold may leave none.
std::int64_t peak_bytes(const Explanation& e) {
  std::int64_t bytes = 0;
  for (const ExplainedPeak& peak : e.peaks) bytes += peak.bytes;
  return bytes;
}

TEST(MemoryBudget, TakesLessMemoryAndGivesTheSame) {
  std::vector<Tensor> expected = gradients_of_layers();
  const std::int64_t free = peak_bytes(explain(expected));
  realize(expected);
  const Options::Scope tight{{Option::MemoryBudget, free / 3}};
  std::vector<Tensor> gradients = gradients_of_layers();
  EXPECT_LT(peak_bytes(explain(gradients)), free * 3 / 4);
  realize(gradients);
  for (std::size_t i = 0; i < gradients.size(); i++) {
    const double apart = (gradients[i] - expected[i]).abs().max().item<float>();
    EXPECT_LE(apart, 1e-6 * expected[i].abs().max().item<float>()) << i;
  }
}

}  // namespace
}  // namespace croze
