// What a terminal shows and what it would obey.
#include "croze/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace croze {
namespace {

// A character at the beginning of a text: its number and how many bytes it takes; one byte that is
// not UTF-8 has the number -1.
struct Character {
  int32_t number = -1;
  size_t bytes = 1;
};

Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  int32_t number = lead & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    number = number << 6 | (byte(i) & 0x3f);
  }
  constexpr int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = number >= 0xd800 && number <= 0xdfff;
  if (number < least[bytes] || number > 0x10ffff || is_surrogate) return {};
  return {number, bytes};
}

bool is_shown(int32_t number) {
  if (number == '\n' || number == '\t') return true;
  const bool is_control = number < 0x20 || (number >= 0x7f && number < 0xa0);
  const bool turns_direction = number == 0x200e || number == 0x200f ||
                               (number >= 0x202a && number <= 0x202e) ||
                               (number >= 0x2066 && number <= 0x2069);
  return !is_control && !turns_direction;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    if (is_shown(character.number)) {
      result += bytes;
    } else {
      for (char c : bytes) {
        fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    text.remove_prefix(bytes.size());
  }
  return result;
}

std::string shortened(std::string_view text) { return std::string(text.substr(0, 200)); }

}  // namespace croze
