// cases.h -- kernels of open sizes under random edits.
#pragma once

#include <optional>

#include "croze/device/device.h"
#include "fuzz/campaign.h"

namespace croze::fuzz {

// Sequences of edits of one kernel of open_forms(), with bounds of its sizes drawn at random: what
// is compiled is run at several sizes and compared with plain loops.
std::optional<Mismatch> open_edits_case(Device& device, const char* machine, std::uint64_t seed,
                                        std::uint64_t sequences, Counts& counts);

}  // namespace croze::fuzz
