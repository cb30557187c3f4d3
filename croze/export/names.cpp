// names.cpp -- letters, digits and underscores.
#include "croze/export/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace croze::exporting {
namespace {

// What begins with croze_ belongs to the text of the export.
bool is_reserved(std::string_view text, ReservedWords reserved) {
  return std::ranges::find(reserved, text) != reserved.end() || text.starts_with("croze_");
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

bool is_identifier(std::string_view text, ReservedWords reserved) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, is_letter) && !is_reserved(text, reserved);
}

std::string Names::unique(std::string_view wanted) {
  std::string name;
  for (char c : wanted) name += is_letter(c) && static_cast<unsigned char>(c) < 128 ? c : '_';
  // Names that begin with an underscore belong to the compiler.
  name.erase(0, name.find_first_not_of('_'));
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name.insert(0, "x");
  if (is_reserved(name, reserved_)) name = "the_" + name;
  std::string candidate = name;
  for (int i = 2; !taken_.insert(candidate).second; i++) candidate = fmt::format("{}_{}", name, i);
  return candidate;
}

std::string in_comment(std::string_view name) {
  std::string text;
  for (char c : name) {
    const bool plain = is_letter(c) || std::string_view(" .:/-").find(c) != std::string_view::npos;
    text += plain ? c : '_';
  }
  return text;
}

}  // namespace croze::exporting
