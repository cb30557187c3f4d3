// api.h -- OpenAI's API, without its transport: bodies of requests to bodies of answers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "croze/llm/serve/embeddings.h"
#include "croze/llm/serve/engine.h"
#include "croze/llm/serve/exchange.h"
#include "croze/llm/serve/request.h"

namespace croze::llm::serve {

struct ApiOptions {
  EngineOptions engine;
  SamplingOptions sampling;  // of requests that do not name another
  std::string name;          // of the model; empty: as its file calls it
};

// Threads may share it.  What takes the body of a request throws Refusal if it cannot be served.
class Api {
 public:
  // The model must outlive it.  Of one that was trained to embed texts nothing but vectors can be
  // had, of another one nothing but texts.  Throws Error as Engine and Embedder do.
  Api(const LanguageModel& model, ApiOptions options);

  // POST /v1/chat/completions, /v1/completions and /v1/embeddings.
  std::unique_ptr<Exchange> chat(std::string_view body);
  std::unique_ptr<Exchange> complete(std::string_view body);
  std::unique_ptr<Exchange> embed(std::string_view body);
  // GET /v1/models and /v1/models/<name>.
  std::string models() const;
  std::string model(std::string_view name) const;
  // GET /health and, in the text form of Prometheus, /metrics.
  std::string health() const;
  std::string metrics() const;

  // Refuses what comes from now on, and returns when the engine is done.
  void finish();
  EngineStatistics statistics() const;
  std::int64_t context() const;
  const ApiOptions& options() const { return options_; }

 private:
  void check_writes() const;
  std::string render(const ChatRequest& request) const;
  std::shared_ptr<Reply> submit(std::vector<TokenId> prompt, const GenerationFields& fields);
  TextExchange::Form form_of(const GenerationFields& fields, std::string_view prefix) const;

  const LanguageModel& model_;
  const ApiOptions options_;
  const std::int64_t created_;
  std::optional<Engine> engine_;  // one of them
  std::optional<EmbeddingService> embeddings_;
};

}  // namespace croze::llm::serve
