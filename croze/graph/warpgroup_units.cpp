// warpgroup_units.cpp -- NVIDIA's manual of PTX has wgmma.mma_async, and how matrices lie in shared
// memory ("Shared Memory Matrix Layout", swizzling of 128 bytes).
//
// A row of a factor in memory is 128 bytes: so many terms of a line of it (K-major), or, of factors
// of two bytes, so many lines of a term (MN-major).  A unit has as many terms as make a row, which
// are several instructions.  Pieces of 16 bytes are at the places of others in their row, by the
// lowest bits of the row's number, so that what stands below each other is in different banks.
#include "croze/graph/warpgroup_units.h"

#include <fmt/format.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace croze {
namespace {

constexpr std::int64_t row_bytes = 128, piece_bytes = 16, instruction_bytes = 32;  // of terms

int log2_of(std::int64_t n) {
  int bits = 0;
  while (n >> (bits + 1) != 0) bits++;
  return bits;
}

// "k0 k1 k2 k3^n0 k4^n1 k5^n2 n0 n1 ..": rows along one coordinate, so many of the other.
std::string places_of_rows(char along, char across, DType t, int bits_across) {
  const int in_piece = log2_of(piece_bytes / size_of(t)), in_row = log2_of(row_bytes / size_of(t));
  std::string text;
  for (int i = 0; i < in_row; i++) {
    text += fmt::format("{}{}{}", i ? " " : "", along, i);
    if (i >= in_piece) text += fmt::format("^{}{}", across, i - in_piece);
  }
  for (int i = 0; i < bits_across; i++) text += fmt::format(" {}{}", across, i);
  return text;
}

// The lines of a factor, m or n, beyond a row of them follow as further pieces of memory.
std::string places_of_factor(char line, bool by_lines, DType t, std::int64_t lines) {
  if (!by_lines) return places_of_rows('k', line, t, log2_of(lines));
  const int in_row = log2_of(row_bytes / size_of(t));
  std::string text = places_of_rows(line, 'k', t, in_row);
  for (int i = in_row; i < log2_of(lines); i++) text += fmt::format(" {}{}", line, i);
  return text;
}

// As those of mma.sync, eight columns after the other; a warp has sixteen rows.
std::string places_of_sums(std::int64_t columns) {
  std::string text = "n0 m3";
  for (int i = 3; i < log2_of(columns); i++) text += fmt::format(" n{}", i);
  return text + " | n1 n2 m0 m1 m2 m4 m5";
}

struct Factors {
  std::string_view name;
  DType a, b;
};
constexpr DType u8 = DType::UInt8, s8 = DType::Int8, e4m3 = DType::Float8E4M3,
                e5m2 = DType::Float8E5M2;
constexpr Factors of_two_bytes[] = {{"f16", DType::Float16, DType::Float16},
                                    {"bf16", DType::BFloat16, DType::BFloat16}};
constexpr Factors of_a_byte[] = {{"s8s8", s8, s8},         {"u8u8", u8, u8},
                                 {"s8u8", s8, u8},         {"u8s8", u8, s8},
                                 {"e4m3e4m3", e4m3, e4m3}, {"e5m2e5m2", e5m2, e5m2},
                                 {"e4m3e5m2", e4m3, e5m2}, {"e5m2e4m3", e5m2, e4m3}};

// What the texts of the records stand in.
class Records {
 public:
  Records() {
    for (const std::int64_t columns : {64, 128, 256}) {
      for (const Factors& f : of_two_bytes) {
        for (const bool a_by_lines : {false, true}) {
          for (const bool b_by_lines : {false, true}) add(f, columns, a_by_lines, b_by_lines);
        }
      }
      for (const Factors& f : of_a_byte) add(f, columns, false, false);
    }
  }
  std::span<const MatrixUnit> units() const { return units_; }

 private:
  void add(const Factors& f, std::int64_t columns, bool a_by_lines, bool b_by_lines) {
    const std::int64_t rows = 64;
    units_.push_back({.name = kept(fmt::format("wgmma.{}.{}{}.n{}", f.name, a_by_lines ? 'm' : 'k',
                                               b_by_lines ? 'n' : 'k', columns)),
                      .rows = rows,
                      .columns = columns,
                      .depth = row_bytes / size_of(f.a),
                      .a = f.a,
                      .b = f.b,
                      .accumulator = is_float(f.a) ? DType::Float32 : DType::Int32,
                      .places_of_a = kept(places_of_factor('m', a_by_lines, f.a, rows)),
                      .places_of_b = kept(places_of_factor('n', b_by_lines, f.b, columns)),
                      .places_of_sums = kept(places_of_sums(columns)),
                      .threads = 128,
                      .instructions = row_bytes / instruction_bytes,
                      .extension = "wgmma",
                      .reads_group_memory = true});
  }

  std::string_view kept(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::deque<std::string> texts_;
  std::vector<MatrixUnit> units_;
};

}  // namespace

std::span<const MatrixUnit> warpgroup_units() {
  static const Records& records = *new Records;
  return records.units();
}

}  // namespace croze
