// kernels.h -- kernels under random edits, on machines of every shape.
#pragma once

#include <optional>

#include "device/device.h"
#include "fuzz/campaign.h"

namespace croze::fuzz {

// The case of a seed: a program of a few ops, scheduled for a machine with scalars only, with lanes
// and tasks, with groups of items, or with few ops; its kernels edited at random, run by the
// interpreter, which checks every access, and compared with the reference evaluator.
std::optional<Mismatch> kernels_case(std::uint64_t seed, Counts& counts);

// The same on a device of the table.
std::optional<Mismatch> kernels_case_on(Device& device, std::uint64_t seed, Counts& counts);

}  // namespace croze::fuzz
