// bench_llm.cpp -- croze bench-llm MODEL: how fast a language model reads and writes.
#include <croze/base/error.h>
#include <croze/base/thread_pool.h>
#include <croze/jit/capture.h>
#include <croze/llm/generate/batch_generator.h>
#include <croze/llm/generate/language_model.h>
#include <croze/run/statistics.h>
#include <croze/tensor/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "command_line/json.h"
#include "command_line/process.h"
#include "command_line/temporary_folder.h"
#include "croze/commands.h"

namespace croze::tool {
namespace {

using llm::TokenId;

struct Settings {
  std::string model;
  std::int64_t prompt = 512, tokens = 64, parallel = 8;
  int rounds = 3;
  bool json = false, first_token = false;
};

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

// ---- the first token --------------------------------------------------------------------------

// What a child is for: it begins with nothing in memory.
void print_first_token(const Settings& settings) {
  double load = 0;
  const double all = seconds_of([&] {
    std::unique_ptr<const llm::LanguageModel> model;
    load = seconds_of([&] { model = llm::LanguageModel::load(settings.model); });
    llm::Generator generator(model->transformer);
    generator.read(some_tokens(16, model->transformer.vocabulary()));
  });
  const Json json{{"load_seconds", load},
                  {"seconds", all},
                  {"kernels_compiled", run_statistics().kernels_compiled},
                  {"peak_bytes", peak_rss_bytes()}};
  fmt::print("{}\n", json.dump());
}

// From the start of a process to the first token behind 16 others: with no compiled kernels on
// disk, and with all of them.
Json first_token(const Settings& settings) {
  const TemporaryFolder cache;
  const auto run = [&] {
    return Json::parse(run_self({"bench-llm", settings.model, "--first-token"},
                                {{"CROZE_CACHE_DIR", cache.path()}}));
  };
  Json cold = run();
  Json warm = run();
  return Json{{"cold", std::move(cold)}, {"warm", std::move(warm)}};
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
  std::int64_t kernels = 0;
};

Speeds speeds_of(const Settings& settings, const llm::Transformer& model) {
  llm::Generator generator(model, {.context = std::max(settings.prompt, settings.tokens + 1)});
  const std::vector<TokenId> tokens =
      some_tokens(std::max(settings.prompt, settings.tokens + 1), model.vocabulary());
  const auto read = [&](std::int64_t count, std::int64_t at_once) {
    generator.truncate(0);
    for (std::int64_t i = 0; i < count; i += at_once) {
      generator.read(std::span(tokens).subspan(static_cast<std::size_t>(i),
                                               static_cast<std::size_t>(at_once)));
    }
  };
  // Each once before, so that nothing is traced or compiled while it is timed.
  read(settings.prompt, settings.prompt);
  read(settings.tokens, 1);
  const double prompt = best_of(settings.rounds, [&] { read(settings.prompt, settings.prompt); });
  const double decode = best_of(settings.rounds, [&] { read(settings.tokens, 1); });
  return {.prompt = static_cast<double>(settings.prompt) / prompt,
          .decode = static_cast<double>(settings.tokens) / decode,
          .kernels = generator.kernels_per_token()};
}

// Tokens a second of several texts at once, all together.
double parallel_speed(const Settings& settings, const llm::Transformer& model) {
  llm::BatchGenerator batch(model, {.context = settings.tokens + 1, .texts = settings.parallel});
  std::vector<llm::BatchGenerator::Next> next(static_cast<std::size_t>(settings.parallel));
  const auto write = [&] {
    for (std::size_t i = 0; i < next.size(); i++) {
      next[i].number = batch.join(some_tokens(1, model.vocabulary()));
    }
    for (std::int64_t i = 0; i < settings.tokens; i++) {
      for (auto& each : next)
        each.token = static_cast<TokenId>((i * 7919 + 1) % model.vocabulary());
      batch.read_each(next);
    }
    for (const auto& each : next) batch.leave(each.number, false);
  };
  write();
  const double seconds = best_of(settings.rounds, write);
  return static_cast<double>(settings.parallel * settings.tokens) / seconds;
}

Json measure(const Settings& settings) {
  Json first = first_token(settings);
  const auto model = llm::LanguageModel::load(settings.model);
  const llm::Transformer& transformer = model->transformer;
  const Speeds speeds = speeds_of(settings, transformer);
  const std::int64_t peak = peak_rss_bytes();
  const double together = parallel_speed(settings, transformer);
  const double bandwidth = read_bandwidth();
  const auto bytes = static_cast<double>(transformer.bytes_per_token());
  return Json{{"model", model->name},
              {"threads", default_thread_count()},
              {"layers", transformer.config().layers},
              {"bytes_per_token", transformer.bytes_per_token()},
              {"prompt_tokens", settings.prompt},
              {"prompt_tokens_per_second", speeds.prompt},
              {"tokens", settings.tokens},
              {"tokens_per_second", speeds.decode},
              {"kernels_per_token", speeds.kernels},
              {"parallel", settings.parallel},
              {"parallel_tokens_per_second", together},
              {"bytes_per_second", bytes * speeds.decode},
              {"read_bandwidth", bandwidth},
              {"share_of_bandwidth", bytes * speeds.decode / bandwidth},
              {"first_token", std::move(first)},
              {"peak_bytes", peak}};
}

void print_measured(const Json& m) {
  const auto mega = [](const Json& bytes) { return bytes.get<double>() * 1e-6; };
  const auto giga = [](const Json& bytes) { return bytes.get<double>() * 1e-9; };
  const Json& cold = m["first_token"]["cold"];
  const Json& warm = m["first_token"]["warm"];
  fmt::print("model        {}, {} layers, {:.1f} MB a token; {} threads\n",
             m["model"].get<std::string>(), m["layers"].get<int>(), mega(m["bytes_per_token"]),
             m["threads"].get<int>());
  fmt::print("prompt       {:.1f} tokens/s ({} tokens)\n",
             m["prompt_tokens_per_second"].get<double>(), m["prompt_tokens"].get<int>());
  fmt::print("answer       {:.1f} tokens/s ({} tokens), {} kernels a token\n",
             m["tokens_per_second"].get<double>(), m["tokens"].get<int>(),
             m["kernels_per_token"].get<int>());
  fmt::print("together     {:.1f} tokens/s of {} texts at once, {:.2f} times those of one\n",
             m["parallel_tokens_per_second"].get<double>(), m["parallel"].get<int>(),
             m["parallel_tokens_per_second"].get<double>() / m["tokens_per_second"].get<double>());
  fmt::print("memory       {:.2f} GB/s of weights, {:.0f} % of the {:.2f} GB/s that a sum reads\n",
             giga(m["bytes_per_second"]), 100 * m["share_of_bandwidth"].get<double>(),
             giga(m["read_bandwidth"]));
  fmt::print(
      "first token  {:.2f} s cold ({} kernels compiled), {:.2f} s warm (loading: {:.2f} s)\n",
      cold["seconds"].get<double>(), cold["kernels_compiled"].get<int>(),
      warm["seconds"].get<double>(), warm["load_seconds"].get<double>());
  fmt::print("peak memory  {:.1f} MB\n", mega(m["peak_bytes"]));
}

}  // namespace

void add_bench_llm(const Command& program) {
  const Command command =
      program.subcommand("bench-llm", "Measure how fast a language model reads and writes");
  const auto settings = std::make_shared<Settings>();
  command.option("model", settings->model, "GGUF file").required();
  command.option("--prompt", settings->prompt, "Tokens to read").positive().shows_default();
  command.option("--tokens", settings->tokens, "Tokens to write").positive().shows_default();
  command.option("--parallel", settings->parallel, "Texts to write at once")
      .in_range(1, 256)
      .shows_default();
  command.option("--rounds", settings->rounds, "The best of so many counts")
      .positive()
      .shows_default();
  command.flag("--json", settings->json, "Print one line of JSON");
  command.flag("--first-token", settings->first_token, "The first token alone").hidden();
  command.action([settings] {
    if (settings->first_token) return print_first_token(*settings);
    const Json measured = measure(*settings);
    if (settings->json) {
      fmt::print("{}\n", measured.dump());
    } else {
      print_measured(measured);
    }
  });
}

}  // namespace croze::tool
