// bench_llm.cpp -- croze bench-llm MODEL: how fast a language model reads and writes.
#include <croze/base/error.h>
#include <croze/llm/generate/language_model.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "command_line/json.h"
#include "croze/commands.h"
#include "draft_options.h"
#include "llm_speed/llm_speed.h"

namespace croze::tool {
namespace {

struct Settings {
  LlmSpeedOptions speed{.self_command = {"bench-llm"}};
  DraftOptions draft;
  bool json = false, first_token = false, peak = false;
};

// An answer by guesses, and the same without.
Json measure_guesses(const Settings& settings) {
  const auto model = llm::LanguageModel::load(settings.speed.model);
  const ChosenDrafter drafter(settings.draft, *model, {});
  if (!drafter.get()) return {};
  llm::Generator generator(model->transformer);
  const std::vector<llm::TokenId> prompt = model->tokenizer.encode(
      "The quick brown fox jumps over the lazy dog. The quick brown fox jumps over the lazy");
  const auto median = [&](bool by_guesses) {
    llm::AnswerOptions options{.sampling = {.temperature = 0}, .max_tokens = settings.speed.tokens};
    if (by_guesses) drafter.set(options);
    answer(*model, generator, prompt, options);  // traces and compiles
    std::vector<llm::Answer> answers;
    for (int i = 0; i < settings.speed.rounds; i++) {
      answers.push_back(answer(*model, generator, prompt, options));
    }
    const auto half = answers.begin() + std::ssize(answers) / 2;
    std::ranges::nth_element(answers, half, {}, &llm::Answer::answer_seconds);
    return *half;
  };
  const llm::Answer plain = median(false), guessed = median(true);
  const auto speed = [](const llm::Answer& a) {
    return static_cast<double>(a.tokens.size()) / a.answer_seconds;
  };
  return Json{{"tokens", guessed.tokens.size()},
              {"tokens_per_second", speed(guessed)},
              {"tokens_per_second_without", speed(plain)},
              {"guessed", guessed.drafted},
              {"right", guessed.accepted},
              {"same_answer", guessed.tokens == plain.tokens}};
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
  if (!m.contains("guesses")) return;
  const Json& g = m["guesses"];
  fmt::print("guesses      {:.1f} tokens/s, {:.1f} without; {} of {} right\n",
             g["tokens_per_second"].get<double>(), g["tokens_per_second_without"].get<double>(),
             g["right"].get<int>(), g["guessed"].get<int>());
}

}  // namespace

void add_bench_llm(const Command& program) {
  const Command command =
      program.subcommand("bench-llm", "Measure how fast a language model reads and writes");
  const auto settings = std::make_shared<Settings>();
  command.option("model", settings->speed.model, "GGUF file").required();
  command
      .option("--activations", settings->speed.activations,
              "How tokens are multiplied with packed weights")
      .one_of({"f32", "int8"})
      .shows_default();
  command.option("--prompt", settings->speed.prompt, "Tokens to read").positive().shows_default();
  command.option("--tokens", settings->speed.tokens, "Tokens to write").positive().shows_default();
  command.option("--parallel", settings->speed.parallel, "Texts to write at once")
      .in_range(1, 256)
      .shows_default();
  command.option("--rounds", settings->speed.rounds, "The median of so many counts")
      .positive()
      .shows_default();
  add_draft_options(command, settings->draft);
  command.flag("--json", settings->json, "Print one line of JSON");
  command.flag("--first-token", settings->first_token, "The first token alone").hidden();
  command.flag("--peak", settings->peak, "Memory alone").hidden();
  command.action([settings] {
    if (settings->first_token) {
      return fmt::print("{}\n", measure_first_token(settings->speed).dump());
    }
    if (settings->peak) return fmt::print("{}\n", measure_peak(settings->speed).dump());
    Json measured = measure_llm_speed(settings->speed);
    Json guesses = measure_guesses(*settings);
    if (!guesses.is_null()) measured["guesses"] = std::move(guesses);
    if (settings->json) {
      fmt::print("{}\n", measured.dump());
    } else {
      print_measured(measured);
    }
  });
}

}  // namespace croze::tool
