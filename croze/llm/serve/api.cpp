#include "croze/llm/serve/api.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "croze/base/printable.h"
#include "croze/llm/serve/forced_calls.h"
#include "croze/llm/serve/metrics.h"
#include "croze/llm/serve/refusal.h"

namespace croze::llm::serve {
namespace {

std::int64_t seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

ApiOptions named(ApiOptions options, const LanguageModel& model) {
  if (options.name.empty()) options.name = model.name;
  return options;
}

// Whether a prompt ends with the mark that begins thoughts: some templates write it themselves.
bool ends_with_thoughts(std::string_view prompt) {
  while (!prompt.empty() && (prompt.back() == '\n' || prompt.back() == ' ')) {
    prompt.remove_suffix(1);
  }
  return prompt.ends_with("<think>");
}

}  // namespace

Api::Api(const LanguageModel& model, ApiOptions options)
    : model_(model), options_(named(std::move(options), model)), created_(seconds_since_1970()) {
  if (model.transformer.config().pooling) {
    embeddings_.emplace(model, options_.engine);
  } else {
    engine_.emplace(model, options_.engine);
  }
}

void Api::check_writes() const {
  if (engine_) return;
  throw Refusal(400, fmt::format("{} embeds texts and was not trained to write them",
                                 printable(options_.name)));
}

TextExchange::Form Api::form_of(const GenerationFields& fields, std::string_view prefix) const {
  return {
      .head = {.id = random_id(prefix), .created = seconds_since_1970(), .model = options_.name},
      .is_stream = fields.is_stream,
      .includes_usage = fields.includes_usage,
      .has_likelihoods = fields.has_likelihoods};
}

std::shared_ptr<Reply> Api::submit(std::vector<TokenId> prompt, const GenerationFields& fields) {
  return engine_->submit({.prompt = std::move(prompt),
                          .choices = fields.choices,
                          .sampling = fields.sampling,
                          .max_tokens = fields.max_tokens,
                          .stop = fields.stop,
                          .likeliest = fields.has_likelihoods ? fields.likeliest : -1,
                          .grammar = fields.grammar});
}

std::string Api::render(const ChatRequest& request) const {
  if (!model_.chat) {
    throw Refusal(400, "the model has no chat template: /v1/completions goes on with a text");
  }
  ChatInput input;
  input.messages = request.messages;
  input.tools = request.tools;
  input.variables = request.variables;
  input.add_generation_prompt = true;
  try {
    return model_.chat->render(input);
  } catch (const Error& e) {
    throw Refusal(400, e.message(), "messages");
  }
}

std::unique_ptr<Exchange> Api::chat(std::string_view body) {
  check_writes();
  ChatRequest request = read_chat_request(Fields::parse(body), options_.sampling);
  const std::string prompt = render(request);
  const bool begins_with_reasoning = ends_with_thoughts(prompt);
  if (request.tool_choice.is_required) {
    const std::string grammar = forced_calls_grammar(
        request.tools, {.function = request.tool_choice.function,
                        .can_be_many = request.tool_choice.allows_many,
                        .is_marked = prompt.find("<tool_call>") != std::string::npos,
                        .begins_with_reasoning = begins_with_reasoning});
    request.generation.grammar = requested_grammar(grammar, "tools");
  }
  std::vector<TokenId> tokens =
      model_.tokenizer.encode(prompt, {.add_special = false, .parse_special = true});
  return chat_exchange(
      model_.tokenizer, submit(std::move(tokens), request.generation),
      form_of(request.generation, "chatcmpl-"),
      {.begins_with_reasoning = begins_with_reasoning, .has_tools = !request.tools.is_none()});
}

std::unique_ptr<Exchange> Api::complete(std::string_view body) {
  check_writes();
  CompletionRequest request = read_completion_request(Fields::parse(body), options_.sampling);
  std::vector<TokenId> tokens = std::move(request.tokens);
  if (tokens.empty()) tokens = model_.tokenizer.encode(request.prompt);
  return completion_exchange(model_.tokenizer, submit(std::move(tokens), request.generation),
                             form_of(request.generation, "cmpl-"));
}

std::unique_ptr<Exchange> Api::embed(std::string_view body) {
  const EmbeddingRequest request = read_embedding_request(Fields::parse(body));
  if (!embeddings_) {
    throw Refusal(400, fmt::format("{} writes texts and was not trained to embed them",
                                   printable(options_.name)));
  }
  return embeddings_->begin(request, options_.name);
}

void Api::finish() {
  if (engine_) engine_->finish();
  if (embeddings_) embeddings_->finish();
}

EngineStatistics Api::statistics() const {
  return engine_ ? engine_->statistics() : embeddings_->statistics();
}

std::int64_t Api::context() const { return engine_ ? engine_->context() : embeddings_->context(); }

std::string Api::models() const { return model_list(options_.name, created_, context()); }

std::string Api::model(std::string_view name) const {
  if (name != options_.name) {
    throw Refusal(404, fmt::format("there is no model {}", shortened(name)), "model",
                  "model_not_found");
  }
  return model_object(options_.name, created_, context());
}

std::string Api::health() const { return R"({"status": "ok"})"; }

std::string Api::metrics() const { return metrics_text(statistics()); }

}  // namespace croze::llm::serve
