// reading.h -- texts held against a grammar.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "croze/llm/grammar/grammar.h"
#include "croze/llm/grammar/matcher.h"

namespace croze::test {

// Whether the whole text is one of the grammar.
inline bool accepts(const llm::Grammar& grammar, std::string_view text) {
  llm::GrammarMatcher matcher(grammar);
  auto state = matcher.start();
  for (const char c : text)
    state = matcher.kept(matcher.next(state, static_cast<unsigned char>(c)));
  return state != llm::GrammarMatcher::dead && matcher.can_end(state);
}

inline bool accepts(std::string_view grammar, std::string_view text) {
  return accepts(llm::Grammar::parse(grammar), text);
}

// A random text of the grammar; the longer it gets, the more it wants to end.
inline std::string random_text(const llm::Grammar& grammar, unsigned seed) {
  std::mt19937 random(seed);
  llm::GrammarMatcher matcher(grammar);
  auto state = matcher.start();
  std::string text;
  while (!matcher.must_end(state)) {
    if (matcher.can_end(state) && random() % 8 == 0) break;
    std::vector<unsigned char> next;
    for (int b = 0; b < 256; b++) {
      const auto byte = static_cast<unsigned char>(b);
      if (matcher.next(state, byte) != llm::GrammarMatcher::dead) next.push_back(byte);
    }
    // What closes things is tried first once it is long.
    std::erase_if(next, [&](unsigned char b) {
      return text.size() > 60 && (b == ' ' || b == '\n' || b == '\t');
    });
    if (next.empty()) break;  // only spaces may follow
    unsigned char chosen = next[random() % next.size()];
    if (text.size() > 60) {
      for (const char wanted : {'"', '}', ']', '0', 't', ':', '1', 'r', 'u', 'e'}) {
        const auto byte = static_cast<unsigned char>(wanted);
        if (std::ranges::find(next, byte) != next.end()) {
          chosen = byte;
          break;
        }
      }
    }
    text += static_cast<char>(chosen);
    state = matcher.kept(matcher.next(state, chosen));
  }
  return text;
}

}  // namespace croze::test
