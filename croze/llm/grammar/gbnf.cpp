// gbnf.cpp -- the notation of grammars; what is open, groups in groups, is a stack.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/printable.h"
#include "croze/llm/grammar/builder.h"
#include "croze/llm/grammar/grammar.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm {
namespace {

using Sequence = GrammarBuilder::Sequence;

constexpr std::size_t most_bytes = std::size_t{1} << 20;
constexpr std::size_t most_groups = 200;  // in each other

class GbnfParser {
 public:
  explicit GbnfParser(std::string_view text) : text_(text) {}

  Grammar parse() {
    check(text_.size() <= most_bytes, "grammar: a text of {} bytes", text_.size());
    check(is_valid_utf8(text_), "grammar: it is not UTF-8");
    for (skip_spaces(); !at_end(); skip_spaces()) parse_rule();
    return builder_.finish();
  }

 private:
  // A group, or the whole of a rule.
  struct Open {
    std::vector<Sequence> alternatives;
    Sequence sequence;
    std::optional<std::size_t> last;  // where the last item of the sequence begins
  };

  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool take(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  [[noreturn]] void refuse(const std::string& problem) const {
    const auto line =
        1 + std::count(text_.begin(),
                       text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())),
                       '\n');
    fail({}, "grammar, line {}: {}", line, problem);
  }

  void skip_spaces() {
    while (!at_end()) {
      if (peek() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::string_view(" \t\r\n").find(peek()) != std::string_view::npos) {
        at_++;
      } else {
        return;
      }
    }
  }

  static bool is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  }
  std::string_view name() {
    const std::size_t begin = at_;
    while (!at_end() && is_of_name(peek())) at_++;
    return text_.substr(begin, at_ - begin);
  }
  // Whether a rule begins here, which ends the one before.
  bool at_rule() {
    const std::size_t begin = at_;
    const bool result = !name().empty() && (skip_spaces(), take("::="));
    at_ = begin;
    return result;
  }

  void parse_rule() {
    const std::string rule(name());
    if (rule.empty()) refuse("the name of a rule is wanted");
    skip_spaces();
    if (!take("::=")) refuse(fmt::format("::= is wanted behind {}", shortened(rule)));
    open_.assign(1, {});
    for (skip_spaces(); !at_end() && !at_rule(); skip_spaces()) parse_item();
    if (open_.size() > 1) refuse("a group is not closed");
    end_alternative();
    builder_.define(builder_.rule(rule), std::move(open_.back().alternatives));
  }

  void end_alternative() {
    Open& open = open_.back();
    open.alternatives.push_back(std::exchange(open.sequence, {}));
    open.last.reset();
  }

  void add(Sequence item) {
    Open& open = open_.back();
    open.last = open.sequence.size();
    open.sequence.insert(open.sequence.end(), item.begin(), item.end());
  }

  void parse_item() {
    switch (peek()) {
      case '|': at_++; return end_alternative();
      case '(':
        at_++;
        if (open_.size() > most_groups) refuse("too many groups in groups");
        return void(open_.emplace_back());
      case ')': at_++; return close();
      case '"': at_++; return add(literal());
      case '[': at_++; return add({character_class()});
      case '.': at_++; return add({builder_.character({}, true)});
      case '*': at_++; return repeat(0, -1);
      case '+': at_++; return repeat(1, -1);
      case '?': at_++; return repeat(0, 1);
      case '{': at_++; return repeat_counted();
      default: break;
    }
    const std::string rule(name());
    if (rule.empty()) refuse(fmt::format("{} is not understood", shortened(text_.substr(at_, 20))));
    add({builder_.call(builder_.rule(rule))});
  }

  void close() {
    if (open_.size() < 2) refuse("a ) without its (");
    end_alternative();
    std::vector<Sequence> alternatives = std::move(open_.back().alternatives);
    open_.pop_back();
    add({builder_.call_new(std::move(alternatives))});
  }

  void repeat(std::int64_t least, std::int64_t most) {
    Open& open = open_.back();
    if (!open.last) refuse("nothing to repeat");
    const auto begin = open.sequence.begin() + static_cast<std::ptrdiff_t>(*open.last);
    const Sequence item(begin, open.sequence.end());
    open.sequence.erase(begin, open.sequence.end());
    add(builder_.repeated(item, least, most));
  }

  std::optional<std::int64_t> number() {
    if (peek() < '0' || peek() > '9') return std::nullopt;
    std::int64_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; at_++) {
      value = value * 10 + (peek() - '0');
      if (value > 1'000'000) refuse("a number that is too large");
    }
    return value;
  }

  void repeat_counted() {
    skip_spaces();
    const auto least = number();
    if (!least) refuse("a number is wanted behind {");
    skip_spaces();
    std::int64_t most = *least;
    if (take(",")) {
      skip_spaces();
      most = number().value_or(-1);
      skip_spaces();
    }
    if (!take("}")) refuse("a } is wanted");
    repeat(*least, most);
  }

  char32_t hexadecimal(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; i++, at_++) {
      const char c = peek();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) refuse(fmt::format("{} hexadecimal digits are wanted", digits));
      value = value * 16 + static_cast<char32_t>(digit);
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
      refuse("there is no such character");
    return value;
  }

  // A character of a text or a class; what follows a backslash is an escape.
  char32_t character() {
    if (at_end()) refuse("it ends in a text or a class");
    if (take("\\")) {
      const char c = peek();
      at_++;
      switch (c) {
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        case 'x': return hexadecimal(2);
        case 'u': return hexadecimal(4);
        case 'U': return hexadecimal(8);
        case '\\':
        case '"':
        case '[':
        case ']':
        case '^':
        case '-': return static_cast<char32_t>(c);
        default: refuse("an escape that there is not");
      }
    }
    return next_char(text_, at_);
  }

  Sequence literal() {
    Sequence sequence;
    while (!take("\"")) {
      // \xHH is a character, too: as UTF-8 it may take two bytes.
      std::string bytes;
      append_char(bytes, character());
      for (const char byte : bytes)
        sequence.push_back(builder_.byte(static_cast<unsigned char>(byte)));
    }
    return sequence;
  }

  Grammar::Instruction character_class() {
    const bool is_negated = take("^");
    std::vector<CharacterRange> ranges;
    while (!take("]")) {
      const char32_t first = character();
      char32_t last = first;
      if (peek() == '-' && !text_.substr(at_).starts_with("-]")) {
        at_++;
        last = character();
      }
      if (last < first) refuse("a range of characters that is the wrong way round");
      ranges.emplace_back(first, last);
    }
    if (ranges.empty()) refuse("a class without characters");
    return builder_.character(std::move(ranges), is_negated);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  GrammarBuilder builder_;
  std::vector<Open> open_;
};

}  // namespace

Grammar Grammar::parse(std::string_view text) { return GbnfParser(text).parse(); }

}  // namespace croze::llm
