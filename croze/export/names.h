// names.h -- internal to export/: identifiers made from names that may hold anything.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace croze::exporting {

// What cannot be a name in the language of an export: its keywords, and what its headers define.
using ReservedWords = std::span<const std::string_view>;

// Whether the text, of letters, digits and underscores, can be the name of something.
bool is_identifier(std::string_view text, ReservedWords reserved);

// Identifiers that are told apart.
class Names {
 public:
  explicit Names(ReservedWords reserved) : reserved_(reserved) {}

  // What is taken already.
  void reserve(std::string name) { taken_.insert(std::move(name)); }
  // Like `wanted` as far as can be, and never given before.
  std::string unique(std::string_view wanted);

 private:
  ReservedWords reserved_;
  std::set<std::string> taken_;
};

// A name as it may stand in a comment.
std::string in_comment(std::string_view name);

}  // namespace croze::exporting
