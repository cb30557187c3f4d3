#include "croze/llm/serve/writer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <random>

#include "croze/base/base64.h"

namespace croze::llm::serve {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const Usage& usage) {
  return Json{{"prompt_tokens", usage.prompt_tokens},
              {"completion_tokens", usage.answer_tokens},
              {"total_tokens", usage.prompt_tokens + usage.answer_tokens},
              {"prompt_tokens_details", Json{{"cached_tokens", usage.cached_tokens}}}};
}

Json object_of(const AnswerHead& head, const char* kind, Json choices) {
  return Json{{"id", head.id},
              {"object", kind},
              {"created", head.created},
              {"model", head.model},
              {"choices", std::move(choices)}};
}

Json token_of(const Tokenizer& tokenizer, TokenId id, double log_probability) {
  const std::string bytes = tokenizer.has_token(id) ? tokenizer.token_bytes(id) : std::string();
  Json list = Json::array();
  for (const char byte : bytes) list.push_back(static_cast<unsigned char>(byte));
  return Json{{"token", bytes}, {"logprob", log_probability}, {"bytes", std::move(list)}};
}

Json likelihoods_of_chat(const Likelihoods& likelihoods) {
  if (!likelihoods.is_asked_for) return {};
  Json content = Json::array();
  for (const ChosenToken& chosen : likelihoods.tokens) {
    Json token = token_of(likelihoods.tokenizer, chosen.token, chosen.log_probability);
    token["top_logprobs"] = Json::array();
    for (const auto& [id, log_probability] : chosen.likeliest) {
      token["top_logprobs"].push_back(token_of(likelihoods.tokenizer, id, log_probability));
    }
    content.push_back(std::move(token));
  }
  return Json{{"content", std::move(content)}};
}

Json likelihoods_of_text(const Likelihoods& likelihoods, std::size_t offset) {
  if (!likelihoods.is_asked_for) return {};
  const Tokenizer& tokenizer = likelihoods.tokenizer;
  const auto bytes_of = [&](TokenId id) {
    return tokenizer.has_token(id) ? tokenizer.token_bytes(id) : std::string();
  };
  Json tokens = Json::array(), of_tokens = Json::array(), tops = Json::array();
  Json offsets = Json::array();
  for (const ChosenToken& chosen : likelihoods.tokens) {
    const std::string bytes = bytes_of(chosen.token);
    tokens.push_back(bytes);
    of_tokens.push_back(chosen.log_probability);
    Json top = Json::object();
    for (const auto& [id, log_probability] : chosen.likeliest) top[bytes_of(id)] = log_probability;
    tops.push_back(std::move(top));
    offsets.push_back(offset);
    offset += bytes.size();
  }
  return Json{{"tokens", std::move(tokens)},
              {"token_logprobs", std::move(of_tokens)},
              {"top_logprobs", std::move(tops)},
              {"text_offset", std::move(offsets)}};
}

Json calls_of(const ReplyParts& parts, std::size_t first, bool with_index) {
  Json calls = Json::array();
  for (const ToolCall& call : parts.calls) {
    Json json;
    if (with_index) json["index"] = first++;
    json["id"] = random_id("call_");
    json["type"] = "function";
    json["function"] = Json{{"name", call.name}, {"arguments", call.arguments}};
    calls.push_back(std::move(json));
  }
  return calls;
}

Json message_of(const ReplyParts& parts) {
  Json message{{"role", "assistant"}};
  message["content"] = parts.content.empty() && !parts.calls.empty() ? Json() : Json(parts.content);
  if (!parts.reasoning.empty()) message["reasoning_content"] = parts.reasoning;
  if (!parts.calls.empty()) message["tool_calls"] = calls_of(parts, 0, false);
  return message;
}

Json chunk_of(const AnswerHead& head, std::size_t index, Json delta, Json likelihoods,
              const char* finish) {
  Json choice{{"index", index},
              {"delta", std::move(delta)},
              {"logprobs", std::move(likelihoods)},
              {"finish_reason", finish ? Json(finish) : Json()}};
  return object_of(head, "chat.completion.chunk", Json::array({std::move(choice)}));
}

}  // namespace

