// tokenize.cpp -- croze tokenize MODEL: texts to tokens and back.
#include <croze/base/error.h>
#include <croze/base/file.h>
#include <croze/base/printable.h>
#include <croze/llm/tokenizer/tokenizer.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>

#include "command_line/json.h"
#include "commands.h"

namespace croze::tool {
namespace {

using llm::TokenId;

struct Settings {
  std::string model, file, text;
  bool has_text = false, decode = false, json = false, bare = false, parse_special = false;
};

std::string input_of(const Settings& settings) {
  check(settings.has_text != !settings.file.empty(), "give --text or a file, and one of them");
  if (settings.has_text) return settings.text;
  const MappedFile file(settings.file);
  return std::string(as_text(file.data()));
}

// Numbers with anything between that is no letter and no digit, as a list of JSON has them.
std::vector<TokenId> ids_in(std::string_view text) {
  std::vector<TokenId> ids;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n,[]"), text.size()));
    if (text.empty()) return ids;
    TokenId id = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id);
    check(problem == std::errc(), "\"{}\" is no number of a token", text.substr(0, 20));
    ids.push_back(id);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void print_text(const std::string& text, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", Json{{"text", text}}.dump());
  } else if (isatty(STDOUT_FILENO)) {
    fmt::print("{}\n", printable(text));
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

void tokenize(const Settings& settings) {
  const std::string input = input_of(settings);
  const auto begin = std::chrono::steady_clock::now();
  const llm::Tokenizer tokenizer = llm::Tokenizer::load(settings.model);
  const double load_seconds = seconds_since(begin);
  if (settings.decode) {
    const llm::DecodeOptions options{.skip_special = !settings.parse_special};
    return print_text(tokenizer.decode(ids_in(input), options), settings.json);
  }
  const auto loaded = std::chrono::steady_clock::now();
  const std::vector<TokenId> ids = tokenizer.encode(
      input, {.add_special = !settings.bare, .parse_special = settings.parse_special});
  const double seconds = seconds_since(loaded);
  if (settings.json) {
    fmt::print("{}\n", Json{{"tokens", std::ssize(ids)},
                            {"bytes", std::ssize(input)},
                            {"load_seconds", load_seconds},
                            {"encode_seconds", seconds},
                            {"ids", ids}}
                           .dump());
    return;
  }
  for (const TokenId id : ids) {
    fmt::print("{:>7}  {}\n", id, Json(tokenizer.token_bytes(id)).dump());
  }
}

}  // namespace

void add_tokenize(const Command& program) {
  const Command command = program.subcommand("tokenize", "Turn a text into tokens, or back");
  const auto settings = std::make_shared<Settings>();
  command.option("model", settings->model, "tokenizer.json or GGUF file").required();
  command.option("file", settings->file, "File of the text, or of the tokens");
  const Argument text = command.option("--text", settings->text, "The text, or the tokens");
  command.flag("--decode", settings->decode, "Turn tokens, as numbers, into a text");
  command.flag("--bare", settings->bare, "Add nothing around the text, as <s> or [CLS]");
  command.flag("--special", settings->parse_special,
               "Find special tokens in the text; with --decode, show them");
  command.flag("--json", settings->json, "Print one line of JSON");
  command.action([settings, text] {
    settings->has_text = text.is_given();
    tokenize(*settings);
  });
}

}  // namespace croze::tool
