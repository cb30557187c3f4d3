// opened.h -- kernels of constant sizes, some of which are made open.
#pragma once

#include <cstdint>

#include "croze/schedule/schedule.h"

namespace croze::fuzz {

// Exchanges sizes of the schedule's kernels, as the seed has it, for expressions of Variables that
// are worth as much when it is run: loops of one size turn alike still.  What it computes stays,
// but it is compiled for fewer turns, too.  The nests of sequences stay as they are.
void open_sizes(Schedule& schedule, std::uint64_t seed);

}  // namespace croze::fuzz
