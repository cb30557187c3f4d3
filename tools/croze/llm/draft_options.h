// draft_options.h -- who guesses tokens of an answer, as commands have it.
#pragma once

#include <croze/llm/generate/drafter.h>
#include <croze/llm/generate/language_model.h>

#include <cstdint>
#include <memory>
#include <string>

#include "command_line/command.h"

namespace croze::tool {

struct DraftOptions {
  std::string model;        // a smaller one that guesses
  bool by_lookup = false;   // what the text has had before
  std::int64_t tokens = 7;  // at once
};

// --draft, --lookup and --draft-tokens into `options`, which must live as long as the program's
// run.
void add_draft_options(const Command& command, DraftOptions& options);

// What guesses for a model: nothing, if that was not asked for.
class ChosenDrafter {
 public:
  // The model must outlive it.  `generator` is what the model's generator was made with.  Throws
  // Error for both ways at once, and as LanguageModel::load and DraftModel do.
  ChosenDrafter(const DraftOptions& options, const llm::LanguageModel& model,
                const llm::GeneratorOptions& generator);

  // Null if there is none.
  llm::Drafter* get() const { return drafter_.get(); }
  void set(llm::AnswerOptions& options) const {
    options.drafter = get();
    options.drafted = tokens_;
  }

 private:
  std::int64_t tokens_;
  std::unique_ptr<const llm::LanguageModel> model_;
  std::unique_ptr<llm::Drafter> drafter_;
};

}  // namespace croze::tool
