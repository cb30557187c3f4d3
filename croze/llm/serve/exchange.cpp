#include "croze/llm/serve/exchange.h"

#include <algorithm>
#include <utility>

#include "croze/llm/serve/refusal.h"

namespace croze::llm::serve {

TextExchange::TextExchange(const Tokenizer& tokenizer, std::shared_ptr<Reply> reply, Form form)
    : tokenizer_(tokenizer), reply_(std::move(reply)), form_(std::move(form)) {}

void TextExchange::wait_until_begun() {
  while (!reply_->wait_until_begun(std::chrono::seconds(1))) {
  }
  if (reply_->never_started()) throw Refusal(503, "the time for it ran out while it waited");
}

Likelihoods TextExchange::likelihoods(std::vector<ChosenToken> tokens) const {
  return {
      .tokenizer = tokenizer_, .tokens = std::move(tokens), .is_asked_for = form_.has_likelihoods};
}

const char* TextExchange::finish_reason() const {
  const AnswerEnd end = answer().end;
  return end == AnswerEnd::Token || end == AnswerEnd::Stop ? "stop" : "length";
}

std::optional<std::string> TextExchange::next(std::chrono::milliseconds wait) {
  if (has_ended_) return std::nullopt;
  auto piece = reply_->next(wait);
  if (!piece) {
    has_ended_ = true;
    return ending();
  }
  if (piece->text.empty() && piece->tokens.empty()) return std::string();
  if (form_.is_stream) return streamed(*std::move(piece));
  all_.text += piece->text;
  std::ranges::move(piece->tokens, std::back_inserter(all_.tokens));
  return std::string();
}

std::string TextExchange::ending() {
  if (reply_->end() == ReplyEnd::Failed) {
    const std::string body = error_body(500, reply_->problem());
    return form_.is_stream ? event(body) : body;
  }
  if (!form_.is_stream) return whole(std::move(all_));
  std::string events = streamed_end();
  if (form_.includes_usage) events += streamed_usage();
  return events + "data: [DONE]\n\n";
}

// ---- conversations ----------------------------------------------------------------------------

namespace {

class ChatExchange : public TextExchange {
 public:
  ChatExchange(const Tokenizer& tokenizer, std::shared_ptr<Reply> reply, Form form,
               const ReplyParser::Options& options)
      : TextExchange(tokenizer, std::move(reply), std::move(form)), parser_(options) {}

 private:
  std::string streamed(Reply::Piece piece) override {
    return shown(parser_.push(piece.text), std::move(piece.tokens));
  }
  std::string streamed_end() override {
    std::string events = shown(parser_.finish(), {});
    return events + event(chat_end_chunk(head(), calls_ > 0 ? "tool_calls" : finish_reason()));
  }
  std::string streamed_usage() override { return event(chat_usage_chunk(head(), answer())); }

  std::string whole(Reply::Piece all) override {
    ReplyParts parts = parser_.push(all.text), rest = parser_.finish();
    parts.content += rest.content;
    parts.reasoning += rest.reasoning;
    std::ranges::move(rest.calls, std::back_inserter(parts.calls));
    return chat_completion(head(), parts, likelihoods(std::move(all.tokens)),
                           parts.calls.empty() ? finish_reason() : "tool_calls", answer());
  }

  // The first event names the role.
  std::string shown(const ReplyParts& parts, std::vector<ChosenToken> tokens) {
    std::string events;
    if (!std::exchange(has_role_, true)) events += event(chat_role_chunk(head()));
    if (!parts.is_empty() || !tokens.empty()) {
      events += event(chat_chunk(head(), parts, likelihoods(std::move(tokens)), calls_));
    }
    calls_ += parts.calls.size();
    return events;
  }

  ReplyParser parser_;
  bool has_role_ = false;
  std::size_t calls_ = 0;
};

// ---- texts ------------------------------------------------------------------------------------

class CompletionExchange : public TextExchange {
 public:
  using TextExchange::TextExchange;

 private:
  std::string streamed(Reply::Piece piece) override {
    const std::size_t offset = length_;
    length_ += piece.text.size();
    return event(completion(head(), piece.text, likelihoods(std::move(piece.tokens)), offset,
                            nullptr, nullptr));
  }
  std::string streamed_end() override {
    return event(completion(head(), "", likelihoods({}), length_, finish_reason(), nullptr));
  }
  std::string streamed_usage() override { return event(completion_usage(head(), answer())); }
  std::string whole(Reply::Piece all) override {
    return completion(head(), all.text, likelihoods(std::move(all.tokens)), 0, finish_reason(),
                      &answer());
  }

  std::size_t length_ = 0;
};

}  // namespace

std::unique_ptr<Exchange> chat_exchange(const Tokenizer& tokenizer, std::shared_ptr<Reply> reply,
                                        TextExchange::Form form,
                                        const ReplyParser::Options& options) {
  return std::make_unique<ChatExchange>(tokenizer, std::move(reply), std::move(form), options);
}

std::unique_ptr<Exchange> completion_exchange(const Tokenizer& tokenizer,
                                              std::shared_ptr<Reply> reply,
                                              TextExchange::Form form) {
  return std::make_unique<CompletionExchange>(tokenizer, std::move(reply), std::move(form));
}

}  // namespace croze::llm::serve
