// dialogue.cpp -- messages, commands and streamed answers.
#include "dialogue.h"

#include <croze/base/error.h>
#include <croze/base/file.h>
#include <croze/base/printable.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>

#include "command_line/json.h"
#include "command_line/process.h"
#include "croze/interrupt.h"

namespace croze::tool {
namespace {

constexpr std::array<std::string_view, 3> roles{"system", "user", "assistant"};

llm::Message message_of(const Json& json, const std::string& path) {
  const auto text = [&](std::string_view name) {
    check(json.contains(name) && json[name].is_text(), "{}: a message has no text \"{}\"", path,
          name);
    return json[name].get<std::string>();
  };
  llm::Message message{.role = text("role"), .content = text("content")};
  check(std::ranges::find(roles, message.role) != roles.end(), "{}: a message of \"{}\"", path,
        shortened(message.role));
  return message;
}

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view spaces = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  return text.substr(0, text.find_last_not_of(spaces) + 1);
}

}  // namespace

std::string statistics_of(const llm::Answer& answer, const llm::Generator& generator) {
  const auto rate = [](std::int64_t tokens, double seconds) {
    return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
  };
  const std::int64_t count = std::ssize(answer.tokens);
  const std::string guesses =
      answer.drafted > 0 ? fmt::format("{} of {} guesses right; ", answer.accepted, answer.drafted)
                         : "";
  return fmt::format(
      "[{} tokens, {:.1f} tokens/s; {}prompt: {} new of {}, {:.1f} tokens/s, {:.2f} s; context: {} "
      "of "
      "{}; memory: {:.0f} MB]",
      count, rate(count, answer.answer_seconds), guesses, answer.prompt_read, answer.prompt_tokens,
      rate(answer.prompt_read, answer.prompt_seconds), answer.prompt_seconds,
      generator.tokens().size(), generator.context(), static_cast<double>(peak_rss_bytes()) * 1e-6);
}

llm::Answer stream_answer(const llm::LanguageModel& model, llm::Generator& generator,
                          std::span<const llm::TokenId> prompt, llm::AnswerOptions options,
                          bool is_terminal, bool is_dialogue) {
  const Interrupt interrupt;
  options.on_text = [&](std::string_view piece) {
    const std::string text = is_terminal ? printable(piece) : std::string(piece);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    return !interrupt.requested() && std::ferror(stdout) == 0;
  };
  llm::Answer answer = llm::answer(model, generator, prompt, options);
  std::fputc('\n', stdout);
  std::fflush(stdout);
  if (interrupt.is_to_end() || (interrupt.requested() && !is_dialogue)) interrupt.obey();
  return answer;
}

// ---- commands ---------------------------------------------------------------------------------

struct Dialogue::Command {
  std::string_view name, argument, description;
  void (*run)(Dialogue& dialogue, const std::string& argument);
};

const std::vector<Dialogue::Command>& Dialogue::commands() {
  static const std::vector<Command> table{
      {"/help", "", "Shows this", [](Dialogue& d, const std::string&) { d.help(); }},
      {"/clear", "", "Forgets the conversation",
       [](Dialogue& d, const std::string&) { d.begin_anew(); }},
      {"/system", "TEXT", "Begins anew with another system prompt; without a text, with none",
       [](Dialogue& d, const std::string& text) {
         d.options_.system = text;
         d.begin_anew();
       }},
      {"/retry", "", "Answers the last message again",
       [](Dialogue& d, const std::string&) {
         check(!d.messages_.empty() && d.messages_.back().role == "assistant",
               "there is no answer yet");
         d.messages_.pop_back();
         d.options_.answer.sampling.seed++;
         d.reply();
       }},
      {"/save", "FILE", "Writes the conversation as JSON",
       [](Dialogue& d, const std::string& path) { d.save(path); }},
      {"/load", "FILE", "Goes on with a saved conversation",
       [](Dialogue& d, const std::string& path) { d.load(path); }},
      {"/stats", "", "Shows speed and memory after each answer, or no longer",
       [](Dialogue& d, const std::string&) {
         d.options_.shows_statistics = !d.options_.shows_statistics;
         if (d.options_.shows_statistics) d.show_statistics();
       }},
      {"/exit", "", "Ends", nullptr},
  };
  return table;
}

void Dialogue::help() const {
  for (const Command& c : commands()) {
    fmt::print(stderr, "{:16} {}\n", fmt::format("{} {}", c.name, c.argument), c.description);
  }
  fmt::print(stderr, "Ctrl-C stops an answer; Ctrl-D, or Ctrl-C at the mark, ends.\n");
}

bool Dialogue::obey(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(' '));
  const std::string argument(without_spaces(line.substr(name.size())));
  const auto command = std::ranges::find(commands(), name, &Command::name);
  check(command != commands().end(), "there is no command {}; /help shows those that there are",
        shortened(name));
  if (!command->run) return false;
  command->run(*this, argument);
  return true;
}

void Dialogue::begin_anew() {
  messages_.clear();
  if (!options_.system.empty()) messages_.push_back({"system", options_.system});
}

void Dialogue::save(const std::string& path) const {
  check(!path.empty(), "/save wants the name of a file");
  Json list = Json::array();
  for (const llm::Message& m : messages_) {
    list.push_back(Json{{"role", m.role}, {"content", m.content}});
  }
  FileWriter file(path);
  file.write(list.dump(2) + "\n");
  file.commit();
}

void Dialogue::load(const std::string& path) {
  check(!path.empty(), "/load wants the name of a file");
  const MappedFile file(path);
  const Json json = Json::parse(as_text(file.data()));
  check(json.is_array(), "{}: no list of messages", path);
  std::vector<llm::Message> messages;
  for (const Json& m : json.elements()) messages.push_back(message_of(m, path));
  messages_ = std::move(messages);
}

void Dialogue::show_statistics() const {
  fmt::print(stderr, "{}\n", statistics_of(last_, generator_));
}

// ---- turns ------------------------------------------------------------------------------------

Dialogue::Dialogue(const llm::LanguageModel& model, llm::Generator& generator, Options options)
    : model_(model), generator_(generator), options_(std::move(options)) {
  check(model_.chat.has_value(),
        "{} has no chat template: --raw goes on with a text instead of a conversation",
        printable(model_.name));
  begin_anew();
}

void Dialogue::say(const std::string& message) {
  messages_.push_back({"user", message});
  try {
    reply();
  } catch (const Error&) {
    messages_.pop_back();
    throw;
  }
}

void Dialogue::reply() {
  const std::vector<llm::TokenId> prompt =
      llm::chat_prompt(*model_.chat, model_.tokenizer, messages_);
  last_ = stream_answer(model_, generator_, prompt, options_.answer, options_.is_terminal,
                        options_.is_dialogue);
  messages_.push_back({"assistant", last_.text});
  if (last_.end == llm::AnswerEnd::Context) {
    fmt::print(stderr, "(the context of {} tokens is full: /clear begins anew)\n",
               generator_.context());
  }
  if (options_.shows_statistics) show_statistics();
}

void Dialogue::run() {
  std::string line;
  while (true) {
    if (options_.is_terminal) {
      fmt::print("> ");
      std::fflush(stdout);
    }
    if (!std::getline(std::cin, line)) break;
    const std::string_view text = without_spaces(line);
    if (text.empty()) continue;
    try {
      if (text.starts_with('/')) {
        if (!obey(text)) return;
      } else {
        say(std::string(text));
      }
    } catch (const Error& e) {
      fmt::print(stderr, "croze: {}\n", e.message());
    }
  }
  if (options_.is_terminal) fmt::print("\n");
}

}  // namespace croze::tool
