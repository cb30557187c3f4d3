// matrix_unit.h -- instructions that multiply small matrices and add the products up, as data.
//
// A unit computes  accumulator[m, n] += sum over k of a[m, k] * b[k, n]  for a few rows m, columns
// n and a depth k.  Dot products of vectors, tiles of a processor and the matrix instructions of
// graphics processors differ in three sizes, three dtypes, and in where the elements of their
// operands lie; this record says all of it, and nothing else in the compiler knows an instruction.
//
// Where elements lie is said bit by bit: the number of a place, written in binary, is the number of
// a row and that of a column, with their bits in another order.  "k0 k1 n0 n1 n2 n3" says that the
// two lowest bits of the place are those of k and the others those of n: four terms of a column lie
// side by side.  A bit "-" is none of either: places that differ in it hold the same element. Where
// several threads hold an operand together, the bits of a place in the registers of one come first,
// and behind "|" those of the thread's number.  A bit "k3^n0" is that of k where that of n is zero,
// and its opposite where it is one: so rows that lie below each other begin at different banks of
// memory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "croze/graph/dtype.h"

namespace croze {

struct MatrixUnit {
  std::string_view name;
  std::int64_t rows, columns, depth;
  DType a, b, accumulator;
  std::string_view places_of_a, places_of_b, places_of_sums;
  std::int64_t threads = 1;      // that hold the operands together
  bool keeps_subnormals = true;  // else they are zeros, as operands and as sums
  // Bits behind the point that factors of Float32 are rounded to, ties away from zero; 0: all of
  // them are multiplied.  Such a unit is for who has asked for it.
  int factor_bits = 0;
  std::int64_t instructions = 1;  // one after the other, each for as many of the terms
  std::string_view extension{};   // of the instruction set; as in Caps::extensions
  std::string_view intrinsic{};   // of LLVM, behind "llvm."
  bool takes_b_first = false;     // the intrinsic
  // Of LLVM, too: an instruction that adds up products of bytes by twos, to 16 bits, of which
  // `intrinsic` adds up two with a factor of one each.
  std::string_view intrinsic_of_pairs{};
  bool adds_to_sums = true;  // else the intrinsic makes products, which are added afterwards
  // Bits of a factor of UInt8.  Where sums of two products have 16 bits, it may have seven.
  int unsigned_bits = 8;
  // The factors lie in memory that the threads share, each in one piece, in the order of its
  // places, and the unit reads them there by itself while the threads go on: until what it does is
  // awaited (Op::AwaitProducts) nobody touches them, nor the sums.
  bool reads_group_memory = false;
  // Which sums an item has nobody knows before they are awaited: until then they are the unit's,
  // and begin with zeros.
  bool keeps_sums = false;
  // Name of the unit that does the work, where this one is made of it: `a` is shifted by 128 to be
  // unsigned, and what that adds to the sums is subtracted.
  std::string_view shifted{};
};

// Whether each column has an `a` of its own, a[n, k], where others multiply all columns by one row:
// the places of a have columns.
bool has_row_for_each_column(const MatrixUnit& unit);

// Whether kernels may use the unit: one that rounds factors only if CROZE_TF32 is set.
bool is_allowed(const MatrixUnit& unit);

// The units that are known.
std::span<const MatrixUnit> matrix_units();
// Those of an instruction set.
std::vector<const MatrixUnit*> units_of_extension(std::string_view extension);
// The unit of this name; null if there is none.
const MatrixUnit* find_matrix_unit(std::string_view name);

// Adjacent bits of a place that are adjacent bits of one coordinate.
struct PlaceBits {
  char axis;           // 'm', 'n', 'k'; '-'
  int first_of_place;  // bits are counted from the lowest
  int first_of_axis;
  int count;
  // Those of another coordinate that they are the opposite by; 0: of none.
  char flipped_by = 0;
  int first_of_flipping = 0;
};
// What the text says, with the bits of threads above those of registers.
std::vector<PlaceBits> place_bits(std::string_view places);
// The same without the bits "-": of the elements of a vector, each once.
std::vector<PlaceBits> element_bits(std::string_view places);
std::int64_t count_places(std::span<const PlaceBits> bits);
// Of an operand, those in the registers of one of the threads.
std::int64_t places_of_thread(const MatrixUnit& unit, std::string_view places);

// Bytes of group memory by which threads get the sums of a unit that keeps them; 0 of other units.
std::int64_t bytes_of_kept_sums(const MatrixUnit& unit);

// After so many elements of the operand the order of bits begins anew: where it may begin.
std::int64_t repeating_places(std::string_view places);

struct MatrixElement {
  std::int64_t m = 0, n = 0, k = 0;
  bool operator==(const MatrixElement&) const = default;
};
MatrixElement element_at(std::span<const PlaceBits> bits, std::int64_t place);

// The meaning of a unit on the bits of values (eval.h), which stand as element_bits() says, of all
// threads together.  Each product is added to the sum with one rounding, the one with the greatest
// k first: which of the instructions of floats do so exactly says docs/numbers.md.
void contract(const MatrixUnit& unit, std::span<const std::int64_t> sums,
              std::span<const std::int64_t> a, std::span<const std::int64_t> b,
              std::span<std::int64_t> result);

}  // namespace croze
