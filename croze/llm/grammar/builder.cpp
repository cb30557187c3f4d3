#include "croze/llm/grammar/builder.h"

#include <algorithm>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/printable.h"
#include "croze/llm/grammar/utf8_ranges.h"

namespace croze::llm {
namespace {

using Kind = Grammar::Kind;

constexpr std::size_t most_instructions = 200'000;
constexpr std::int64_t most_repetitions = 2'000;

// Strongly connected parts of a graph, by Tarjan's algorithm with a stack of its own: the number of
// its part for each node.
class Parts {
 public:
  explicit Parts(const std::vector<std::vector<std::int32_t>>& edges)
      : edges_(edges), order_(edges.size(), -1), low_(edges.size()), part_(edges.size(), -1) {
    for (std::size_t i = 0; i < edges.size(); i++) {
      if (order_[i] < 0) visit(i);
    }
  }

  bool are_together(std::int32_t a, std::int32_t b) const {
    return part_[static_cast<std::size_t>(a)] == part_[static_cast<std::size_t>(b)];
  }

 private:
  struct Visit {
    std::size_t node, next;
  };

  void enter(std::size_t node) {
    order_[node] = low_[node] = count_++;
    open_.push_back(node);
    visits_.push_back({node, 0});
  }

  void visit(std::size_t root) {
    enter(root);
    while (!visits_.empty()) {
      const auto [node, next] = visits_.back();
      if (next < edges_[node].size()) {
        visits_.back().next++;
        const auto to = static_cast<std::size_t>(edges_[node][next]);
        if (order_[to] < 0) {
          enter(to);
        } else if (part_[to] < 0) {
          low_[node] = std::min(low_[node], order_[to]);
        }
      } else {
        leave(node);
      }
    }
  }

  void leave(std::size_t node) {
    visits_.pop_back();
    if (!visits_.empty()) {
      const std::size_t above = visits_.back().node;
      low_[above] = std::min(low_[above], low_[node]);
    }
    if (low_[node] != order_[node]) return;
    while (part_[node] < 0) {
      part_[open_.back()] = parts_;
      open_.pop_back();
    }
    parts_++;
  }

