// utf8_ranges.cpp -- a range is cut until the bytes of its ends differ only where all that lies
// between is meant: then each byte runs through a range of its own.
#include "croze/llm/grammar/utf8_ranges.h"

#include <algorithm>
#include <utility>

namespace croze::llm {
namespace {

using Range = std::pair<char32_t, char32_t>;

int encode(char32_t c, std::array<unsigned char, 4>& bytes) {
  const int length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  constexpr unsigned char marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (int i = length - 1; i > 0; i--) {
    bytes[static_cast<std::size_t>(i)] = static_cast<unsigned char>(0x80 | (c & 0x3F));
    c >>= 6;
  }
  bytes[0] = static_cast<unsigned char>(marks[length] | c);
  return length;
}

// Where to cut: the last character of the first part, or `last` for nowhere.
char32_t cut(char32_t first, char32_t last) {
  for (const char32_t end : {char32_t{0x7F}, char32_t{0x7FF}, char32_t{0xFFFF}}) {
    if (first <= end && end < last) return end;
  }
  if (last < 0x80) return last;
  for (int i = 1; i < 4; i++) {
    const char32_t low = (char32_t{1} << (6 * i)) - 1;
    if ((first & ~low) == (last & ~low)) continue;
    if ((first & low) != 0) return first | low;
    if ((last & low) != low) return (last & ~low) - 1;
  }
  return last;
}

}  // namespace

std::vector<ByteSequence> utf8_sequences(char32_t first, char32_t last) {
  std::vector<ByteSequence> result;
  std::vector<Range> pending;
  if (last > 0xDFFF && first <= last) pending.emplace_back(std::max(first, char32_t{0xE000}), last);
  if (first < 0xD800) pending.emplace_back(first, std::min(last, char32_t{0xD7FF}));
  while (!pending.empty()) {
    const auto [from, to] = pending.back();
    pending.pop_back();
    if (from > to) continue;
    if (const char32_t end = cut(from, to); end != to) {
      pending.emplace_back(end + 1, to);
      pending.emplace_back(from, end);
      continue;
    }
    std::array<unsigned char, 4> low = {}, high = {};
    ByteSequence sequence;
    sequence.length = encode(from, low);
    encode(to, high);
    for (std::size_t i = 0; i < 4; i++) sequence.bytes[i] = {low[i], high[i]};
    result.push_back(sequence);
  }
  return result;
}

}  // namespace croze::llm
