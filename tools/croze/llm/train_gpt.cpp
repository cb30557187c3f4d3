// train_gpt.cpp -- croze train gpt: a language model, from a text to a GGUF file.
#include <croze/base/file.h>
#include <croze/base/options.h>
#include <croze/base/printable.h>
#include <croze/llm/generate/language_model.h>
#include <croze/llm/train/model_file.h>
#include <croze/log/progress.h>
#include <croze/log/run.h>
#include <croze/run/devices.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numbers>
#include <optional>

#include "command_line/json.h"
#include "command_line/process.h"
#include "croze/commands.h"
#include "croze/interrupt.h"
#include "training_files.h"

namespace croze::tool {
namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  std::string text, out = "gpt", prompt = "\n", device, log;
  llm::GptShape shape;
  llm::GptSettings training;
  std::int64_t validate_every = 100, sample_tokens = 80;
  bool resume = false, json = false;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What is noted for `croze viz` and TensorBoard, if anybody wants it.
class Notes {
 public:
  explicit Notes(const std::string& folder) {
    if (folder.empty()) return;
    const std::filesystem::path path(folder);
    run_.emplace(path.filename().string(), logs::RunOptions{path.parent_path().string()});
  }
  void add_step(std::int64_t number, const llm::TrainingStep& step, double bytes_per_token) {
    if (!run_) return;
    run_->scalar("loss/train", static_cast<double>(step.loss) / bytes_per_token, number);
    run_->scalar("gradient norm", static_cast<double>(step.gradient_norm), number);
    run_->scalar("learning rate", static_cast<double>(step.learning_rate), number);
  }
  void add_validation(std::int64_t number, double loss) {
    if (run_) run_->scalar("loss/validation", loss, number);
  }
  void add_sample(std::int64_t number, const std::string& text) {
    if (run_) run_->text("sample", text, number);
  }
  void flush() {
    if (run_) run_->flush();
  }

 private:
  std::optional<logs::Run> run_;
};

// A text, its vocabulary, the training on it, and the model that samples are written with.
class TextTraining {
 public:
  TextTraining(const Settings& settings, std::FILE* out)
      : settings_(settings),
        out_(out),
        files_(settings.out, settings.resume),
        notes_(settings.log),
        file_(settings.text),
        vocabulary_(llm::learn_byte_pairs(text(), settings.shape.vocabulary)),
        tokenizer_(llm::Tokenizer::from_gguf({settings.text, vocabulary_.metadata()})),
        prompt_(tokenizer_.encode(settings.prompt)),
        corpus_(text(), settings.text, tokenizer_, settings.shape.context),
        training_(corpus_, learned_shape(), settings.training),
        model_file_(llm::model_file(training_.network(), vocabulary_, model_name())),
        model_(llm::LanguageModel::from_gguf(model_file_)),
        generator_(model_->transformer) {
    check(std::ssize(prompt_) < settings.shape.context,
          "--prompt: {} tokens, where the context has {}", prompt_.size(), settings.shape.context);
    if (settings.resume) training_.load(files_.checkpoint());
  }

  void describe() const {
    fmt::print(out_, "{}: {} tokens of {:.2f} bytes, {} bytes to validate with\n", settings_.text,
               corpus_.training_tokens(), bytes_per_token(), corpus_.validation_bytes());
    const llm::GptShape& shape = training_.network().shape();
    fmt::print(out_, "network: {} parameters, {} layers of {}, a context of {} tokens, on {}\n",
               nn::parameter_count(training_.network()), shape.layers, shape.width, shape.context,
               device_name(default_device()));
    if (settings_.resume) fmt::print(out_, "goes on behind step {}\n", training_.steps());
    std::fflush(out_);
  }

