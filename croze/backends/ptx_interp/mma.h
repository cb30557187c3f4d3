// mma.h -- mma.sync: what the 32 threads of a warp compute together.
//
// Where a thread has which element is said here once more, after the figures of the manual ("Matrix
// Fragments for mma"), so that tests of what the compiler makes of its own records have something
// to be compared with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "croze/graph/dtype.h"

namespace croze::ptx_interp {

inline constexpr std::int64_t warp_items = 32;

struct Mma {
  std::int64_t rows = 0, columns = 0, depth = 0;
  DType a = DType::Void, b = DType::Void, sums = DType::Void;
  bool is_tf32 = false;  // of factors the ten highest bits behind the point are seen

  // Registers of a thread.
  std::int64_t a_registers() const { return registers_of(rows * depth, a); }
  std::int64_t b_registers() const { return registers_of(columns * depth, b); }
  std::int64_t sum_registers() const { return rows * columns / warp_items; }

 private:
  static std::int64_t registers_of(std::int64_t elements, DType t) {
    return elements * size_of(t) / std::max<std::int64_t>(4, size_of(t)) / warp_items;
  }
};

// Of "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"; nothing for a name that there is not.
std::optional<Mma> find_mma(std::string_view name);

// A sum, as bits, with the products of so many terms.  The manual leaves open in which order floats
// are added and how sums are rounded on the way: here those of Float32 are rounded once.
std::uint64_t sum_of(DType t, std::uint64_t sum, std::span<const double> a,
                     std::span<const double> b);

// The bits of the registers of all threads, those of a thread side by side; `sums` become the
// results.
void multiply(const Mma& mma, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
              std::span<std::uint64_t> sums);

}  // namespace croze::ptx_interp
