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
// of it before its end has left, and the engine stops.
class Exchange {
 public:
  struct Form {
    AnswerHead head;
    bool is_stream = false, includes_usage = false, has_likelihoods = false;
  };

  Exchange(const Tokenizer& tokenizer, std::shared_ptr<Reply> reply, Form form);
  virtual ~Exchange() { reply_->cancel(); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  bool is_stream() const { return form_.is_stream; }
  // Waits until the engine is at it.  Throws Refusal (503) if its time ran out before that.
  void wait_until_begun();
  // What comes next of the body, or nothing yet after so long a wait; none behind its end.
  std::optional<std::string> next(std::chrono::milliseconds wait);

 protected:
  const AnswerHead& head() const { return form_.head; }
  const Answer& answer() const { return reply_->answer(); }
  // Why it ended, as OpenAI calls it.
  const char* finish_reason() const;
  Likelihoods likelihoods(std::vector<ChosenToken> tokens) const;
  static std::string event(const std::string& json) { return "data: " + json + "\n\n"; }

 private:
  virtual std::string streamed(Reply::Piece piece) = 0;
  virtual std::string streamed_end() = 0;
  virtual std::string streamed_usage() = 0;
  virtual std::string whole(Reply::Piece all) = 0;

  std::string ending();

  const Tokenizer& tokenizer_;
  const std::shared_ptr<Reply> reply_;
  const Form form_;
  Reply::Piece all_;  // of what is not streamed
  bool has_ended_ = false;
};

std::unique_ptr<Exchange> chat_exchange(const Tokenizer& tokenizer, std::shared_ptr<Reply> reply,
                                        Exchange::Form form, const ReplyParser::Options& options);
std::unique_ptr<Exchange> completion_exchange(const Tokenizer& tokenizer,
                                              std::shared_ptr<Reply> reply, Exchange::Form form);

}  // namespace croze::llm::serve
