// llm_speed.cpp -- each measurement by itself, and all of them as one object.
#include "llm_speed/llm_speed.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "command_line/process.h"
#include "command_line/temporary_folder.h"
#include "croze/base/file.h"
#include "croze/base/thread_pool.h"
#include "croze/jit/capture.h"
#include "croze/llm/generate/batch_generator.h"
#include "croze/llm/generate/language_model.h"
#include "croze/run/statistics.h"
#include "croze/tensor/tensor.h"
#include "croze/tune/median.h"

namespace croze {
namespace {

using llm::TokenId;

template <typename F>
double seconds_of(F function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<TokenId> some_tokens(std::int64_t count, std::int64_t vocabulary) {
  std::vector<TokenId> tokens;
  for (std::int64_t i = 0; i < count; i++) {
    tokens.push_back(static_cast<TokenId>(i * 7919 % vocabulary));
  }
  return tokens;
}

std::unique_ptr<const llm::LanguageModel> loaded(const LlmSpeedOptions& options) {
  const bool is_int8 = options.activations == "int8";
  return llm::LanguageModel::load(
      options.model,
      {.activations = is_int8 ? llm::ActivationType::Int8 : llm::ActivationType::Float32});
}

// ---- the first token --------------------------------------------------------------------------

std::vector<std::string> arguments_to(const LlmSpeedOptions& options, const char* measure) {
  std::vector<std::string> arguments = options.self_command;
  arguments.insert(arguments.end(), {options.model, measure, "--activations", options.activations});
  return arguments;
}

// From the start of a process to the first token behind 16 others: with no compiled kernels on
// disk, and with all of them.
Json first_token(const LlmSpeedOptions& options) {
  const TemporaryFolder cache;
  const std::vector<std::string> arguments = arguments_to(options, "--first-token");
  const auto run = [&] {
    return Json::parse(run_self(arguments, {{"CROZE_CACHE_DIR", cache.path()}}));
  };
  Json cold = run();
  Json warm = run();
  return Json{{"cold", std::move(cold)}, {"warm", std::move(warm)}};
}

// Of a process that finds on disk what this one has compiled.
std::int64_t peak_of_process(const LlmSpeedOptions& options) {
  std::vector<std::string> arguments = arguments_to(options, "--peak");
  arguments.insert(arguments.end(), {"--prompt", std::to_string(options.prompt), "--tokens",
                                     std::to_string(options.tokens)});
  return Json::parse(run_self(arguments, {}))["peak_bytes"].get<std::int64_t>();
}

// ---- speed ------------------------------------------------------------------------------------

// Memory that a sum reads, which generation is held against.
class Memory {
 public:
  Memory() { read(); }
  // Bytes a second.  The first reads behind other work are slow, and do not count by the median.
  double bandwidth() {
    constexpr int reads = 15;
    std::vector<double> seconds;
    for (int i = 0; i < reads; i++) seconds.push_back(seconds_of([&] { read(); }));
    return static_cast<double>(elements) * sizeof(float) / median(std::move(seconds));
  }

 private:
  void read() { sum_(numbers_).item<float>(); }

  static constexpr std::int64_t elements = std::int64_t{64} << 20;
  static Tensor sum_of(const Tensor& x) { return x.sum(); }
  Tensor numbers_ = Tensor::ones({elements}).realize();
  Captured<Tensor (*)(const Tensor&)> sum_{sum_of};
};

// One text.  What is timed was read once before, so that nothing is traced or compiled then.
class OneText {
 public:
  OneText(const LlmSpeedOptions& options, const llm::Transformer& model)
      : prompt_(options.prompt),
        tokens_(options.tokens),
        generator_(model, {.context = std::max(prompt_, tokens_ + 1)}),
        text_(some_tokens(std::max(prompt_, tokens_ + 1), model.vocabulary())) {
    read(prompt_, prompt_);
    read(tokens_, 1);
  }
  // Tokens a second.  One is written before those that count, as by llama-bench: what was read
  // between two rounds has taken the place of the weights in the caches.
  double prompt_speed() { return read(prompt_, prompt_); }
  double decode_speed() {
    read(1, 1);
    return read(tokens_, 1);
  }

  std::int64_t kernels_per_token() const { return generator_.kernels_per_token(); }
  std::int64_t cache_bytes() const { return generator_.cache_bytes(); }

 private:
  double read(std::int64_t count, std::int64_t at_once) {
    const double seconds = seconds_of([&] {
      generator_.truncate(0);
      for (std::int64_t i = 0; i < count; i += at_once) {
        generator_.read(std::span(text_).subspan(static_cast<std::size_t>(i),
                                                 static_cast<std::size_t>(at_once)));
      }
    });
    return static_cast<double>(count) / seconds;
  }

  std::int64_t prompt_, tokens_;
  llm::Generator generator_;
  std::vector<TokenId> text_;
};

// Several texts at once.
class Texts {
 public:
  Texts(const LlmSpeedOptions& options, const llm::Transformer& model)
      : tokens_(options.tokens),
        vocabulary_(model.vocabulary()),
        batch_(model, {.context = options.tokens + 1, .texts = options.parallel}),
        next_(static_cast<std::size_t>(options.parallel)) {
    write(tokens_);
  }
  // Tokens a second, of all together.  One of each is written before those that count, as of one
  // text.
  double speed() {
    write(1);
    const double seconds = seconds_of([&] { write(tokens_); });
    return static_cast<double>(tokens_ * std::ssize(next_)) / seconds;
  }

 private:
  void write(std::int64_t count) {
    for (auto& each : next_) each.number = batch_.join(some_tokens(1, vocabulary_));
    for (std::int64_t i = 0; i < count; i++) {
      for (auto& each : next_) each.token = static_cast<TokenId>((i * 7919 + 1) % vocabulary_);
      batch_.read_each(next_);
    }
    for (const auto& each : next_) batch_.leave(each.number, false);
  }

  std::int64_t tokens_, vocabulary_;
  llm::BatchGenerator batch_;
  std::vector<llm::BatchGenerator::Next> next_;
};

struct Speeds {
  double prompt = 0, decode = 0, together = 0;  // tokens a second
  double bandwidth = 0;                         // bytes a second
};

Speeds speeds_of(const LlmSpeedOptions& options, OneText& text, const llm::Transformer& model) {
  Texts texts(options, model);
  Memory memory;
  std::vector<double> prompt, decode, together, bandwidth;
  for (int round = 0; round < options.rounds; round++) {
    bandwidth.push_back(memory.bandwidth());
    decode.push_back(text.decode_speed());
    together.push_back(texts.speed());
    prompt.push_back(text.prompt_speed());
    options.end_of_round();
  }
  return {median(prompt), median(decode), median(together), median(bandwidth)};
}

}  // namespace

Json measure_first_token(const LlmSpeedOptions& options) {
  double load = 0;
  const double all = seconds_of([&] {
    std::unique_ptr<const llm::LanguageModel> model;
    load = seconds_of([&] { model = loaded(options); });
    llm::Generator generator(model->transformer);
    generator.read(some_tokens(16, model->transformer.vocabulary()));
  });
  return Json{{"load_seconds", load},
              {"seconds", all},
              {"kernels_compiled", run_statistics().kernels_compiled},
              {"peak_bytes", peak_rss_bytes()}};
}

Json measure_peak(const LlmSpeedOptions& options) {
  const auto model = loaded(options);
  const OneText text(options, model->transformer);
  return Json{{"peak_bytes", peak_rss_bytes()}};
}

Json measure_llm_speed(const LlmSpeedOptions& options) {
  Json first = first_token(options);
  const auto model = loaded(options);
  const llm::Transformer& transformer = model->transformer;
  OneText text(options, transformer);
  const Speeds speeds = speeds_of(options, text, transformer);
  const double bytes = static_cast<double>(transformer.bytes_per_token()) * speeds.decode;
  return Json{{"model", model->name},
              {"threads", default_thread_count()},
              {"layers", transformer.config().layers},
              {"bytes_per_token", transformer.bytes_per_token()},
              {"prompt_tokens", options.prompt},
              {"prompt_tokens_per_second", speeds.prompt},
              {"tokens", options.tokens},
              {"tokens_per_second", speeds.decode},
              {"kernels_per_token", text.kernels_per_token()},
              {"parallel", options.parallel},
              {"parallel_tokens_per_second", speeds.together},
              {"bytes_per_second", bytes},
              {"read_bandwidth", speeds.bandwidth},
              {"share_of_bandwidth", bytes / speeds.bandwidth},
              {"first_token", std::move(first)},
              {"file_bytes", MappedFile(options.model).data().size()},
              {"cache_bytes", text.cache_bytes()},
              {"peak_bytes", peak_of_process(options)}};
}

}  // namespace croze
