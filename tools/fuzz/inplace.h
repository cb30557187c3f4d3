// inplace.h -- programs of views, assignments and captured steps on tensors, compared with storages
// and strides, and gradients taken when they have ended.
//
// A program is a list of steps rather than calls, so that it can be run twice: on tensors, and on a
// direct evaluator in which a tensor is a place in an array, as in PyTorch (place.h).  A step names
// its operands by the steps that made them; one whose operand is not there, or whose arguments do
// not fit it, does nothing.  So any part of a program is a program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/campaign.h"

namespace croze::fuzz {

struct InplaceStep {
  int kind = -1;       // row of inplace_steps(); -1: none
  int x = -1, y = -1;  // operands
  std::vector<std::int64_t> arg;
};
using InplaceProgram = std::vector<InplaceStep>;

// The program of a seed: the same on every machine.
InplaceProgram random_inplace_program(std::uint64_t seed);

// What is wrong with the tensors that there are after the last step, or nothing.  Runs on INTERP.
std::string check_inplace(const InplaceProgram& program);

// Leaves out steps for as long as `run` says that it is wrong.
InplaceProgram minimised(InplaceProgram program,
                         const std::function<std::string(const InplaceProgram&)>& run);

// The body of a test that uses expect_numbers (tests/support/check.h).
std::string cpp_of(const InplaceProgram& program);

// The case of a seed.
std::optional<Mismatch> inplace_case(std::uint64_t seed, Counts& counts);

}  // namespace croze::fuzz
