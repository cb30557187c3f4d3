// random_state.h -- where the draws of random numbers stand.
#pragma once

#include <cstdint>

namespace croze {

// Two numbers, which a checkpoint can keep.
struct RandomState {
  std::uint64_t seed = 0;
  std::uint64_t draws = 0;  // made since the seed was set; a replay of a captured step counts too

  bool operator==(const RandomState&) const = default;
};

// Setting what was read before makes everything drawn afterwards, by captured steps too, the same
// as it was then, to the last bit.  What was recorded earlier keeps its numbers.  Both may be
// called from several threads.
RandomState random_state();
void set_random_state(const RandomState& state);

}  // namespace croze
