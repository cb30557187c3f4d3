// call_counts.h -- what a piece of code asks of the system: memory, locks, system calls.
//
// The program that links call_counts.cpp has functions of its own in the place of malloc, free and
// of those that lock, which count and call the ones of libc.  Sanitizers do the same; there nothing
// is counted.
#pragma once

#include <cstdint>

#include "croze/base/function_ref.h"

namespace croze::test {

struct CallCounts {
  std::int64_t allocations = 0;  // and what is freed
  std::int64_t locks = 0;        // of mutexes, read-write locks and spin locks, free or not
};

// Whether this program counts.
bool can_count_calls();

// What the function does on this thread.
CallCounts count_calls(function_ref<void()> function);

// How many system calls it makes, up to 200, in a child of this process in which the kernel stops
// them all.  -1: the system does not allow that.
int count_system_calls(function_ref<void()> function);

}  // namespace croze::test
