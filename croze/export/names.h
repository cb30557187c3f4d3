// names.h -- internal to export/: identifiers of C made from names that may hold anything.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace croze::plain_c {

// Whether the text can be the name of something in C and in C++.
bool is_identifier(std::string_view text);

// Identifiers that are told apart.
class Names {
 public:
  // What is taken already.
  void reserve(std::string name) { taken_.insert(std::move(name)); }
  // Like `wanted` as far as can be, and never given before.
  std::string unique(std::string_view wanted);

 private:
  std::set<std::string> taken_;
};

// A name as it may stand in a comment.
std::string in_comment(std::string_view name);
// "FASHION" of "fashion".
std::string upper(std::string_view name);

}  // namespace croze::plain_c
