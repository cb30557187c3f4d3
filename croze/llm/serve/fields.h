// fields.h -- reads the members of a request, each with its bounds; what is wrong is named.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "croze/llm/template/dict.h"
#include "croze/llm/template/value.h"

namespace croze::llm::serve {

// An object of JSON.  Members that are null count as missing.  All functions throw Refusal (400)
// naming the member if it is of another kind or out of its range.
class Fields {
 public:
  // `where` is what members are called by, "response_format." say.
  explicit Fields(const jinja::Value& object, std::string where = {});
  // The text of a request.
  static Fields parse(std::string_view json);

  // Null if it is missing.
  const jinja::Value* find(std::string_view name) const;
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t lowest,
                                      std::int64_t highest) const;
  std::optional<double> number(std::string_view name, double lowest, double highest) const;
  bool flag(std::string_view name, bool otherwise = false) const;
  std::optional<std::string> text(std::string_view name) const;
  std::string required_text(std::string_view name) const;
  // A text, or a list of at most `most` texts.
  std::vector<std::string> texts(std::string_view name, std::size_t most) const;
  const jinja::Sequence* list(std::string_view name) const;
  std::optional<Fields> object(std::string_view name) const;

  // Nothing is done with these, and they may be there.
  void ignore(std::span<const std::string_view> names) const;
  // Throws Refusal for a member that nobody has asked for.
  void check_all_known() const;

  const jinja::Value& value() const { return object_; }
  std::string path(std::string_view name) const;
  [[noreturn]] void refuse(std::string_view name, const std::string& problem) const;

 private:
  jinja::Value object_;
  std::string where_;
  mutable std::unordered_set<std::string> known_;
};

}  // namespace croze::llm::serve
