// exchange.h -- an answer on its way, as the bytes that a client gets.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "croze/llm/serve/engine.h"
#include "croze/llm/serve/writer.h"

namespace croze::llm::serve {

// The body of one answer: a stream of server-sent events, or one object of JSON.  Whoever lets go
// of it before its end has left, and work on it stops.
class Exchange {
 public:
  Exchange() = default;
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  virtual bool is_stream() const = 0;
  // Waits until it is its turn.  Throws Refusal (503) if its time ran out before that.
  virtual void wait_until_begun() = 0;
  // What comes next of the body, or nothing yet after so long a wait; none behind its end.
  virtual std::optional<std::string> next(std::chrono::milliseconds wait) = 0;
};

// That of the texts which the engine writes, one for each choice of a request.
class TextExchange : public Exchange {
 public:
  struct Form {
    AnswerHead head;
    bool is_stream = false, includes_usage = false, has_likelihoods = false;
  };

  TextExchange(const Tokenizer& tokenizer, std::shared_ptr<Reply> reply, Form form);
  ~TextExchange() override { reply_->cancel(); }

  bool is_stream() const override { return form_.is_stream; }
  void wait_until_begun() override;
  std::optional<std::string> next(std::chrono::milliseconds wait) override;

 protected:
  const AnswerHead& head() const { return form_.head; }
  std::size_t choices() const { return reply_->choices(); }
  // Why a choice ended, as OpenAI calls it.
  const char* finish_reason(std::size_t choice) const;
  Usage usage() const;
  Likelihoods likelihoods(std::vector<ChosenToken> tokens) const;
  static std::string event(const std::string& json) { return "data: " + json + "\n\n"; }

 private:
  virtual std::string streamed(Reply::Piece piece) = 0;
  virtual std::string streamed_end(std::size_t choice) = 0;
  virtual std::string streamed_usage() = 0;
  // All pieces of each choice as one.
  virtual std::string whole(std::vector<Reply::Piece> choices) = 0;

  std::string events_of(Reply::Piece piece);
  std::string failed(std::size_t choice);
  std::string ending();

  const Tokenizer& tokenizer_;
  const std::shared_ptr<Reply> reply_;
  const Form form_;
  std::vector<Reply::Piece> all_;  // of what is not streamed, by choice
  bool has_ended_ = false;
};

std::unique_ptr<Exchange> chat_exchange(const Tokenizer& tokenizer, std::shared_ptr<Reply> reply,
                                        TextExchange::Form form,
                                        const ReplyParser::Options& options);
std::unique_ptr<Exchange> completion_exchange(const Tokenizer& tokenizer,
                                              std::shared_ptr<Reply> reply,
                                              TextExchange::Form form);

}  // namespace croze::llm::serve
