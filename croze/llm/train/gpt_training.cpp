// gpt_training.cpp -- what one step records, and what is computed of its results.
#include "croze/llm/train/gpt_training.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"
#include "croze/base/hash.h"
#include "croze/base/printable.h"
#include "croze/io/checkpoint.h"
#include "croze/nn/optim/gradients.h"
#include "croze/run/random_state.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/loss.h"

namespace croze::llm {
namespace {

constexpr const char* history_key = "history";

Gpt seeded_network(const GptShape& shape, std::uint64_t seed) {
  manual_seed(seed);
  return Gpt(shape);
}

// The losses of all predictions in the windows.
Tensor losses_of(const Gpt& network, const Tensor& windows, Reduction reduction,
                 double dropped = 0) {
  const std::int64_t n = windows.size(1) - 1;
  const Tensor scores = network(windows.narrow(1, 0, n), dropped);
  return cross_entropy(scores.flatten(0, 1), windows.narrow(1, 1, n).flatten(),
                       {.reduction = reduction});
}

// Draws of random numbers, for as long as it lives, depend on a seed and a step alone: a training
// that was interrupted needs to know no more than its step.
class DrawsOfStep {
 public:
  DrawsOfStep(std::uint64_t seed, std::int64_t step) {
    set_random_state({.seed = hash_mix(hash_word(seed), static_cast<std::uint64_t>(step))});
  }
  ~DrawsOfStep() { set_random_state(before_); }
  DrawsOfStep(const DrawsOfStep&) = delete;
  DrawsOfStep& operator=(const DrawsOfStep&) = delete;

 private:
  RandomState before_ = random_state();
};

}  // namespace

optim::Schedule schedule_of(const GptSettings& s) {
  check(s.steps >= 1 && s.warmup >= 0, "{} steps, the first {} to warm up", s.steps, s.warmup);
  const double most = s.learning_rate;
  const std::int64_t falling = std::max<std::int64_t>(s.steps - s.warmup, 1);
  const optim::Schedule fall = optim::cosine_rate(most, falling, most * s.last_rate);
  if (s.warmup == 0) return fall;
  const double least = most / static_cast<double>(s.warmup + 1);
  return optim::sequence(optim::linear_rate(least, most, s.warmup), s.warmup, fall);
}

GptTraining::GptTraining(const Corpus& corpus, const GptShape& shape, const GptSettings& settings)
    : corpus_(corpus),
      settings_(settings),
      schedule_(schedule_of(settings)),
      network_(seeded_network(shape, settings.seed)),
      adam_(nn::parameters(network_), {.learning_rate = settings.learning_rate,
                                       .beta2 = 0.95,
                                       .weight_decay = settings.weight_decay}),
      train_(capture(Train{this})),
      validate_(capture(Validate{&network_})) {
  check(settings.batch >= 1 && settings.batch <= 65536, "{} windows in a step: from 1 to 65536",
        settings.batch);
  check(settings.dropout >= 0 && settings.dropout < 1, "a dropout of {}: from 0 to less than 1",
        settings.dropout);
  check(corpus.context() == shape.context,
        "windows of {} tokens, and a network with a context of {}", corpus.context(),
        shape.context);
}

std::vector<Tensor> GptTraining::Train::operator()(const Tensor& windows) const {
  optim::AdamW& adam = training->adam_;
  const Tensor loss =
      losses_of(training->network_, windows, Reduction::Mean, training->settings_.dropout);
  const auto [gradients, norm] =
      optim::clip_grad_norm(loss.gradient(adam.parameters), training->settings_.clip);
  const Tensor rate = training->schedule_(adam.steps);
  adam.set_learning_rate(rate);
  adam.step(gradients);
  return {loss, norm, rate};
}

Tensor GptTraining::Validate::operator()(const Tensor& windows) const {
  return losses_of(*network, windows, Reduction::None)
      .reshape({windows.size(0), windows.size(1) - 1})
      .sum(1);
}

const TrainingStep& GptTraining::step() {
  const DrawsOfStep draws(settings_.seed, steps());
  const std::vector<Tensor> results =
      train_(corpus_.batch(settings_.seed, steps(), settings_.batch));
  history_.push_back({.loss = results[0].item<float>(),
                      .gradient_norm = results[1].item<float>(),
                      .learning_rate = results[2].item<float>()});
  return history_.back();
}

double GptTraining::validate() {
  double nats = 0;
  const std::int64_t windows = corpus_.validation_windows();
  for (std::int64_t first = 0; first < windows; first += settings_.batch) {
    const Tensor losses = validate_(corpus_.validation_batch(first, settings_.batch));
    const std::vector<double> list = losses.to_vector<double>();
    const std::int64_t count = std::min(settings_.batch, windows - first);
    for (std::int64_t i = 0; i < count; i++) nats += list[static_cast<std::size_t>(i)];
  }
  const double nats_a_byte = nats / static_cast<double>(corpus_.validation_bytes());
  if (!history_.empty()) history_.back().validation = nats_a_byte;
  return nats_a_byte;
}

std::map<std::string, std::string> GptTraining::description() const {
  const GptShape& n = network_.shape();
  const GptSettings& s = settings_;
  return {
      {"network", fmt::format("{} tokens, context {}, width {}, {} layers, {} heads, hidden {}",
                              n.vocabulary, n.context, n.width, n.layers, n.heads, n.hidden)},
      {"settings", fmt::format("batch {}, {} steps, {} to warm up, learning rate {} to {}, "
                               "weight decay {}, clip {}, seed {}{}",
                               s.batch, s.steps, s.warmup, s.learning_rate,
                               s.learning_rate * s.last_rate, s.weight_decay, s.clip, s.seed,
                               s.dropout > 0 ? fmt::format(", dropout {}", s.dropout) : "")},
      {"text", fmt::format("{} tokens, hash {:016x}", corpus_.training_tokens(), corpus_.hash())}};
}

void GptTraining::save(const std::string& path) const {
  std::map<std::string, std::string> notes = description();
  notes.emplace(history_key, to_text(history_));
  nn::save_checkpoint(path, *this, steps(), notes);
}

void GptTraining::load(const std::string& path) {
  const std::map<std::string, std::string> notes = load_safetensors(path).metadata;
  const auto note = [&](const std::string& name) {
    const auto it = notes.find(name);
    check(it != notes.end(), "{} is no checkpoint of such a training: its metadata lack \"{}\"",
          path, name);
    return it->second;
  };
  for (const auto& [name, here] : description()) {
    const std::string there = note(name);
    check(there == here, "{} is of another training: its {} is \"{}\", and here \"{}\"", path, name,
          shortened(there), here);
  }
  TrainingHistory history = history_from_text(note(history_key), path);
  check(note("step") == std::to_string(history.size()), "{}: the history of losses is damaged",
        path);
  nn::load_checkpoint(path, *this);
  history_ = std::move(history);
}

}  // namespace croze::llm