  // Trains until the end or an interrupt, and leaves all files in any case.
  void run() {
    const Interrupt interrupt;
    const Clock::time_point start = Clock::now();
    const std::int64_t last = settings_.training.steps;
    const std::int64_t first = training_.steps();
    while (training_.steps() < last && !interrupt.requested()) {
      const std::int64_t every = settings_.validate_every;
      train_until(std::min((training_.steps() / every + 1) * every, last), interrupt);
      if (!interrupt.requested()) report(start);
    }
    seconds_ = seconds_since(start);
    steps_made_ = training_.steps() - first;
    save();
    if (interrupt.requested()) {
      fmt::print(out_, "interrupted behind step {}; --resume goes on\n", training_.steps());
      std::fflush(out_);
      interrupt.obey();
    }
  }

  Json result() {
    const double nats = training_.validate();
    return {
        {"validation_nats_per_byte", nats},
        {"validation_bits_per_byte", nats / std::numbers::ln2},
        {"steps", training_.steps()},
        {"train_seconds", seconds_},
        {"seconds_per_step", steps_made_ > 0 ? seconds_ / static_cast<double>(steps_made_) : 0.},
        {"kernels_per_step", steps_made_ > 0 ? training_.summary().kernels : 0},
        {"parameters", nn::parameter_count(training_.network())},
        {"peak_rss_mb", static_cast<double>(peak_rss_bytes()) / (1 << 20)},
        {"device", device_name(default_device())},
        {"model", files_.model()}};
  }

 private:
  std::string_view text() const { return as_text(file_.data()); }
  // With the vocabulary that the text has given.
  llm::GptShape learned_shape() const {
    llm::GptShape shape = settings_.shape;
    shape.vocabulary = std::ssize(vocabulary_.tokens);
    return shape;
  }
  std::string model_name() const { return std::filesystem::path(settings_.text).stem().string(); }
  double bytes_per_token() const { return corpus_.training_bytes_per_token(); }

  void train_until(std::int64_t end, const Interrupt& interrupt) {
    logs::Progress progress(fmt::format("steps to {}", end), end - training_.steps());
    while (training_.steps() < end && !interrupt.requested()) {
      const llm::TrainingStep& step = training_.step();
      notes_.add_step(training_.steps(), step, bytes_per_token());
      progress.step(progress.visible() ? fmt::format("loss {:.4f}", nats_a_byte(step)) : "");
    }
  }
  double nats_a_byte(const llm::TrainingStep& step) const {
    return static_cast<double>(step.loss) / bytes_per_token();
  }

  // Validates, saves a checkpoint, and shows how far it has come: what was shown is not lost.
  void report(Clock::time_point start) {
    const double validation = training_.validate();
    training_.save(files_.checkpoint());
    const llm::TrainingStep& step = training_.history().back();
    fmt::print(out_,
               "step {}/{}  loss {:.4f}  validation {:.4f} nats a byte  rate {:.2e}  {:.1f} s\n",
               training_.steps(), settings_.training.steps, nats_a_byte(step), validation,
               step.learning_rate, seconds_since(start));
    notes_.add_validation(training_.steps(), validation);
    if (settings_.sample_tokens > 0) show_sample();
    std::fflush(out_);
    notes_.flush();
  }

  void show_sample() {
    const llm::AnswerOptions options{.sampling = {.seed = settings_.training.seed},
                                     .max_tokens = settings_.sample_tokens};
    generator_.truncate(0);  // what it knows was computed with other weights
    const std::string text = answer(*model_, generator_, prompt_, options).text;
    notes_.add_sample(training_.steps(), settings_.prompt + text);
    fmt::print(out_, "  | {}\n", indented(printable(settings_.prompt + text)));
  }
  static std::string indented(std::string_view text) {
    std::string result;
    while (text.starts_with('\n')) text.remove_prefix(1);
    for (const char c : text) result += c == '\n' ? std::string("\n  | ") : std::string(1, c);
    return result;
  }

  void save() {
    if (training_.steps() == 0) return;
    training_.save(files_.checkpoint());
    llm::save_model(files_.model(), model_file_);
    files_.write_losses(training_.history(), bytes_per_token());
    notes_.flush();
    const auto curves = loss_curves(training_.history(), bytes_per_token());
    fmt::print(out_, "{}", logs::text_plot(curves, loss_labels));
    fmt::print(out_, "model, checkpoint and losses saved in {}\n", files_.folder());
  }

