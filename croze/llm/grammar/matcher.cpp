#include "croze/llm/grammar/matcher.h"

#include <algorithm>
#include <utility>

#include "croze/base/error.h"

namespace croze::llm {
namespace {

constexpr std::size_t most_ways = 20'000;     // looked at for one state
constexpr std::size_t most_work = 3'000'000;  // the same for all states of a token
constexpr std::size_t many_states = 4'000;    // when those of before are forgotten
constexpr std::size_t most_states = 16'000;   // 1 kB each
constexpr std::size_t many_nodes = 500'000;
constexpr std::size_t most_nodes = 4'000'000;
constexpr GrammarMatcher::State unknown = -1;

}  // namespace

GrammarMatcher::GrammarMatcher(const Grammar& grammar) : grammar_(grammar) {
  clear();
  std::vector<Node> ways;
  for (const std::int32_t begin : grammar.alternatives(grammar.root())) {
    ways.push_back({begin, no_way});
  }
  start_ = state_of(std::move(ways));
}

void GrammarMatcher::clear() {
  nodes_.clear();
  known_ways_.clear();
  states_.clear();
  known_states_.clear();
  seen_.clear();
  add_state({}, false);
  states_[dead].next.fill(dead);
}

GrammarMatcher::Way GrammarMatcher::way(std::int32_t place, Way above) {
  const auto key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(place)) << 32 |
                   static_cast<std::uint32_t>(above);
  const auto [found, is_new] = known_ways_.emplace(key, static_cast<Way>(nodes_.size()));
  if (is_new) {
    check(nodes_.size() < most_nodes, "grammar: it nests too deep here");
    nodes_.push_back({place, above});
    seen_.push_back(-1);
  }
  return found->second;
}

GrammarMatcher::State GrammarMatcher::add_state(std::vector<Way> ways, bool can_end) {
  const auto [found, is_new] = known_states_.emplace(std::pair(std::move(ways), can_end),
                                                     static_cast<State>(states_.size()));
  if (is_new) {
    check(states_.size() < most_states, "grammar: it has too many states here");
    states_.push_back({.ways = found->first.first, .can_end = can_end, .next = {}});
    states_.back().next.fill(unknown);
  }
  return found->second;
}

// Follows calls and returns until each way stands before a byte.
GrammarMatcher::State GrammarMatcher::state_of(std::vector<Node> pending) {
  using Kind = Grammar::Kind;
  std::vector<Way> ways;
  bool can_end = false;
  std::size_t looked_at = 0;
  looks_++;
  while (!pending.empty()) {
    const auto [place, above] = pending.back();
    pending.pop_back();
    const Way here = way(place, above);
    if (std::exchange(seen_[static_cast<std::size_t>(here)], looks_) == looks_) continue;
    check(++looked_at <= most_ways && ++work_ <= most_work, "grammar: it is too ambiguous");
    const Grammar::Instruction instruction = grammar_.at(place);
    if (instruction.kind == Kind::Match) {
      ways.push_back(here);
    } else if (instruction.kind == Kind::Call) {
      // A call that is the last of its rule returns to where that rule returns.
      const bool is_last = grammar_.at(place + 1).kind == Kind::Return;
      const Way then = is_last ? above : way(place + 1, above);
      for (const std::int32_t begin : grammar_.alternatives(instruction.operand)) {
        pending.push_back({begin, then});
      }
    } else if (above == no_way) {
      can_end = true;
    } else {
      pending.push_back(nodes_[static_cast<std::size_t>(above)]);
    }
  }
  std::ranges::sort(ways);
  return ways.empty() && !can_end ? dead : add_state(std::move(ways), can_end);
}

GrammarMatcher::State GrammarMatcher::next(State state, unsigned char byte) {
  const State known = ways_of(state).next[byte];
  if (known != unknown) return known;
  std::vector<Node> behind;
  for (const Way w : ways_of(state).ways) {
    const auto [place, above] = nodes_[static_cast<std::size_t>(w)];
    if (grammar_.set(grammar_.at(place).operand).test(byte)) behind.push_back({place + 1, above});
  }
  const State result = state_of(std::move(behind));
  states_[static_cast<std::size_t>(state)].next[byte] = result;
  return result;
}

GrammarMatcher::State GrammarMatcher::kept(State state) {
  work_ = 0;
  if (states_.size() < many_states && nodes_.size() < many_nodes) return state;
  // What is reached from the state, parents first, moves to the front of new tables.
  std::vector<Way> needed;
  std::vector<Way> moved(nodes_.size(), no_way);
  const Ways old = ways_of(state);
  for (const Way w : old.ways) {
    for (Way i = w; i != no_way && moved[static_cast<std::size_t>(i)] == no_way;
         i = nodes_[static_cast<std::size_t>(i)].above) {
      moved[static_cast<std::size_t>(i)] = 0;
      needed.push_back(i);
    }
  }
  const std::vector<Node> before = nodes_;
  clear();
  generation_++;
  // A way is made behind those that it returns to, so these have smaller numbers.
  std::ranges::sort(needed);
  for (const Way i : needed) {
    const auto [place, above] = before[static_cast<std::size_t>(i)];
    moved[static_cast<std::size_t>(i)] =
        way(place, above == no_way ? no_way : moved[static_cast<std::size_t>(above)]);
  }
  std::vector<Way> ways;
  for (const Way w : old.ways) ways.push_back(moved[static_cast<std::size_t>(w)]);
  std::ranges::sort(ways);
  return add_state(std::move(ways), old.can_end);
}

}  // namespace croze::llm
