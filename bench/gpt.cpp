// gpt.cpp -- croze-bench gpt: a language model learns a text, beside PyTorch with the same network.
//
// Each has the same time and plans its learning rate for as many steps as it makes in it.  They
// take turns, so that what else the machine does slows both, and the step of a number has the same
// windows of the text.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/file.h"
#include "croze/base/thread_pool.h"
#include "croze/llm/tokenizer/tokenizer.h"
#include "croze/llm/train/byte_pairs.h"
#include "croze/llm/train/gpt_training.h"
#include "measure.h"
#include "python_process.h"
#include "suites.h"

namespace croze::bench {
namespace {

constexpr double most_nats_per_byte = 1.45;
constexpr double least_times_pytorch = 1.5;

struct GptOptions {
  std::string text, python;
  double seconds = 900;
  // That time is a dozen passes over a text of 4 MB: without it the network learns it by heart, the
  // sooner the faster it is.
  double dropout = 0.2;
  bool as_json = false;
};

// One who learns.
class Learner {
 public:
  virtual ~Learner() = default;
  // Begins anew, with a plan for so many steps.
  virtual void begin(std::int64_t steps) = 0;
  // Seconds of each of the next steps.
  virtual std::vector<double> learn(std::int64_t steps) = 0;
  virtual double nats_per_byte() = 0;
};

class Croze : public Learner {
 public:
  Croze(const llm::Corpus& corpus, const llm::GptShape& shape, const llm::GptSettings& settings)
      : corpus_(corpus), shape_(shape), settings_(settings) {}

  void begin(std::int64_t steps) override {
    settings_.steps = steps;
    training_.emplace(corpus_, shape_, settings_);
  }
  std::vector<double> learn(std::int64_t steps) override {
    std::vector<double> seconds;
    for (std::int64_t i = 0; i < steps; i++) {
      const Stopwatch watch;
      training_->step();
      seconds.push_back(watch.seconds());
    }
    return seconds;
  }
  double nats_per_byte() override { return training_->validate(); }

 private:
  const llm::Corpus& corpus_;
  llm::GptShape shape_;
  llm::GptSettings settings_;
  std::optional<llm::GptTraining> training_;
};

constexpr const char* scripts[] = {"cpu/peers/inputs.py", "cpu/peers/answers.py",
                                   "cpu/peers/gpt.py", "gpt_training.py"};

Json windows_of(const Tensor& batch) {
  const auto row = static_cast<std::size_t>(batch.size(1));
  const auto tokens = batch.to_vector<std::int64_t>();
  Json rows = Json::array();
  for (std::size_t i = 0; i < tokens.size(); i += row) {
    rows.push_back(Json(std::vector(tokens.begin() + static_cast<std::ptrdiff_t>(i),
                                    tokens.begin() + static_cast<std::ptrdiff_t>(i + row))));
  }
  return rows;
}

class PyTorch : public Learner {
 public:
  PyTorch(const std::string& python, const llm::Corpus& corpus, const llm::GptShape& shape,
          const llm::GptSettings& settings)
      : corpus_(corpus),
        shape_(shape.checked()),
        settings_(settings),
        process_(python, scripts, static_cast<int>(default_thread_count())) {}

  void begin(std::int64_t steps) override {
    settings_.steps = steps;
    done_ = 0;
    const Json answer = process_.ask({{"threads", default_thread_count()},
                                      {"shape",
                                       {{"vocabulary", shape_.vocabulary},
                                        {"context", shape_.context},
                                        {"width", shape_.width},
                                        {"layers", shape_.layers},
                                        {"heads", shape_.heads},
                                        {"hidden", shape_.hidden},
                                        {"epsilon", shape_.epsilon},
                                        {"rotary_base", shape_.rotary_base}}},
                                      {"settings",
                                       {{"seed", settings_.seed},
                                        {"clip", settings_.clip},
                                        {"dropout", settings_.dropout},
                                        {"weight_decay", settings_.weight_decay}}}});
    version_ = answer["version"].get<std::string>();
  }
  std::vector<double> learn(std::int64_t steps) override {
    const optim::Schedule schedule = llm::schedule_of(settings_);
    Json batches = Json::array(), rates = Json::array();
    for (std::int64_t i = 0; i < steps; i++, done_++) {
      batches.push_back(windows_of(corpus_.batch(settings_.seed, done_, settings_.batch)));
      rates.push_back(Json(schedule(static_cast<double>(done_))));
    }
    const Json answer =
        process_.ask({{"batches", std::move(batches)}, {"rates", std::move(rates)}});
    std::vector<double> seconds;
    for (const Json& each : answer["seconds"].elements()) seconds.push_back(each.get<double>());
    return seconds;
  }
  double nats_per_byte() override {
    double nats = 0;
    for (std::int64_t i = 0; i < corpus_.validation_windows(); i++) {
      const Json answer = process_.ask({{"windows", windows_of(corpus_.validation_batch(i, 1))}});
      nats += answer["nats"].elements().at(0).get<double>();
    }
    return nats / static_cast<double>(corpus_.validation_bytes());
  }
  const std::string& version() const { return version_; }

