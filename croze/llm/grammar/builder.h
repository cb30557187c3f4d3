// builder.h -- puts a grammar together: sequences, alternatives, classes, repetitions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "croze/llm/grammar/grammar.h"

namespace croze::llm {

// Characters from one to another, both included.
using CharacterRange = std::pair<char32_t, char32_t>;

class GrammarBuilder {
 public:
  using Sequence = std::vector<Grammar::Instruction>;

  // The rule of a name, which may get its alternatives later.
  std::int32_t rule(const std::string& name);
  // Throws Error if it has some.
  void define(std::int32_t rule, std::vector<Sequence> alternatives);

  Grammar::Instruction call(std::int32_t rule) const { return {Grammar::Kind::Call, rule}; }
  Grammar::Instruction call_new(std::vector<Sequence> alternatives);
  Grammar::Instruction byte(unsigned char value);
  // One character of these ranges, or of none of them.
  Grammar::Instruction character(std::vector<CharacterRange> ranges, bool is_negated);
  // `least` to `most` times; a negative `most` is any number.
  Sequence repeated(const Sequence& item, std::int64_t least, std::int64_t most);

  // Throws Error as Grammar::parse does.
  Grammar finish();

 private:
  Grammar::Instruction match(const ByteSet& set);
  std::int32_t new_rule(std::string name);
  void count(std::size_t instructions);
  std::vector<char> rules_that_end(bool without_bytes) const;
  void check_left_recursion() const;

  struct Rule {
    std::string name;  // empty: of the builder's own
    bool is_defined = false;
    std::vector<Sequence> alternatives;
  };

  std::vector<Rule> rules_;
  std::map<std::string, std::int32_t> names_;
  std::vector<ByteSet> sets_;
  std::map<std::string, std::int32_t> sets_by_content_;
  std::size_t size_ = 0;
};

}  // namespace croze::llm
