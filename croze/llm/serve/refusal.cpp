#include "croze/llm/serve/refusal.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace croze::llm::serve {
namespace {

const char* type_of(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 429: return "rate_limit_error";
    case 503: return "service_unavailable_error";
    default: return status < 500 ? "invalid_request_error" : "server_error";
  }
}

}  // namespace

Refusal::Refusal(int status, const std::string& message, std::string field, std::string code)
    : Error(message), status_(status), field_(std::move(field)), code_(std::move(code)) {}

std::string error_body(int status, std::string_view message, std::string_view field,
                       std::string_view code) {
  using Json = nlohmann::ordered_json;
  const auto text_or_null = [](std::string_view text) {
    return text.empty() ? Json() : Json(text);
  };
  const Json body{{"error", Json{{"message", message},
                                 {"type", type_of(status)},
                                 {"param", text_or_null(field)},
                                 {"code", text_or_null(code)}}}};
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string error_body(const Refusal& refusal) {
  return error_body(refusal.status(), refusal.message(), refusal.field(), refusal.code());
}

}  // namespace croze::llm::serve
