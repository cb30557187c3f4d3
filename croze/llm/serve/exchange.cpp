#include "croze/llm/serve/exchange.h"

#include <algorithm>
#include <utility>

#include "croze/llm/serve/refusal.h"

namespace croze::llm::serve {

TextExchange::TextExchange(const Tokenizer& tokenizer, std::shared_ptr<Reply> reply, Form form)
    : tokenizer_(tokenizer),
      reply_(std::move(reply)),
      form_(std::move(form)),
      all_(reply_->choices()) {}

void TextExchange::wait_until_begun() {
  while (!reply_->wait_until_begun(std::chrono::seconds(1))) {
  }
  if (reply_->never_started()) throw Refusal(503, "the time for it ran out while it waited");
}

Likelihoods TextExchange::likelihoods(std::vector<ChosenToken> tokens) const {
  return {
      .tokenizer = tokenizer_, .tokens = std::move(tokens), .is_asked_for = form_.has_likelihoods};
}

const char* TextExchange::finish_reason(std::size_t choice) const {
  const AnswerEnd end = reply_->answer(choice).end;
  return end == AnswerEnd::Token || end == AnswerEnd::Stop ? "stop" : "length";
}

// The choices have one prompt, of which the first has read what was not known.
Usage TextExchange::usage() const {
  const Answer& first = reply_->answer(0);
  Usage usage{.prompt_tokens = first.prompt_tokens,
              .cached_tokens = first.prompt_tokens - first.prompt_read};
  for (std::size_t i = 0; i < choices(); i++) {
    usage.answer_tokens += std::ssize(reply_->answer(i).tokens);
  }
  return usage;
}

std::optional<std::string> TextExchange::next(std::chrono::milliseconds wait) {
  if (has_ended_) return std::nullopt;
  auto piece = reply_->next(wait);
  if (!piece) {
    has_ended_ = true;
    return ending();
  }
  if (piece->is_last && reply_->end(piece->choice) == ReplyEnd::Failed) {
    return failed(piece->choice);
  }
  if (form_.is_stream) return events_of(*std::move(piece));
  Reply::Piece& all = all_[piece->choice];
  all.text += piece->text;
  std::ranges::move(piece->tokens, std::back_inserter(all.tokens));
  return std::string();
}

std::string TextExchange::events_of(Reply::Piece piece) {
  const std::size_t choice = piece.choice;
  const bool is_last = piece.is_last;
  std::string events;
  if (!piece.text.empty() || !piece.tokens.empty()) events = streamed(std::move(piece));
  if (is_last) events += streamed_end(choice);
  return events;
}

// One choice that fails ends all: nobody wants a part of what was asked for.
std::string TextExchange::failed(std::size_t choice) {
  has_ended_ = true;
  reply_->cancel();
  const std::string body = error_body(500, reply_->problem(choice));
  return form_.is_stream ? event(body) : body;
}

std::string TextExchange::ending() {
  if (!form_.is_stream) return whole(std::move(all_));
  return (form_.includes_usage ? streamed_usage() : "") + "data: [DONE]\n\n";
}

// ---- conversations ----------------------------------------------------------------------------

namespace {

class ChatExchange : public TextExchange {
 public:
  ChatExchange(const Tokenizer& tokenizer, std::shared_ptr<Reply> reply, Form form,
               const ReplyParser::Options& options)
      : TextExchange(tokenizer, std::move(reply), std::move(form)),
        states_(choices(), State{.parser = ReplyParser(options)}) {}

 private:
  struct State {
    ReplyParser parser;
    bool has_role = false;
    std::size_t calls = 0;
  };

  std::string streamed(Reply::Piece piece) override {
    const ReplyParts parts = states_[piece.choice].parser.push(piece.text);
    return shown(piece.choice, parts, std::move(piece.tokens));
  }
  std::string streamed_end(std::size_t choice) override {
    State& state = states_[choice];
    std::string events = shown(choice, state.parser.finish(), {});
    const char* finish = state.calls > 0 ? "tool_calls" : finish_reason(choice);
    return events + event(chat_end_chunk(head(), choice, finish));
  }
  std::string streamed_usage() override { return event(chat_usage_chunk(head(), usage())); }

  std::string whole(std::vector<Reply::Piece> pieces) override {
    std::vector<ChatChoice> list;
    for (std::size_t i = 0; i < pieces.size(); i++) {
      ReplyParser& parser = states_[i].parser;
      ReplyParts parts = parser.push(pieces[i].text), rest = parser.finish();
      parts.content += rest.content;
      parts.reasoning += rest.reasoning;
      std::ranges::move(rest.calls, std::back_inserter(parts.calls));
      const char* finish = parts.calls.empty() ? finish_reason(i) : "tool_calls";
      list.push_back({std::move(parts), likelihoods(std::move(pieces[i].tokens)), finish});
    }
    return chat_completion(head(), list, usage());
  }

  // The first event names the role.
  std::string shown(std::size_t choice, const ReplyParts& parts, std::vector<ChosenToken> tokens) {
    State& state = states_[choice];
    std::string events;
    if (!std::exchange(state.has_role, true)) events += event(chat_role_chunk(head(), choice));
    if (!parts.is_empty() || !tokens.empty()) {
      events +=
          event(chat_chunk(head(), choice, parts, likelihoods(std::move(tokens)), state.calls));
    }
    state.calls += parts.calls.size();
    return events;
  }

  std::vector<State> states_;
};

// ---- texts ------------------------------------------------------------------------------------

class CompletionExchange : public TextExchange {
 public:
  CompletionExchange(const Tokenizer& tokenizer, std::shared_ptr<Reply> reply, Form form)
      : TextExchange(tokenizer, std::move(reply), std::move(form)), lengths_(choices()) {}

 private:
  std::string streamed(Reply::Piece piece) override {
    std::size_t& length = lengths_[piece.choice];
    const std::size_t offset = length;
    length += piece.text.size();
    return written(piece.choice, {.text = std::move(piece.text),
                                  .likelihoods = likelihoods(std::move(piece.tokens)),
                                  .offset = offset});
  }
  std::string streamed_end(std::size_t choice) override {
    return written(choice, {.text = {},
                            .likelihoods = likelihoods({}),
                            .offset = lengths_[choice],
                            .finish = finish_reason(choice)});
  }
  std::string streamed_usage() override { return event(completion_usage(head(), usage())); }
  std::string whole(std::vector<Reply::Piece> pieces) override {
    std::vector<TextChoice> list;
    for (std::size_t i = 0; i < pieces.size(); i++) {
      list.push_back({.text = std::move(pieces[i].text),
                      .likelihoods = likelihoods(std::move(pieces[i].tokens)),
                      .finish = finish_reason(i)});
    }
    const Usage counts = usage();
    return completion(head(), 0, list, &counts);
  }

  std::string written(std::size_t number, TextChoice choice) {
    return event(completion(head(), number, std::span(&choice, 1), nullptr));
  }

  std::vector<std::size_t> lengths_;
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