 private:
  const llm::Corpus& corpus_;
  llm::GptShape shape_;
  llm::GptSettings settings_;
  PythonProcess process_;
  std::string version_;
  std::int64_t done_ = 0;
};

struct Learned {
  std::int64_t steps = 0;
  std::vector<double> seconds;  // of each step
  double nats_per_byte = 0;

  double step_seconds() const { return median(seconds); }
  double all_seconds() const {
    double sum = 0;
    for (const double s : seconds) sum += s;
    return sum;
  }
  Json json() const {
    return {{"steps", steps},
            {"seconds", all_seconds()},
            {"seconds_per_step", step_seconds()},
            {"validation_nats_per_byte", nats_per_byte}};
  }
};

// All steps that were planned, in turns of equal shares of them.
void learn_in_turns(const std::vector<Learner*>& learners, std::vector<Learned>& learned,
                    std::int64_t turns) {
  for (std::size_t i = 0; i < learners.size(); i++) learners[i]->begin(learned[i].steps);
  for (std::int64_t turn = 1; turn <= turns; turn++) {
    for (std::size_t i = 0; i < learners.size(); i++) {
      Learned& l = learned[i];
      const std::vector<double> seconds =
          learners[i]->learn(l.steps * turn / turns - std::ssize(l.seconds));
      l.seconds.insert(l.seconds.end(), seconds.begin(), seconds.end());
    }
  }
}

// As many steps as there is time for, by what some take; the first ones compile and do not count.
// A machine's speed comes and goes: a part of the time is for that.
std::vector<Learned> planned(const std::vector<Learner*>& learners, double seconds) {
  constexpr std::int64_t steps = 60, turns = 10;
  constexpr double part = 0.9;
  for (Learner* learner : learners) {
    learner->begin(steps);
    learner->learn(3);
  }
  std::vector<Learned> tried(learners.size(), {.steps = steps}), plans;
  learn_in_turns(learners, tried, turns);
  for (const Learned& l : tried) {
    plans.push_back({.steps = std::llround(std::ceil(part * seconds / l.step_seconds()))});
  }
  return plans;
}

Json rows_of(const std::vector<Learned>& learned, double seconds) {
  const Learned& croze = learned[0];
  Json rows = Json::array();
  rows.push_back(limited("time to learn", croze.all_seconds(), "s", seconds, Limit::Most));
  rows.push_back(
      limited("validation", croze.nats_per_byte, "nats a byte", most_nats_per_byte, Limit::Most));
  if (learned.size() > 1) {
    rows.push_back(limited("validation, beside PyTorch's", croze.nats_per_byte, "nats a byte",
                           learned[1].nats_per_byte, Limit::Most));
    rows.push_back(limited("a step beside PyTorch's",
                           learned[1].step_seconds() / croze.step_seconds(), "x PyTorch",
                           least_times_pytorch, Limit::Least));
  }
  return rows;
}

void run_gpt(const GptOptions& options) {
  const MappedFile file(options.text);
  const std::string_view text(reinterpret_cast<const char*>(file.data().data()),
                              file.data().size());
  llm::GptShape shape;
  const llm::BytePairs vocabulary = llm::learn_byte_pairs(text, shape.vocabulary);
  shape.vocabulary = std::ssize(vocabulary.tokens);
  const auto tokenizer = llm::Tokenizer::from_gguf({options.text, vocabulary.metadata()});
  const llm::Corpus corpus(text, options.text, tokenizer, shape.context);

  const llm::GptSettings settings{.dropout = options.dropout};
  Croze croze(corpus, shape, settings);
  std::optional<PyTorch> pytorch;
  std::vector<Learner*> learners{&croze};
  if (!options.python.empty())
    learners.push_back(&pytorch.emplace(options.python, corpus, shape, settings));
  std::vector<Learned> learned = planned(learners, options.seconds);
  learn_in_turns(learners, learned, 100);
  for (std::size_t i = 0; i < learners.size(); i++) {
    learned[i].nats_per_byte = learners[i]->nats_per_byte();
  }

  const Json rows = rows_of(learned, options.seconds);
  Json others{{"croze", learned[0].json()}};
  if (pytorch) {
    others["PyTorch " + pytorch->version()] = learned[1].json();
  } else {
    others["skipped"] = "no PyTorch: --python COMMAND";
  }
  if (!options.as_json) {
    print_limited(rows);
    for (const std::string& name : others.names())
      fmt::print("{}: {}\n", name, others[name].dump());
  }
  finish_suite("gpt", rows, options.as_json, others);
}

}  // namespace

void add_gpt(const Command& program) {
  auto options = std::make_shared<GptOptions>();
  const Command command =
      program.subcommand("gpt", "A language model learns a text, beside PyTorch");
  command
      .option("--text", options->text,
              "File of text, such as what Debian's bible -f gen1:1-rev22:21 writes")
      .required();
  command.option("--seconds", options->seconds, "Time for each to learn")
      .positive()
      .shows_default();
  command.option("--dropout", options->dropout, "Part of what both drop; 0: none")
      .not_negative()
      .shows_default();
  command.option("--python", options->python,
                 "Command that runs a Python with PyTorch, such as \"chroot FOLDER python3\"");
  command.flag("--json", options->as_json, "One line of JSON");
  command.action([options] { run_gpt(*options); });
}

}  // namespace croze::bench
