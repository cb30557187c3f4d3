// code.h -- a PTX module decoded for interpretation: a flat list of steps over numbered slots.
//
// A slot holds the bits of one register, constant, parameter or special register; a step has the
// function that does it.  What depends on the text is found out once, and nothing is looked up by
// name while it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "croze/backends/ptx_interp/mma.h"
#include "croze/backends/ptx_interp/module.h"

namespace croze::ptx_interp {

class Item;
struct Step;
using Handler = void (*)(Item& item, const Step& step);

enum class Rounding : std::uint8_t {
  None,           // exact, or wrapping
  Nearest,        // .rn
  Zero,           // .rz
  IntegerToZero,  // .rzi
};

struct Step {
  Handler run = nullptr;
  std::int32_t guard = -1;  // the slot of a predicate
  bool negated = false;
  std::uint8_t count = 1;  // of registers that are loaded or stored
  Type type = Type::Pred;  // of a conversion's result
  Type from = Type::Pred;  // .. and of its operand
  Rounding rounding = Rounding::None;
  std::int32_t line = 0;
  std::int32_t result = -1;
  std::int32_t in[3] = {-1, -1, -1};
  std::int32_t registers[4] = {-1, -1, -1, -1};
  std::int32_t target = -1;  // of a branch; of a step of a warp its number
  std::int64_t offset = 0;   // of an address
  std::int64_t second = 0;   // the same of where a copy comes from; of how many batches are left
};

// What all items of a warp do together.
struct WarpStep {
  std::vector<std::int32_t> result, a, b, sums;  // slots
  std::optional<Mma> mma;  // else, but for ldmatrix, a shuffle: item k gets `a` of item k ^ bit
  std::int64_t bit = 0;
  std::optional<bool> transposed;  // ldmatrix: each item gives the place of a row
};

// A slot that a launch fills in.
struct Input {
  enum class Kind : std::uint8_t { Parameter, Item, Group, GroupSize, Groups };
  Kind kind;
  std::int32_t number;  // of the parameter, or the axis
  std::int32_t slot;
};

struct Code {
  std::string entry;
  std::int64_t items[3] = {0, 0, 0};
  std::int32_t num_parameters = 0;
  std::vector<Step> steps;
  std::vector<WarpStep> warp_steps;
  std::vector<std::uint64_t> frame;  // the slots at the start: constants are in place
  std::vector<Input> inputs;
  std::vector<std::int64_t> shared, local;  // bytes of the arrays
  bool has_barriers = false;
};

// Throws Error, naming the line, for an instruction that there is not, and for operands that it
// does not take.
Code decode(const Module& module);

}  // namespace croze::ptx_interp
