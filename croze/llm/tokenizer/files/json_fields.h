// json_fields.h -- the members of a JSON object, in the kinds that are asked for.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "croze/base/printable.h"

namespace croze::llm {

using JsonValue = nlohmann::json;

// Each function throws Error if the member is missing, which null is, too, or of another kind; but
// for those that say what there is otherwise.
class JsonFields {
 public:
  // `what` is what messages call the object, "the normalizer"; both outlive this.
  JsonFields(const JsonValue& object, std::string_view what);

  // Null if it is missing.
  const JsonValue* find(const char* name) const;
  const JsonValue& at(const char* name) const;

  const std::string& text(const char* name) const;
  std::string text_or(const char* name, std::string_view otherwise) const;
  bool flag_or(const char* name, bool otherwise) const;
  // Not negative.
  std::int64_t integer(const char* name) const;
  std::int64_t integer_or(const char* name, std::int64_t otherwise) const;
  const JsonValue& array(const char* name) const;
  const JsonValue& object(const char* name) const;

 private:
  [[noreturn]] void fail_kind(const char* name, const char* kind) const;

  const JsonValue& object_;
  std::string_view what_;
};

// The number of a token.  Throws Error if the value is none.
std::int32_t token_id_from(const JsonValue& value);

}  // namespace croze::llm
