// cooperative_units.cpp -- Vulkan's extension VK_KHR_cooperative_matrix.
//
// A driver says which shapes and dtypes it has, and everything else it keeps to itself: which
// elements of a matrix an item has is nobody's business.  So factors are read from group memory, as
// plain rows, and sums are the unit's until they are awaited; then they go through group memory,
// and which of them an item gets from there is ours to say: neighbours get neighbouring columns,
// which they store side by side.
//
// A turn of a loop costs the group two meetings, so a unit takes as many terms as make 64 bytes of
// a line, by several instructions.  Sums of float16 there are in some drivers, but products of
// float16 are added up in float32 here.
#include "croze/graph/cooperative_units.h"

#include <fmt/format.h>

#include <deque>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace croze {
namespace {

constexpr std::int64_t line_bytes = 64;  // of terms

int log2_of(std::int64_t n) {
  int bits = 0;
  while (n >> (bits + 1) != 0) bits++;
  return bits;
}

// "n0 n1 n2", from that bit on.
std::string bits_of(char axis, std::int64_t size, int first = 0) {
  std::string text;
  for (int i = first; i < log2_of(size); i++)
    text += fmt::format("{}{}{}", i > first ? " " : "", axis, i);
  return text;
}

// The lowest bits of the thread are the column.
std::string places_of_sums(std::int64_t rows, std::int64_t columns, std::int64_t threads) {
  const std::int64_t rows_at_once = threads / columns;
  std::string text =
      fmt::format("{} | {}", bits_of('m', rows, log2_of(rows_at_once)), bits_of('n', columns));
  if (rows_at_once > 1) text += " " + bits_of('m', rows_at_once);
  return text;
}

struct Factors {
  std::string_view name;
  DType a, b;
};
constexpr DType u8 = DType::UInt8, s8 = DType::Int8;
constexpr Factors f16{"f16", DType::Float16, DType::Float16},
    bf16{"bf16", DType::BFloat16, DType::BFloat16}, s8s8{"s8s8", s8, s8}, u8u8{"u8u8", u8, u8},
    s8u8{"s8u8", s8, u8}, u8s8{"u8s8", u8, s8};

struct Shape {
  std::int64_t threads, rows, columns, depth;  // of an instruction
};

// What the texts of the records stand in.
class Records {
 public:
  Records() {
    // Mesa's lavapipe, whose subgroups are vectors of 256 bits.
    add({8, 8, 8, 8}, {f16, s8s8, u8u8});
    // Intel's: Arc, and Xe 2.
    add({8, 8, 8, 16}, {f16, bf16});
    add({8, 8, 8, 32}, {s8s8, u8u8});
    add({16, 8, 16, 16}, {f16, bf16});
    add({16, 8, 16, 32}, {s8s8, u8u8});
    // NVIDIA's, the largest first, and AMD's, whose subgroups are of either size.
    add({32, 16, 16, 32}, {s8s8, u8u8});
    add({32, 16, 8, 32}, {s8s8, u8u8});
    add({32, 16, 16, 16}, {f16, bf16, s8s8, u8u8, s8u8, u8s8});
    add({32, 16, 8, 16}, {f16, bf16});
    add({32, 16, 8, 8}, {f16, bf16});
    add({64, 16, 16, 16}, {f16, bf16, s8s8, u8u8, s8u8, u8s8});
  }
  std::span<const MatrixUnit> units() const { return units_; }

 private:
  void add(const Shape& s, std::initializer_list<Factors> all) {
    for (const Factors& f : all) add(s, f);
  }

  void add(const Shape& s, const Factors& f) {
    const std::int64_t depth = line_bytes / size_of(f.a);
    units_.push_back({.name = kept(fmt::format("cooperative.{}.{}x{}x{}.{}", f.name, s.rows,
                                               s.columns, s.depth, s.threads)),
                      .rows = s.rows,
                      .columns = s.columns,
                      .depth = depth,
                      .a = f.a,
                      .b = f.b,
                      .accumulator = is_float(f.a) ? DType::Float32 : DType::Int32,
                      .places_of_a = kept(bits_of('k', depth) + " " + bits_of('m', s.rows)),
                      .places_of_b = kept(bits_of('n', s.columns) + " " + bits_of('k', depth)),
                      .places_of_sums = kept(places_of_sums(s.rows, s.columns, s.threads)),
                      .threads = s.threads,
                      .instructions = depth / s.depth,
                      .extension = cooperative_matrices,
                      .reads_group_memory = true,
                      .keeps_sums = true});
  }

  std::string_view kept(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::deque<std::string> texts_;
  std::vector<MatrixUnit> units_;
};

}  // namespace

std::span<const MatrixUnit> cooperative_units() {
  static const Records& records = *new Records;
  return records.units();
}

}  // namespace croze
