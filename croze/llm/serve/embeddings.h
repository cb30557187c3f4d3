// embeddings.h -- texts to vectors for any number of threads that ask.
//
// Whoever asks computes: an exchange takes its turn at the model for a few texts, again and again
// until all are there, so requests go on side by side and one that is let go of costs no more.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "croze/llm/embed/embedder.h"
#include "croze/llm/generate/language_model.h"
#include "croze/llm/serve/engine.h"
#include "croze/llm/serve/exchange.h"
#include "croze/llm/serve/request.h"

namespace croze::llm::serve {

class EmbeddingService {
 public:
  // The model must outlive it.  Throws Error as Embedder does.
  EmbeddingService(const LanguageModel& model, const EngineOptions& options);
  EmbeddingService(const EmbeddingService&) = delete;
  EmbeddingService& operator=(const EmbeddingService&) = delete;

  // `name` is what the answer calls the model.  Throws Refusal: 400 for a text that does not fit
  // the context, tokens that the model has not and more dimensions than there are; 429 if too many
  // wait; 503 after finish().  The service must outlive what it returns.
  std::unique_ptr<Exchange> begin(const EmbeddingRequest& request, const std::string& name);
  // Refuses what comes from now on.
  void finish() { is_ending_ = true; }

  // Texts count as prompts.
  EngineStatistics statistics() const;
  std::int64_t context() const { return embedder_.context(); }

 private:
  class Running;

  std::vector<std::vector<TokenId>> tokens_of(const EmbeddingRequest& request) const;
  // Those who are there as long as they live.
  void enter();
  void leave(ReplyEnd end, std::int64_t tokens);

  const LanguageModel& model_;
  const EngineOptions options_;
  std::atomic<bool> is_ending_ = false;

  std::timed_mutex turn_;  // for the embedder
  Embedder embedder_;

  mutable std::mutex mutex_;  // for the counts
  EngineStatistics statistics_;
};

}  // namespace croze::llm::serve
