// matcher.h -- reads bytes by a grammar, in all ways at once.
//
// A way through a grammar is a place in its code and the stack of places to return to.  Stacks
// share their lower parts and equal ones are one, so a way is a number, a state is a set of ways,
// and equal states are one, too: what follows a state by a byte is worked out once and looked up
// afterwards, as a deterministic automaton that is made while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "croze/llm/grammar/grammar.h"

namespace croze::llm {

class GrammarMatcher {
 public:
  using State = std::int32_t;
  static constexpr State dead = 0;  // no way is left

  // The grammar must outlive it.
  explicit GrammarMatcher(const Grammar& grammar);

  State start() const { return start_; }
  // The state behind a byte.  Throws Error if there are too many ways: the grammar is too
  // ambiguous.
  State next(State state, unsigned char byte);
  // Whether a text may end here, and whether it has to.
  bool can_end(State state) const { return ways_of(state).can_end; }
  bool must_end(State state) const { return can_end(state) && ways_of(state).ways.empty(); }

  // To be called behind each token.  Time and memory are bounded: next() has so much work to do
  // from one call of this to the next, and when there are many states, forgets all but this one,
  // which may get another number.  Numbers of states from before have no meaning then; `generation`
  // tells.
  State kept(State state);
  std::int64_t generation() const { return generation_; }

 private:
  using Way = std::int32_t;
  static constexpr Way no_way = -1;
  struct Node {
    std::int32_t place;  // in the code
    Way above;           // where to return to; no_way: behind the root
  };
  struct Ways {
    std::vector<Way> ways;  // at instructions that match, in order
    bool can_end = false;
    std::array<State, 256> next;
  };

  const Ways& ways_of(State state) const { return states_[static_cast<std::size_t>(state)]; }
  Way way(std::int32_t place, Way above);
  State state_of(std::vector<Node> ways);
  State add_state(std::vector<Way> ways, bool can_end);
  void clear();

  const Grammar& grammar_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, Way> known_ways_;
  std::vector<Ways> states_;
  std::map<std::pair<std::vector<Way>, bool>, State> known_states_;
  std::vector<std::int64_t> seen_;  // by way: the state for which it was looked at last
  std::int64_t looks_ = 0;
  std::size_t work_ = 0;
  State start_ = dead;
  std::int64_t generation_ = 0;
};

}  // namespace croze::llm