  const std::vector<std::vector<std::int32_t>>& edges_;
  std::vector<std::int32_t> order_, low_, part_;
  std::vector<std::size_t> open_;
  std::vector<Visit> visits_;
  std::int32_t count_ = 0, parts_ = 0;
};

}  // namespace

std::int32_t GrammarBuilder::new_rule(std::string name) {
  count(1);
  rules_.push_back({.name = std::move(name)});
  return static_cast<std::int32_t>(rules_.size() - 1);
}

std::int32_t GrammarBuilder::rule(const std::string& name) {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  return names_[name] = new_rule(name);
}

void GrammarBuilder::define(std::int32_t rule, std::vector<Sequence> alternatives) {
  Rule& r = rules_[static_cast<std::size_t>(rule)];
  check(!r.is_defined, "grammar: two rules are called {}", shortened(r.name));
  for (const Sequence& s : alternatives) count(s.size() + 1);
  r.is_defined = true;
  r.alternatives = std::move(alternatives);
}

void GrammarBuilder::count(std::size_t instructions) {
  size_ += instructions;
  check(size_ <= most_instructions, "grammar: it is too large");
}

Grammar::Instruction GrammarBuilder::call_new(std::vector<Sequence> alternatives) {
  const std::int32_t rule = new_rule({});
  define(rule, std::move(alternatives));
  return call(rule);
}

Grammar::Instruction GrammarBuilder::match(const ByteSet& set) {
  const auto [place, is_new] =
      sets_by_content_.emplace(set.to_string(), static_cast<std::int32_t>(sets_.size()));
  if (is_new) sets_.push_back(set);
  return {Kind::Match, place->second};
}

Grammar::Instruction GrammarBuilder::byte(unsigned char value) {
  return match(ByteSet().set(value));
}

Grammar::Instruction GrammarBuilder::character(std::vector<CharacterRange> ranges,
                                               bool is_negated) {
  std::ranges::sort(ranges);
  if (is_negated) {
    std::vector<CharacterRange> others;
    char32_t next = 0;
    for (const auto& [first, last] : ranges) {
      if (first > next) others.emplace_back(next, first - 1);
      next = std::max(next, static_cast<char32_t>(last + 1));
    }
    if (next <= 0x10FFFF) others.emplace_back(next, 0x10FFFF);
    ranges = std::move(others);
  }
  ByteSet ascii;
  std::vector<Sequence> alternatives;
  for (const auto& [first, last] : ranges) {
    for (const ByteSequence& bytes : utf8_sequences(first, last)) {
      Sequence sequence;
      for (int i = 0; i < bytes.length; i++) {
        ByteSet set;
        const auto [low, high] = bytes.bytes[static_cast<std::size_t>(i)];
        for (int b = low; b <= high; b++) set.set(static_cast<std::size_t>(b));
        if (bytes.length == 1) ascii |= set;
        sequence.push_back(match(set));
      }
      if (bytes.length > 1) alternatives.push_back(std::move(sequence));
    }
  }
  if (alternatives.empty()) return match(ascii);
  if (ascii.any()) alternatives.push_back({match(ascii)});
  return call_new(std::move(alternatives));
}

GrammarBuilder::Sequence GrammarBuilder::repeated(const Sequence& item, std::int64_t least,
                                                  std::int64_t most) {
  check(least <= most_repetitions && most <= most_repetitions,
        "grammar: a repetition of more than {} times", most_repetitions);
  check(most < 0 || least <= most, "grammar: {} to {} times", least, most);
  const Grammar::Instruction one = item.size() == 1 ? item[0] : call_new({item});
  Sequence result(static_cast<std::size_t>(least), one);
  if (most < 0) {
    const std::int32_t again = new_rule({});
    define(again, {{one, call(again)}, {}});
    result.push_back(call(again));
  } else if (most > least) {
    Grammar::Instruction rest = call_new({{one}, {}});
    for (std::int64_t i = least + 1; i < most; i++) rest = call_new({{one, rest}, {}});
    result.push_back(rest);
  }
  return result;
}

// Which rules are a text at all, or an empty one.  Each alternative counts its calls of rules that
// are not known to be; at none, its own rule is.
std::vector<char> GrammarBuilder::rules_that_end(bool without_bytes) const {
  struct Alternative {
    std::size_t rule, left;
  };
  std::vector<Alternative> alternatives;
  std::vector<std::vector<std::size_t>> users(rules_.size());
  std::vector<char> ends(rules_.size());
  std::vector<std::size_t> pending;
  const auto settle = [&](std::size_t rule) {
    if (!std::exchange(ends[rule], char{1})) pending.push_back(rule);
  };
  for (std::size_t i = 0; i < rules_.size(); i++) {
    for (const Sequence& s : rules_[i].alternatives) {
      const auto is_refused = [&](const Grammar::Instruction& x) {
        const auto operand = static_cast<std::size_t>(x.operand);
        return x.kind == Kind::Match && (without_bytes || sets_[operand].none());
      };
      if (std::ranges::any_of(s, is_refused)) continue;
      std::size_t calls = 0;
      for (const auto& x : s) {
        if (x.kind != Kind::Call) continue;
        users[static_cast<std::size_t>(x.operand)].push_back(alternatives.size());
        calls++;
      }
      alternatives.push_back({i, calls});
      if (calls == 0) settle(i);
    }
  }
  while (!pending.empty()) {
    const std::size_t rule = pending.back();
    pending.pop_back();
    for (const std::size_t user : users[rule]) {
      if (--alternatives[user].left == 0) settle(alternatives[user].rule);
    }
  }
  return ends;
}

// A call that comes first, behind what can be empty, leads to a rule without a byte between.  On a
// way back to itself the stack would grow for ever, unless all calls on it are the last of theirs.
void GrammarBuilder::check_left_recursion() const {
  const std::vector<char> is_empty = rules_that_end(true);
  const auto can_be_empty = [&](const Grammar::Instruction& i) {
    return is_empty[static_cast<std::size_t>(i.operand)] != 0;
  };
  std::vector<std::vector<std::int32_t>> first_calls(rules_.size());
  std::vector<std::vector<std::int32_t>> growing(rules_.size());
  for (std::size_t i = 0; i < rules_.size(); i++) {
    for (const Sequence& s : rules_[i].alternatives) {
      for (std::size_t k = 0; k < s.size() && s[k].kind == Kind::Call; k++) {
        first_calls[i].push_back(s[k].operand);
        if (k + 1 < s.size()) growing[i].push_back(s[k].operand);
        if (!can_be_empty(s[k])) break;
      }
    }
  }
  const Parts parts(first_calls);
  for (std::size_t i = 0; i < rules_.size(); i++) {
    for (const std::int32_t to : growing[i]) {
      const std::string& name = rules_[static_cast<std::size_t>(to)].name;
      check(!parts.are_together(static_cast<std::int32_t>(i), to),
            "grammar: the rule {} begins with itself (left recursion)",
            name.empty() ? "of a group" : shortened(name));
    }
  }
}

Grammar GrammarBuilder::finish() {
  const auto root = names_.find("root");
  check(root != names_.end(), "grammar: there is no rule \"root\"");
  for (const Rule& r : rules_) {
    check(r.is_defined, "grammar: there is no rule {}", shortened(r.name));
  }
  check_left_recursion();
  check(rules_that_end(false)[static_cast<std::size_t>(root->second)] != 0,
        "grammar: no text is one of it");
  Grammar grammar;
  grammar.root_ = root->second;
  grammar.sets_ = std::move(sets_);
  for (const Rule& r : rules_) {
    std::vector<std::int32_t> begins;
    for (const Sequence& s : r.alternatives) {
      begins.push_back(static_cast<std::int32_t>(grammar.code_.size()));
      grammar.code_.insert(grammar.code_.end(), s.begin(), s.end());
      grammar.code_.push_back({Kind::Return, 0});
    }
    grammar.rules_.push_back(std::move(begins));
  }
  return grammar;
}

}  // namespace croze::llm