std::string random_id(std::string_view prefix) {
  std::random_device random;
  return fmt::format("{}{:08x}{:08x}{:08x}", prefix, random(), random(), random());
}

std::string chat_completion(const AnswerHead& head, std::span<const ChatChoice> choices,
                            const Usage& usage) {
  Json list = Json::array();
  for (const ChatChoice& choice : choices) {
    list.push_back(Json{{"index", list.size()},
                        {"message", message_of(choice.parts)},
                        {"logprobs", likelihoods_of_chat(choice.likelihoods)},
                        {"finish_reason", choice.finish}});
  }
  Json json = object_of(head, "chat.completion", std::move(list));
  json["usage"] = json_of(usage);
  return text_of(json);
}

std::string chat_role_chunk(const AnswerHead& head, std::size_t choice) {
  return text_of(chunk_of(head, choice, Json{{"role", "assistant"}, {"content", ""}}, {}, nullptr));
}

std::string chat_chunk(const AnswerHead& head, std::size_t choice, const ReplyParts& parts,
                       const Likelihoods& likelihoods, std::size_t first_call) {
  Json delta = Json::object();
  if (!parts.content.empty()) delta["content"] = parts.content;
  if (!parts.reasoning.empty()) delta["reasoning_content"] = parts.reasoning;
  if (!parts.calls.empty()) delta["tool_calls"] = calls_of(parts, first_call, true);
  return text_of(
      chunk_of(head, choice, std::move(delta), likelihoods_of_chat(likelihoods), nullptr));
}

std::string chat_end_chunk(const AnswerHead& head, std::size_t choice, const char* finish) {
  return text_of(chunk_of(head, choice, Json::object(), {}, finish));
}

std::string chat_usage_chunk(const AnswerHead& head, const Usage& usage) {
  Json json = object_of(head, "chat.completion.chunk", Json::array());
  json["usage"] = json_of(usage);
  return text_of(json);
}

std::string completion(const AnswerHead& head, std::size_t first,
                       std::span<const TextChoice> choices, const Usage* usage) {
  Json list = Json::array();
  for (const TextChoice& choice : choices) {
    list.push_back(Json{{"text", choice.text},
                        {"index", first++},
                        {"logprobs", likelihoods_of_text(choice.likelihoods, choice.offset)},
                        {"finish_reason", choice.finish ? Json(choice.finish) : Json()}});
  }
  Json json = object_of(head, "text_completion", std::move(list));
  if (usage) json["usage"] = json_of(*usage);
  return text_of(json);
}

std::string completion_usage(const AnswerHead& head, const Usage& usage) {
  Json json = object_of(head, "text_completion", Json::array());
  json["usage"] = json_of(usage);
  return text_of(json);
}

std::string embedding_list(const std::string& model, std::span<const std::vector<float>> vectors,
                           bool is_base64, std::int64_t tokens) {
  Json data = Json::array();
  for (const std::vector<float>& vector : vectors) {
    data.push_back(Json{{"object", "embedding"},
                        {"index", data.size()},
                        {"embedding", is_base64 ? Json(to_base64(std::as_bytes(std::span(vector))))
                                                : Json(vector)}});
  }
  return text_of(Json{{"object", "list"},
                      {"data", std::move(data)},
                      {"model", model},
                      {"usage", Json{{"prompt_tokens", tokens}, {"total_tokens", tokens}}}});
}

namespace {

Json json_of_model(const std::string& name, std::int64_t created, std::int64_t context) {
  return Json{{"id", name},
              {"object", "model"},
              {"created", created},
              {"owned_by", "croze"},
              {"context_length", context}};
}

}  // namespace

std::string model_object(const std::string& name, std::int64_t created, std::int64_t context) {
  return text_of(json_of_model(name, created, context));
}

std::string model_list(const std::string& name, std::int64_t created, std::int64_t context) {
  return text_of(
      Json{{"object", "list"}, {"data", Json::array({json_of_model(name, created, context)})}});
}

}  // namespace croze::llm::serve
