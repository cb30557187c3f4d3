// chat.cpp -- croze chat MODEL: a conversation with a language model.
#include <croze/base/error.h>
#include <croze/base/printable.h>
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <memory>

#include "croze/commands.h"
#include "dialogue.h"
#include "draft_options.h"
#include "sampling_options.h"

namespace croze::tool {
namespace {

struct Settings {
  std::string model, prompt, system, cache_type = "f16", activations = "f32";
  bool has_prompt = false, raw = false, statistics = false;
  std::int64_t context = 0, max_tokens = -1;
  std::vector<std::string> stop;
  llm::SamplingOptions sampling;
  DraftOptions draft;
};

std::string prompt_of(const Settings& settings) {
  if (settings.has_prompt && settings.prompt != "-") return settings.prompt;
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

// The text and what follows it.
void go_on_with_text(const Settings& settings, const llm::LanguageModel& model,
                     llm::Generator& generator, const Dialogue::Options& options) {
  const std::string text = prompt_of(settings);
  const std::vector<llm::TokenId> prompt = model.tokenizer.encode(text);
  const llm::Answer answer =
      stream_answer(model, generator, prompt, options.answer, options.is_terminal, false);
  if (options.shows_statistics) fmt::print(stderr, "{}\n", statistics_of(answer, generator));
}

void chat(const Settings& settings) {
  const auto model = llm::LanguageModel::load(
      settings.model,
      {.context = settings.context, .activations = activation_type_named(settings.activations)});
  const llm::GeneratorOptions of_generator{.context = settings.context,
                                           .cache_type = cache_type_named(settings.cache_type)};
  llm::Generator generator(model->transformer, of_generator);
  const ChosenDrafter drafter(settings.draft, *model, of_generator);
  const bool is_dialogue = !settings.has_prompt && !settings.raw;
  const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  Dialogue::Options options{.answer = {.sampling = settings.sampling,
                                       .max_tokens = settings.max_tokens,
                                       .stop = settings.stop},
                            .system = settings.system,
                            .shows_statistics = settings.statistics,
                            .is_dialogue = is_dialogue,
                            .is_terminal = is_terminal};
  drafter.set(options.answer);
  if (settings.raw) return go_on_with_text(settings, *model, generator, options);
  if (!is_dialogue) return Dialogue(*model, generator, options).say(prompt_of(settings));
  options.is_terminal = is_terminal && isatty(STDIN_FILENO) != 0;
  options.shows_statistics |= options.is_terminal;
  Dialogue dialogue(*model, generator, options);
  if (options.is_terminal) {
    fmt::print(stderr,
               "{}: a context of {} tokens, {:.0f} MB of it in memory.  /help shows commands.\n",
               printable(model->name), generator.context(),
               static_cast<double>(generator.cache_bytes()) * 1e-6);
  }
  dialogue.run();
}

}  // namespace

void add_chat(const Command& program) {
  const Command command = program.subcommand("chat", "Talk with a language model");
  const auto settings = std::make_shared<Settings>();
  command.option("model", settings->model, "GGUF file").required();
  const Argument prompt =
      command.option("--prompt", settings->prompt, "Answer this and end; -: standard input");
  command.option("--system", settings->system, "System prompt");
  command.flag("--raw", settings->raw, "Go on with the text of --prompt or standard input");
  command
      .option("--context", settings->context,
              "Tokens of the conversation; 0: the model's, at most 4096")
      .not_negative();
  command.option("--max-tokens", settings->max_tokens, "Tokens of an answer; -1: any number")
      .shows_default();
  command.option("--stop", settings->stop, "Texts at which an answer ends");
  command.flag("--stats", settings->statistics, "Show speed and memory on standard error");
  add_sampling_options(command, settings->sampling);
  add_activations_option(command, settings->activations);
  add_draft_options(command, settings->draft);
  add_cache_option(command, settings->cache_type);
  command.action([settings, prompt] {
    settings->has_prompt = prompt.is_given();
    chat(*settings);
  });
}

}  // namespace croze::tool
