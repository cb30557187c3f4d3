// language_model.cpp -- loading, and the loop of generation.
#include "croze/llm/generate/language_model.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "croze/base/error.h"
#include "croze/llm/generate/stop_strings.h"

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

// One answer while it grows.
class Growing {
 public:
  Growing(const LanguageModel& model, const AnswerOptions& options)
      : options_(options), stream_(model.tokenizer), stops_(options.stop) {}

  // Whether it goes on behind this token.
  bool push(TokenId token) {
    answer_.tokens.push_back(token);
    return show(stops_.push(stream_.push(token)));
  }

  Answer finish(AnswerEnd end) {
    if (end != AnswerEnd::Caller) {
      show(stops_.push(stream_.finish()));
      show(stops_.finish());
    }
    answer_.end = stops_.is_stopped() ? AnswerEnd::Stop : end;
    return std::move(answer_);
  }

  bool is_stopped() const { return stops_.is_stopped(); }
  std::int64_t length() const { return std::ssize(answer_.tokens); }

 private:
  bool show(const std::string& piece) {
    answer_.text += piece;
    const bool goes_on = piece.empty() || !options_.on_text || options_.on_text(piece);
    return goes_on && !stops_.is_stopped();
  }

  const AnswerOptions& options_;
  TokenStream stream_;
  StopStrings stops_;
  Answer answer_;
};

TokenId chosen_token(Sampler& sampler, std::span<const float> scores, const Generator& generator,
                     const AnswerOptions& options) {
  if (!options.filter) return sampler.choose(scores, generator.tokens());
  std::vector<float> restricted(scores.begin(), scores.end());
  options.filter->restrict(restricted);
  return sampler.choose(restricted, generator.tokens());
}

ChosenToken described(TokenId token, std::span<const float> scores, std::int64_t likeliest) {
  const LogProbabilities all(scores);
  return {.token = token, .log_probability = all.of(token), .likeliest = all.likeliest(likeliest)};
}

// Chooses tokens behind these scores until something ends it.
AnswerEnd grow(Growing& growing, const LanguageModel& model, Generator& generator,
               std::span<const float> scores, const AnswerOptions& options) {
  Sampler sampler(options.sampling);
  while (options.max_tokens < 0 || growing.length() < options.max_tokens) {
    if (options.goes_on && !options.goes_on()) return AnswerEnd::Caller;
    if (options.filter && options.filter->is_finished()) return AnswerEnd::Token;
    const TokenId token = chosen_token(sampler, scores, generator, options);
    if (std::ranges::binary_search(model.end_tokens, token)) return AnswerEnd::Token;
    if (options.filter) options.filter->accept(token);
    if (options.on_token) options.on_token(described(token, scores, options.likeliest));
    if (!growing.push(token)) return AnswerEnd::Caller;
    if (generator.room() == 0) return AnswerEnd::Context;
    scores = generator.read(std::span(&token, 1));
  }
  return AnswerEnd::Length;
}

}  // namespace

std::unique_ptr<const LanguageModel> LanguageModel::load(const std::string& path,
                                                         std::int64_t context) {
  const GgufFile file = load_gguf(path);
  Transformer transformer(file, context);
  Tokenizer tokenizer = Tokenizer::from_gguf(file.metadata);
  check(tokenizer.vocabulary_size() <= transformer.vocabulary(),
        "{}: {} tokens, and weights for {} of them", path, tokenizer.vocabulary_size(),
        transformer.vocabulary());
  auto chat = chat_template_of(file, tokenizer);
  auto ends = end_tokens_of(tokenizer);
  return std::make_unique<const LanguageModel>(
      LanguageModel{name_of_model(file.metadata), std::move(transformer), std::move(tokenizer),
                    std::move(chat), std::move(ends)});
}

Answer answer(const LanguageModel& model, Generator& generator, std::span<const TokenId> prompt,
              const AnswerOptions& options) {
  Stopwatch watch;
  Growing growing(model, options);
  check(!prompt.empty(), "there is no prompt");
  const std::int64_t known = generator.common_length(prompt);
  const std::span<const float> scores = generator.read_from_start(prompt, options.goes_on);
  const double prompt_seconds = watch.lap();
  const AnswerEnd end =
      scores.empty() ? AnswerEnd::Caller : grow(growing, model, generator, scores, options);
  Answer result = growing.finish(end);
  result.prompt_tokens = std::ssize(prompt);
  result.prompt_read = std::ssize(prompt) - known;
  result.prompt_seconds = prompt_seconds;
  result.answer_seconds = watch.lap();
  return result;
}

}  // namespace croze::llm
