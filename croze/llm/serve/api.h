// api.h -- OpenAI's API, without its transport: bodies of requests to bodies of answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

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
  // The model must outlive it.  Throws Error as Engine does.
  Api(const LanguageModel& model, ApiOptions options);

  // POST /v1/chat/completions, /v1/completions and /v1/embeddings.
  std::unique_ptr<Exchange> chat(std::string_view body);
  std::unique_ptr<Exchange> complete(std::string_view body);
  [[noreturn]] void embed(std::string_view body) const;
  // GET /v1/models and /v1/models/<name>.
  std::string models() const;
  std::string model(std::string_view name) const;
  // GET /health and, in the text form of Prometheus, /metrics.
  std::string health() const;
  std::string metrics() const;

  // Refuses what comes from now on, and returns when the engine is done.
  void finish() { engine_.finish(); }
  Engine& engine() { return engine_; }

 private:
  std::shared_ptr<Reply> submit(std::vector<TokenId> prompt, const GenerationFields& fields);
  Exchange::Form form_of(const GenerationFields& fields, std::string_view prefix) const;

  const LanguageModel& model_;
  const ApiOptions options_;
  const std::int64_t created_;
  Engine engine_;
};

}  // namespace croze::llm::serve
