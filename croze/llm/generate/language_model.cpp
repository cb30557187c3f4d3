// language_model.cpp -- loading, and the loop of generation.
#include "croze/llm/generate/language_model.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "croze/base/error.h"
#include "croze/llm/generate/answering.h"

namespace croze::llm {
namespace {

// How tokens that end an answer are written.  Files name one of them and mean another: that which
// ends the text is often not the one that ends a turn.
constexpr std::string_view end_texts[] = {
    "<|im_end|>",    "<|eot_id|>",      "<|endoftext|>", "<|end_of_text|>",
    "<end_of_turn>", "<|eom_id|>",      "<|end|>",       "<EOT>",
    "</s>",          "<|end_of_turn|>", "<|return|>",    "<|endofprompt|>",
};

std::vector<TokenId> end_tokens_of(const Tokenizer& tokenizer) {
  std::vector<TokenId> ends{tokenizer.special().eos, tokenizer.special().eot};
  for (const std::string_view text : end_texts) {
    const TokenId id = tokenizer.find(text);
    if (id != no_token && tokenizer.token_type(id) == TokenType::Control) ends.push_back(id);
  }
  std::ranges::sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::erase(ends, no_token);
  return ends;
}

std::optional<ChatTemplate> chat_template_of(const GgufFile& file, const Tokenizer& tokenizer) {
  if (!file.metadata.has("tokenizer.chat_template")) return std::nullopt;
  ChatTemplate chat = ChatTemplate::from_gguf(file.metadata);
  chat.use_tokens_of(tokenizer);
  return chat;
}

std::string name_of_model(const GgufMetadata& metadata) {
  constexpr const char* name = "general.name";
  return metadata.has(name) ? metadata.text(name) : metadata.text("general.architecture");
}

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> seconds = now - std::exchange(begin_, now);
    return seconds.count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Reads tokens, of which the first was chosen and the others are guesses, and goes on with those
// that were right.  The next one that is to be read, if there is one.
std::optional<TokenId> read_guesses(Generator& generator, Answering& answering,
                                    std::span<const TokenId> tokens) {
  const std::span<const float> scores = generator.read_each(tokens);
  const std::size_t width = scores.size() / tokens.size();
  const std::size_t before = generator.tokens().size() - tokens.size();
  for (std::size_t i = 0;; i++) {
    const std::span<const TokenId> text = std::span(generator.tokens()).first(before + i + 1);
    const auto next = answering.next(scores.subspan(i * width, width), text,
                                     generator.context() - std::ssize(text));
    const bool was_right = next && i + 1 < tokens.size() && tokens[i + 1] == *next;
    if (was_right) continue;
    generator.truncate(std::ssize(text));
    return next;
  }
}

// The tokens behind a prompt whose scores are these; of a drafter, how many it guessed.
void go_on(Generator& generator, Answering& answering, std::span<const float> scores,
           const AnswerOptions& options, Answer& counts) {
  auto token = answering.next(scores, generator.tokens(), generator.room());
  while (token) {
    std::vector<TokenId> tokens{*token};
    if (options.drafter) {
      std::vector<TokenId> text = generator.tokens();
      text.push_back(*token);
      const std::int64_t most = std::min(options.drafted, generator.room() - 1);
      std::ranges::copy(options.drafter->draft(text, most), std::back_inserter(tokens));
    }
    if (tokens.size() == 1) {
      const std::span<const float> next = generator.read(tokens);
      token = answering.next(next, generator.tokens(), generator.room());
      continue;
    }
    const std::size_t before = generator.tokens().size();
    token = read_guesses(generator, answering, tokens);
    counts.drafted += std::ssize(tokens) - 1;
    counts.accepted += std::ssize(generator.tokens()) - static_cast<std::int64_t>(before) - 1;
  }
}

}  // namespace

std::unique_ptr<const LanguageModel> LanguageModel::load(const std::string& path,
                                                         const ModelOptions& options) {
  return from_gguf(load_gguf(path), options);
}

std::unique_ptr<const LanguageModel> LanguageModel::from_gguf(const GgufFile& file,
                                                              const ModelOptions& options) {
  Transformer transformer(file, options);
  Tokenizer tokenizer = Tokenizer::from_gguf(file.metadata);
  check(tokenizer.vocabulary_size() <= transformer.vocabulary(),
        "{}: {} tokens, and weights for {} of them", file.metadata.source(),
        tokenizer.vocabulary_size(), transformer.vocabulary());
  auto chat = chat_template_of(file, tokenizer);
  auto ends = end_tokens_of(tokenizer);
  return std::make_unique<const LanguageModel>(
      LanguageModel{name_of_model(file.metadata), std::move(transformer), std::move(tokenizer),
                    std::move(chat), std::move(ends)});
}

Answer answer(const LanguageModel& model, Generator& generator, std::span<const TokenId> prompt,
              const AnswerOptions& options) {
  Stopwatch watch;
  Answering answering(model, options);
  check(!prompt.empty(), "there is no prompt");
  check(options.drafted >= 0 && options.drafted < Generator::most_of_each,
        "{} tokens guessed at once: 0..{} are possible", options.drafted,
        Generator::most_of_each - 1);
  const std::int64_t known = generator.common_length(prompt);
  const std::span<const float> scores = generator.read_from_start(prompt, options.goes_on);
  const double prompt_seconds = watch.lap();
  Answer counts;
  if (!scores.empty()) go_on(generator, answering, scores, options, counts);
  Answer result = answering.finish();
  result.prompt_tokens = std::ssize(prompt);
  result.prompt_read = std::ssize(prompt) - known;
  result.drafted = counts.drafted;
  result.accepted = counts.accepted;
  result.prompt_seconds = prompt_seconds;
  result.answer_seconds = watch.lap();
  return result;
}

}  // namespace croze::llm
