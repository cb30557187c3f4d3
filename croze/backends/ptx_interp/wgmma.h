// wgmma.h -- wgmma.mma_async: what the 128 threads of four warps have multiplied, of factors in
// shared memory.
//
// How descriptors are read, where elements lie in shared memory and which sums a thread has is said
// here once more, after the manual ("Matrix Descriptor Format", "Canonical Layouts", "Register
// Fragments"), so that tests of what the compiler makes of its own records have something to be
// compared with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "croze/graph/dtype.h"

namespace croze::ptx_interp {

inline constexpr std::int64_t warpgroup_items = 128;

struct Wgmma {
  static constexpr std::int64_t rows = 64;

  std::int64_t columns = 0, depth = 0;
  DType a = DType::Void, b = DType::Void, sums = DType::Void;
  bool a_by_lines = false, b_by_lines = false;  // "transposed": what lies side by side is no terms

  std::int64_t sum_registers() const { return rows * columns / warpgroup_items; }
  // Numbers behind the descriptors.
  int modifiers() const { return !is_float(a) ? 1 : size_of(a) == 1 ? 3 : 5; }
};

// Of "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"; nothing for a name that there is not.
std::optional<Wgmma> find_wgmma(std::string_view name);

// A factor in shared memory.
struct MatrixDescriptor {
  std::int64_t start = 0, leading = 0, stride = 0;  // bytes
  int base_offset = 0, swizzle = 0;

  explicit MatrixDescriptor(std::uint64_t bits);
  // What is wrong with it; empty if nothing is.  Only 128-byte swizzling is known.
  std::string_view refusal() const;
  // The byte at which an element stands.
  std::int64_t place(bool by_lines, DType t, std::int64_t line, std::int64_t term) const;
};

// Which sum register number `i` of a thread is.
struct SumPlace {
  std::int64_t row, column;
};
SumPlace sum_place(std::int64_t thread, std::int64_t i);

}  // namespace croze::ptx_interp
