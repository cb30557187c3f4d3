// grammar.h -- a context-free grammar over bytes, from the notation GBNF of llama.cpp.
//
//     root   ::= answer ("," " "? answer)*
//     answer ::= "yes" | "no" | [0-9]+ | "\"" [^"]{1,20} "\""
//
// Texts in quotes, classes of characters, `.` for any, groups, `* + ? {n} {n,} {n,m}`, comments
// behind `#`; the escapes are \n \r \t \\ \" \[ \] \xHH \uHHHH \UHHHHHHHH.  "root" is what a text
// has to be.  Characters are written in UTF-8.
//
// Rules are programs of three instructions: to match one byte of a set, to call a rule, to return
// from one.  A class beyond ASCII becomes a rule over sequences of bytes, and a repetition a rule
// that calls itself last, which needs no stack.
#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

namespace croze::llm {

using ByteSet = std::bitset<256>;

class Grammar {
 public:
  enum class Kind : std::uint8_t { Match, Call, Return };
  struct Instruction {
    Kind kind = Kind::Return;
    std::int32_t operand = 0;  // a set of bytes, or a rule
  };

  // Throws Error naming the line for what is no GBNF, a rule that is missing, one that calls itself
  // first (left recursion), and for a grammar that is too large.
  static Grammar parse(std::string_view text);

  std::int32_t root() const { return root_; }
  const Instruction& at(std::int32_t place) const { return code_[static_cast<std::size_t>(place)]; }
  const ByteSet& set(std::int32_t index) const { return sets_[static_cast<std::size_t>(index)]; }
  // Where the alternatives of a rule begin.
  const std::vector<std::int32_t>& alternatives(std::int32_t rule) const {
    return rules_[static_cast<std::size_t>(rule)];
  }

 private:
  friend class GrammarBuilder;

  std::int32_t root_ = 0;
  std::vector<Instruction> code_;
  std::vector<ByteSet> sets_;
  std::vector<std::vector<std::int32_t>> rules_;
};

}  // namespace croze::llm
