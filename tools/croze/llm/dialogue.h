// dialogue.h -- a conversation at a terminal or through a pipe.
#pragma once

#include <croze/llm/generate/conversation.h>
#include <croze/llm/generate/language_model.h>

#include <string>
#include <string_view>
#include <vector>

namespace croze::tool {

class Dialogue {
 public:
  struct Options {
    llm::AnswerOptions answer;
    std::string system;
    bool shows_statistics = false;  // after each answer, on standard error
    bool is_dialogue = false;       // Ctrl-C stops an answer and not the program
    bool is_terminal = false;       // marks ask for lines, and nothing is shown that it would obey
  };

  // The model must outlive it.  Throws Error if it has no chat template.
  Dialogue(const llm::LanguageModel& model, llm::Generator& generator, Options options);

  // Reads standard input to its end or /exit: each line is a message, or a command if it begins
  // with a slash.  Mistakes are told on standard error and the dialogue goes on.
  void run();
  // Answers one message on standard output.
  void say(const std::string& message);

 private:
  struct Command;
  static const std::vector<Command>& commands();

  bool obey(std::string_view line);  // false: to end
  void reply();
  void help() const;
  void begin_anew();
  void save(const std::string& path) const;
  void load(const std::string& path);
  void show_statistics() const;

  const llm::LanguageModel& model_;
  llm::Generator& generator_;
  Options options_;
  std::vector<llm::Message> messages_;
  llm::Answer last_;
};

// What is shown of an answer's speed: "12 tokens, 40.1 tokens/s; ...".
std::string statistics_of(const llm::Answer& answer, const llm::Generator& generator);

// An answer that is written to standard output while it arrives, until the user interrupts it. That
// ends the program, too, unless it is one of a dialogue.
llm::Answer stream_answer(const llm::LanguageModel& model, llm::Generator& generator,
                          std::span<const llm::TokenId> prompt, llm::AnswerOptions options,
                          bool is_terminal, bool is_dialogue);

}  // namespace croze::tool
