// names.cpp -- letters, digits and underscores.
#include "croze/export/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace croze::plain_c {
namespace {

// The keywords of C11 and of C++20, and the macros of the headers that the written files include.
constexpr std::string_view reserved[] = {"alignas",
                                         "alignof",
                                         "and",
                                         "and_eq",
                                         "asm",
                                         "auto",
                                         "bitand",
                                         "bitor",
                                         "bool",
                                         "break",
                                         "case",
                                         "catch",
                                         "char",
                                         "char8_t",
                                         "char16_t",
                                         "char32_t",
                                         "class",
                                         "co_await",
                                         "co_return",
                                         "co_yield",
                                         "compl",
                                         "concept",
                                         "const",
                                         "const_cast",
                                         "consteval",
                                         "constexpr",
                                         "constinit",
                                         "continue",
                                         "decltype",
                                         "default",
                                         "delete",
                                         "do",
                                         "double",
                                         "dynamic_cast",
                                         "else",
                                         "enum",
                                         "explicit",
                                         "export",
                                         "extern",
                                         "false",
                                         "float",
                                         "for",
                                         "friend",
                                         "goto",
                                         "if",
                                         "inline",
                                         "int",
                                         "long",
                                         "mutable",
                                         "namespace",
                                         "new",
                                         "noexcept",
                                         "not",
                                         "not_eq",
                                         "nullptr",
                                         "operator",
                                         "or",
                                         "or_eq",
                                         "private",
                                         "protected",
                                         "public",
                                         "register",
                                         "reinterpret_cast",
                                         "requires",
                                         "restrict",
                                         "return",
                                         "short",
                                         "signed",
                                         "sizeof",
                                         "static",
                                         "static_assert",
                                         "static_cast",
                                         "struct",
                                         "switch",
                                         "template",
                                         "this",
                                         "thread_local",
                                         "throw",
                                         "true",
                                         "try",
                                         "typedef",
                                         "typeid",
                                         "typename",
                                         "typeof",
                                         "union",
                                         "unsigned",
                                         "using",
                                         "virtual",
                                         "void",
                                         "volatile",
                                         "wchar_t",
                                         "while",
                                         "xor",
                                         "xor_eq",
                                         "linux",
                                         "unix",
                                         "NULL",
                                         "NAN",
                                         "INFINITY",
                                         "HUGE_VAL",
                                         "offsetof",
                                         "signbit",
                                         "isnan",
                                         "isinf",
                                         "memcpy",
                                         "memset",
                                         "main",
                                         "errno",
                                         "stdin",
                                         "stdout",
                                         "stderr",
                                         "EOF",
                                         "BUFSIZ"};

bool is_reserved(std::string_view text) {
  return std::ranges::find(reserved, text) != std::end(reserved) || text.starts_with("croze_");
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, is_letter) && !is_reserved(text);
}

std::string Names::unique(std::string_view wanted) {
  std::string name;
  for (char c : wanted) name += is_letter(c) && static_cast<unsigned char>(c) < 128 ? c : '_';
  // Names that begin with an underscore belong to the compiler.
  name.erase(0, name.find_first_not_of('_'));
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name.insert(0, "x");
  if (is_reserved(name)) name = "the_" + name;
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

std::string upper(std::string_view name) {
  std::string text;
  for (char c : name) text += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace croze::plain_c
