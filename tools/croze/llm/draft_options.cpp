#include "draft_options.h"

#include <croze/base/error.h>

namespace croze::tool {

void add_draft_options(const Command& command, DraftOptions& options) {
  command.option("--draft", options.model,
                 "GGUF file of a smaller model of the same tokens, whose guesses are read at once");
  command.flag("--lookup", options.by_lookup,
               "Guess that the text goes on as it did before: good for answers that quote");
  command.option("--draft-tokens", options.tokens, "Tokens that are guessed at once")
      .in_range(1, llm::Generator::most_of_each - 1)
      .shows_default();
}

ChosenDrafter::ChosenDrafter(const DraftOptions& options, const llm::LanguageModel& model,
                             const llm::GeneratorOptions& generator)
    : tokens_(options.tokens) {
  check(options.model.empty() || !options.by_lookup, "--draft and --lookup: one of them");
  if (options.by_lookup) drafter_ = std::make_unique<llm::PromptLookup>();
  if (options.model.empty()) return;
  llm::GeneratorOptions same = generator;
  same.context = model.transformer.config().context_for(generator.context);
  model_ = llm::LanguageModel::load(options.model, {.context = same.context});
  drafter_ = std::make_unique<llm::DraftModel>(*model_, model,
                                               llm::DraftModel::Options{.generator = same});
}

}  // namespace croze::tool
