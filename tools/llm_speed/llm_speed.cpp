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

namespace croze {
namespace {

using llm::TokenId;

template <typename F>
double seconds_of(F function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The shortest of several rounds: whatever else runs makes them longer.
template <typename F>
double best_of(int rounds, F function) {
  double best = seconds_of(function);
  for (int i = 1; i < rounds; i++) best = std::min(best, seconds_of(function));
  return best;
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
  arguments.insert(arguments.end(),
                   {"--prompt", std::to_string(options.prompt), "--tokens",
                    std::to_string(options.tokens), "--rounds", std::to_string(options.rounds)});
  return Json::parse(run_self(arguments, {}))["peak_bytes"].get<std::int64_t>();
}

// ---- speed ------------------------------------------------------------------------------------

// Bytes a second that a sum reads from memory, at best: what generation is held against.
double read_bandwidth() {
  constexpr std::int64_t elements = std::int64_t{64} << 20;
  const Tensor numbers = Tensor::ones({elements}).realize();
  auto sum = capture([](const Tensor& x) { return x.sum(); });
  sum(numbers).item<float>();
  const double seconds = best_of(8, [&] { sum(numbers).item<float>(); });
  return static_cast<double>(elements) * sizeof(float) / seconds;
}

struct Speeds {
  double prompt = 0, decode = 0;  // tokens a second
  std::int64_t kernels = 0, cache_bytes = 0;
};

Speeds speeds_of(const LlmSpeedOptions& options, const llm::Transformer& model) {
  llm::Generator generator(model, {.context = std::max(options.prompt, options.tokens + 1)});
  const std::vector<TokenId> tokens =
      some_tokens(std::max(options.prompt, options.tokens + 1), model.vocabulary());
  const auto read = [&](std::int64_t count, std::int64_t at_once) {
    generator.truncate(0);
    for (std::int64_t i = 0; i < count; i += at_once) {
      generator.read(std::span(tokens).subspan(static_cast<std::size_t>(i),
                                               static_cast<std::size_t>(at_once)));
    }
  };
  // Each once before, so that nothing is traced or compiled while it is timed.
  read(options.prompt, options.prompt);
  read(options.tokens, 1);
  const double prompt = best_of(options.rounds, [&] { read(options.prompt, options.prompt); });
  const double decode = best_of(options.rounds, [&] { read(options.tokens, 1); });
  return {.prompt = static_cast<double>(options.prompt) / prompt,
          .decode = static_cast<double>(options.tokens) / decode,
          .kernels = generator.kernels_per_token(),
          .cache_bytes = generator.cache_bytes()};
}

// Tokens a second of several texts at once, all together.
double parallel_speed(const LlmSpeedOptions& options, const llm::Transformer& model) {
  llm::BatchGenerator batch(model, {.context = options.tokens + 1, .texts = options.parallel});
  std::vector<llm::BatchGenerator::Next> next(static_cast<std::size_t>(options.parallel));
  const auto write = [&] {
    for (std::size_t i = 0; i < next.size(); i++) {
      next[i].number = batch.join(some_tokens(1, model.vocabulary()));
    }
    for (std::int64_t i = 0; i < options.tokens; i++) {
      for (auto& each : next)
        each.token = static_cast<TokenId>((i * 7919 + 1) % model.vocabulary());
      batch.read_each(next);
    }
    for (const auto& each : next) batch.leave(each.number, false);
  };
  write();
  const double seconds = best_of(options.rounds, write);
  return static_cast<double>(options.parallel * options.tokens) / seconds;
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
  speeds_of(options, model->transformer);
  return Json{{"peak_bytes", peak_rss_bytes()}};
}

Json measure_llm_speed(const LlmSpeedOptions& options) {
  Json first = first_token(options);
  const auto model = loaded(options);
  const llm::Transformer& transformer = model->transformer;
  const Speeds speeds = speeds_of(options, transformer);
  const double together = parallel_speed(options, transformer);
  const double bandwidth = read_bandwidth();
  const auto bytes = static_cast<double>(transformer.bytes_per_token());
  return Json{{"model", model->name},
              {"threads", default_thread_count()},
              {"layers", transformer.config().layers},
              {"bytes_per_token", transformer.bytes_per_token()},
              {"prompt_tokens", options.prompt},
              {"prompt_tokens_per_second", speeds.prompt},
              {"tokens", options.tokens},
              {"tokens_per_second", speeds.decode},
              {"kernels_per_token", speeds.kernels},
              {"parallel", options.parallel},
              {"parallel_tokens_per_second", together},
              {"bytes_per_second", bytes * speeds.decode},
              {"read_bandwidth", bandwidth},
              {"share_of_bandwidth", bytes * speeds.decode / bandwidth},
              {"first_token", std::move(first)},
              {"file_bytes", MappedFile(options.model).data().size()},
              {"cache_bytes", speeds.cache_bytes},
              {"peak_bytes", peak_of_process(options)}};
}

}  // namespace croze