  const Settings& settings_;
  std::FILE* out_;
  TrainingFiles files_;
  Notes notes_;
  MappedFile file_;
  llm::BytePairs vocabulary_;
  llm::Tokenizer tokenizer_;
  std::vector<llm::TokenId> prompt_;
  llm::Corpus corpus_;
  llm::GptTraining training_;
  GgufFile model_file_;
  std::unique_ptr<const llm::LanguageModel> model_;
  llm::Generator generator_;
  double seconds_ = 0;
  std::int64_t steps_made_ = 0;
};

void run_training(const Settings& settings) {
  Options::Scope scope{
      {Option::Device, settings.device.empty() ? Options::text(Option::Device) : settings.device}};
  check(!settings.prompt.empty(), "--prompt: there is no text that samples could go on with");
  // With --json, standard output is for the program that reads it.
  TextTraining training(settings, settings.json ? stderr : stdout);
  training.describe();
  training.run();
  if (settings.json) fmt::print("{}\n", training.result().dump());
}

void add_network_options(const Command& command, llm::GptShape& shape) {
  command
      .option("--vocabulary", shape.vocabulary,
              "Tokens, learned from the text; 257: bytes and the end of a text")
      .shows_default();
  command.option("--context", shape.context, "Tokens of a window").shows_default();
  command.option("--width", shape.width, "Numbers that stand for a token").shows_default();
  command.option("--layers", shape.layers, "Blocks of attention and perceptron").shows_default();
  command.option("--heads", shape.heads, "Heads of attention").shows_default();
}

void add_training_options(const Command& command, llm::GptSettings& training) {
  command.option("--steps", training.steps, "Steps, for which the learning rate is planned")
      .in_range(1, 100'000'000)
      .shows_default();
  command.option("--batch", training.batch, "Windows in a step").shows_default();
  command.option("--lr", training.learning_rate, "Learning rate at its most")
      .positive()
      .shows_default();
  command.option("--warmup", training.warmup, "Steps in which it rises; then it falls to a tenth")
      .not_negative()
      .shows_default();
  command.option("--weight-decay", training.weight_decay, "How fast weights shrink")
      .not_negative()
      .shows_default();
  command.option("--clip", training.clip, "The most that the norm of the gradients may be")
      .positive()
      .shows_default();
  command
      .option("--dropout", training.dropout,
              "Part of what is dropped, for many passes over a short text; 0: none")
      .not_negative()
      .shows_default();
  command.option("--seed", training.seed, "Seed of weights and windows").shows_default();
}

}  // namespace

void add_train_gpt(const Command& train_command) {
  const Command command = train_command.subcommand("gpt", "A language model on a text");
  const auto s = std::make_shared<Settings>();
  command.option("--text", s->text, "File of text to learn from").required();
  command.option("--out", s->out, "Folder for the model, a checkpoint and the losses")
      .shows_default();
  command.flag("--resume", s->resume, "Go on from the checkpoint in that folder");
  add_network_options(command, s->shape);
  add_training_options(command, s->training);
  command
      .option("--validate-every", s->validate_every,
              "Steps between validations, each with a sample and a checkpoint")
      .in_range(1, 100'000'000)
      .shows_default();
  command.option("--prompt", s->prompt, "What samples go on with; a line break if not said");
  command.option("--sample", s->sample_tokens, "Tokens of a sample; 0: none")
      .not_negative()
      .shows_default();
  command.option("--device", s->device, "Device to train on, as croze devices names it");
  command.option("--log", s->log,
                 "Folder for notes of the run, which croze viz and TensorBoard show: runs/first");
  command.flag("--json", s->json, "Print the result as one line of JSON on standard output");
  command.action([s] { run_training(*s); });
}

}  // namespace croze::tool
