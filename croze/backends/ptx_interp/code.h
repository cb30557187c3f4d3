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
#include "croze/backends/ptx_interp/wgmma.h"

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
  std::int32_t registers[5] = {-1, -1, -1, -1, -1};
  std::int32_t target = -1;  // of a branch; of a step of a warp its number
  std::int64_t offset = 0;   // of an address
  // The same of where a copy comes from; of how many batches are left; of a barrier a number.
  std::int64_t second = 0;
};

// What all items of a warp do together.
struct WarpStep {
  std::vector<std::int32_t> result, a, b, sums;  // slots
  std::optional<Mma> mma;  // else, but for ldmatrix, a shuffle: item k gets `a` of item k ^ bit
  std::int64_t bit = 0;
  bool is_ballot = false;          // of `a`, a predicate
  std::optional<bool> transposed;  // ldmatrix: each item gives the place of a row
  // Of four warps: products that go on, of factors whose descriptors are `a` and `b`; or how many
  // batches of them are not awaited; else the end of a batch.
  std::optional<Wgmma> wgmma;
  std::optional<std::size_t> batches_left;
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
  std::vector<std::int64_t> shared_places;  // where they are in the memory of the group
  std::int64_t shared_bytes = 0;
  // As the kernel sees it: the lowest bits are the place in the memory of the group.
  std::uint64_t address_of_shared(std::size_t number) const;
  bool has_barriers = false;
  bool has_warpgroups = false;  // units that go on while items do
  bool has_boxes = false;       // copies that no item makes
};

// Throws Error, naming the line, for an instruction that there is not, and for operands that it
// does not take.
Code decode(const Module& module);

}  // namespace croze::ptx_interp
