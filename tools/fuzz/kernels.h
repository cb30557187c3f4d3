// kernels.h -- kernels under random edits, on machines of every shape.
#pragma once

#include <optional>

#include "croze/device/device.h"
#include "fuzz/campaign.h"

namespace croze::fuzz {

// The case of a seed: a program of a few ops, scheduled for a machine with scalars only, with lanes
// and tasks, with groups of items, or with few ops; its kernels edited at random, run by the
// interpreter, which checks every access, and compared with the reference evaluator.
std::optional<Mismatch> kernels_case(std::uint64_t seed, Counts& counts);

// Many sequences of edits of one small program, on a machine of each shape: legal edits leave what
// its kernels compute, others are refused, and the printed list of a sequence, read back and made
// again, gives the same program.
std::optional<Mismatch> edits_case(std::uint64_t seed, Counts& counts);

// The first on a device of the table.
std::optional<Mismatch> kernels_case_on(Device& device, std::uint64_t seed, Counts& counts);

}  // namespace croze::fuzz
