// Matrix units as data: where elements lie, and what is computed of them.
#include "croze/graph/matrix_unit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "croze/graph/eval.h"

namespace croze {
namespace {

using i64 = std::int64_t;

// Of a graphics processor, as its manual has it: PTX ISA, mma.sync.m16n8k16 of 16-bit floats.
const MatrixUnit& mma_sync = *find_matrix_unit("mma.sync.f16");

std::vector<MatrixUnit> all_units() { return {matrix_units().begin(), matrix_units().end()}; }

// Fragments of mma.sync: four threads have the terms of a row, each as many side by side as a
// register holds; the next register is eight rows further, and then as many terms as four threads
// have.
void expect_fragments(std::string_view name, i64 in_register, i64 registers_of_rows) {
  const MatrixUnit& u = *find_matrix_unit(name);
  const auto a = place_bits(u.places_of_a), b = place_bits(u.places_of_b);
  const i64 of_a = places_of_thread(u, u.places_of_a), of_b = places_of_thread(u, u.places_of_b);
  for (i64 lane = 0; lane < 32; lane++) {
    const i64 line = lane / 4, first = lane % 4 * in_register;
    for (i64 i = 0; i < of_a; i++) {
      const i64 number = i / in_register;
      EXPECT_EQ(
          element_at(a, lane * of_a + i),
          (MatrixElement{line + number % registers_of_rows * 8, 0,
                         first + i % in_register + number / registers_of_rows * 4 * in_register}))
          << name;
    }
    for (i64 i = 0; i < of_b; i++) {
      EXPECT_EQ(
          element_at(b, lane * of_b + i),
          (MatrixElement{0, line, first + i % in_register + i / in_register * 4 * in_register}))
          << name;
    }
  }
}

TEST(MatrixUnit, FragmentsOfOtherWidthsLieAsTheManualSays) {
  expect_fragments("mma.sync.bf16", 2, 2);
  expect_fragments("mma.sync.s8s8", 4, 2);
  expect_fragments("mma.sync.e4m3e5m2", 4, 2);
  expect_fragments("mma.sync.tf32", 1, 2);
  expect_fragments("mma.sync.f64", 1, 1);
}

float rounded_to_tf32(float x) {
  const MatrixUnit& u = *find_matrix_unit("mma.sync.tf32");
  const auto bits = [](float v) { return bits_of(static_cast<double>(v), DType::Float32); };
  std::vector<i64> sums(128, bits(0)), a(128, bits(x)), b(64, bits(0)), result(128);
  for (i64 place = 0; place < 64; place++) {
    if (element_at(element_bits(u.places_of_b), place).k == 3)
      b[static_cast<std::size_t>(place)] = bits(1);
  }
  contract(u, sums, a, b, result);
  return static_cast<float>(std::bit_cast<double>(result[9]));
}

TEST(MatrixUnit, FactorsOfTf32HaveTenBits) {
  EXPECT_EQ(rounded_to_tf32(1.0f + 0x1p-10f), 1.0f + 0x1p-10f);
  EXPECT_EQ(rounded_to_tf32(1.0f + 0x1p-11f), 1.0f + 0x1p-10f);  // a tie
  EXPECT_EQ(rounded_to_tf32(-1.0f - 0x1p-11f), -1.0f - 0x1p-10f);
  EXPECT_EQ(rounded_to_tf32(1.0f + 0x1p-12f), 1.0f);
}

// Each element of the matrix has one place.
void expect_bijection(const MatrixUnit& unit, std::string_view places, MatrixElement size) {
  const std::vector<PlaceBits> bits = element_bits(places);
  const i64 count = count_places(bits);
  ASSERT_EQ(count, size.m * size.n * size.k) << unit.name;
  std::vector<int> found(static_cast<std::size_t>(count), 0);
  for (i64 place = 0; place < count; place++) {
    const MatrixElement e = element_at(bits, place);
    ASSERT_TRUE(e.m < size.m && e.n < size.n && e.k < size.k) << unit.name << ", place " << place;
    found[static_cast<std::size_t>((e.m * size.n + e.n) * size.k + e.k)]++;
  }
  EXPECT_EQ(std::ranges::count(found, 1), count) << unit.name;
}

TEST(MatrixUnit, EveryElementOfAnOperandHasOnePlace) {
  for (const MatrixUnit& u : all_units()) {
    const i64 rows_of_columns = has_row_for_each_column(u) ? u.columns : 1;
    expect_bijection(u, u.places_of_a, {u.rows, rows_of_columns, u.depth});
    expect_bijection(u, u.places_of_b, {1, u.columns, u.depth});
    expect_bijection(u, u.places_of_sums, {u.rows, u.columns, 1});
  }
}

TEST(MatrixUnit, OperandsOfProcessorsFillTheirRegisters) {
  for (const MatrixUnit& u : matrix_units()) {
    if (u.threads > 1) continue;
    const i64 bytes = u.columns * u.rows * size_of(u.accumulator);
    const i64 of_a = count_places(place_bits(u.places_of_a)) * size_of(u.a),
              of_b = count_places(place_bits(u.places_of_b)) * size_of(u.b);
    const bool is_part = u.rows > 1 && u.depth * size_of(u.a) < 64;  // of a tile
    EXPECT_EQ(of_a, is_part ? u.rows * u.depth * size_of(u.a) : bytes) << u.name;
    EXPECT_EQ(of_b, is_part ? u.columns * u.depth * size_of(u.b) : bytes) << u.name;
  }
}

TEST(MatrixUnit, FragmentsOfWarpsLieAsTheManualSays) {
  const auto a = place_bits(mma_sync.places_of_a), b = place_bits(mma_sync.places_of_b),
             sums = place_bits(mma_sync.places_of_sums);
  for (i64 lane = 0; lane < 32; lane++) {
    const i64 group = lane / 4, thread = lane % 4;
    for (i64 i = 0; i < 8; i++) {
      const i64 row = group + (i / 2 % 2 == 0 ? 0 : 8),
                column = thread * 2 + i % 2 + (i < 4 ? 0 : 8);
      EXPECT_EQ(element_at(a, lane * 8 + i), (MatrixElement{row, 0, column}));
    }
    for (i64 i = 0; i < 4; i++) {
      const i64 term = thread * 2 + i % 2 + (i < 2 ? 0 : 8);
      EXPECT_EQ(element_at(b, lane * 4 + i), (MatrixElement{0, group, term}));
      EXPECT_EQ(element_at(sums, lane * 4 + i),
                (MatrixElement{group + (i < 2 ? 0 : 8), thread * 2 + i % 2, 0}));
    }
  }
}

// Of a thread's register number i: the term of a factor's element, and the row of a sum's.
struct Layout {
  std::string_view extension;
  i64 bytes;  // of an element
  i64 (*term)(i64 thread, i64 i);
  i64 (*row)(i64 thread, i64 i);
};

// As AMD's Matrix Instruction Calculator prints them.  A unit of several instructions has what each
// takes side by side.
constexpr Layout layouts_of_amd[] = {
    {"mfma", 1, [](i64 t, i64 i) { return t / 16 * 8 + i; },
     [](i64 t, i64 i) { return t / 16 * 4 + i; }},
    {"mfma", 2, [](i64 t, i64 i) { return t / 16 * 4 + i; },
     [](i64 t, i64 i) { return t / 16 * 4 + i; }},
    {"mfma", 4, [](i64 t, i64 i) { return t / 16 * 4 + i; },
     [](i64 t, i64 i) { return t / 16 * 4 + i; }},
    {"mfma", 8, [](i64 t, i64 i) { return t / 16 * 2 + i; },
     [](i64 t, i64 i) { return t / 16 + i * 4; }},
    {"mfma-fnuz", 1, [](i64 t, i64 i) { return t / 16 * 8 + i; },
     [](i64 t, i64 i) { return t / 16 * 4 + i; }},
    {"wmma-11", 1, [](i64, i64 i) { return i; }, [](i64 t, i64 i) { return t / 16 + i * 2; }},
    {"wmma-11", 2, [](i64, i64 i) { return i; }, [](i64 t, i64 i) { return t / 16 + i * 2; }},
    {"wmma-12", 1, [](i64 t, i64 i) { return t / 16 * 8 + i; },
     [](i64 t, i64 i) { return t / 16 * 8 + i; }},
    {"wmma-12", 2, [](i64 t, i64 i) { return i / 4 * 8 + t / 16 * 4 + i % 4; },
     [](i64 t, i64 i) { return t / 16 * 8 + i; }},
};

void expect_layout(const MatrixUnit& unit, const Layout& layout) {
  const auto a = place_bits(unit.places_of_a), b = place_bits(unit.places_of_b),
             sums = place_bits(unit.places_of_sums);
  const i64 own = places_of_thread(unit, unit.places_of_a),
            own_sums = places_of_thread(unit, unit.places_of_sums);
  for (i64 thread = 0; thread < unit.threads; thread++) {
    for (i64 i = 0; i < own; i++) {
      const i64 term = layout.term(thread, i);
      EXPECT_EQ(element_at(a, thread * own + i), (MatrixElement{thread % 16, 0, term}));
      EXPECT_EQ(element_at(b, thread * own + i), (MatrixElement{0, thread % 16, term}));
    }
    for (i64 i = 0; i < own_sums; i++) {
      EXPECT_EQ(element_at(sums, thread * own_sums + i),
                (MatrixElement{layout.row(thread, i), thread % 16, 0}));
    }
  }
}

TEST(MatrixUnit, RegistersOfAmdsWavesLieAsItsCalculatorSays) {
  for (const Layout& layout : layouts_of_amd) {
    int found = 0;
    for (const MatrixUnit* unit : units_of_extension(layout.extension)) {
      if (size_of(unit->a) != layout.bytes) continue;
      SCOPED_TRACE(unit->name);
      expect_layout(*unit, layout);
      found++;
    }
    EXPECT_GT(found, 0) << layout.extension;
  }
}

TEST(MatrixUnit, BitsThatRepeatAreNoElements) {
  const auto all = place_bits("k0 k1 - - - -"), once = element_bits("k0 k1 - - - -");
  EXPECT_EQ(count_places(all), 64);
  EXPECT_EQ(count_places(once), 4);
  for (i64 place = 0; place < 64; place++) EXPECT_EQ(element_at(all, place).k, place % 4);
}

// Of wgmma.  Rows of a factor in shared memory are 128 bytes, whose pieces of 16 bytes are at the
// places that the lowest bits of the row's number flip.
void expect_swizzled(const MatrixUnit& u, std::string_view places, i64 MatrixElement::*line) {
  const auto bits = place_bits(places);
  const i64 size = size_of(u.a), in_row = 128 / size;
  const bool by_lines = bits[0].axis != 'k';
  for (i64 place = 0; place < count_places(bits); place++) {
    const i64 row = place / in_row, byte = place % in_row * size ^ row % 8 * 16;
    MatrixElement expected;
    (by_lines ? expected.*line : expected.k) = byte / size;
    if (by_lines) {
      expected.k = row % u.depth;
      expected.*line += row / u.depth * in_row;
    } else {
      expected.*line = row;
    }
    ASSERT_EQ(element_at(bits, place), expected) << u.name << ", place " << place;
  }
  EXPECT_EQ(repeating_places(places) * size, 1024) << u.name;
}

TEST(MatrixUnit, FactorsOfFourWarpsLieInSwizzledRows) {
  for (const MatrixUnit* u : units_of_extension("wgmma")) {
    expect_swizzled(*u, u->places_of_a, &MatrixElement::m);
    expect_swizzled(*u, u->places_of_b, &MatrixElement::n);
  }
}

TEST(MatrixUnit, SumsOfFourWarpsLieAsTheManualSays) {
  for (const MatrixUnit* u : units_of_extension("wgmma")) {
    const auto sums = place_bits(u->places_of_sums);
    const i64 own = places_of_thread(*u, u->places_of_sums);
    ASSERT_EQ(own, u->columns / 2);
    for (i64 thread = 0; thread < 128; thread++) {
      for (i64 i = 0; i < own; i++) {
        const i64 row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8,
                  column = i / 4 * 8 + thread % 4 * 2 + i % 2;
        ASSERT_EQ(element_at(sums, thread * own + i), (MatrixElement{row, column, 0}));
      }
    }
  }
}

struct Numbers {
  std::vector<i64> sums, a, b, result;
};

Numbers random_numbers(const MatrixUnit& u, std::mt19937_64& random) {
  const auto draw = [&](std::string_view places, DType t, double most) {
    std::vector<i64> values;
    std::uniform_int_distribution<i64> number(is_unsigned(t) ? 0 : -static_cast<i64>(most),
                                              static_cast<i64>(most));
    for (i64 i = 0; i < count_places(element_bits(places)); i++)
      values.push_back(bits_of(number(random), t));
    return values;
  };
  Numbers n{draw(u.places_of_sums, u.accumulator, 1000),
            draw(u.places_of_a, u.a, 100),
            draw(u.places_of_b, u.b, 100),
            {}};
  n.result.resize(n.sums.size());
  return n;
}

// A factor's elements by line, which is a row or a column, and term.
std::vector<i64> by_lines(const MatrixUnit& u, std::string_view places, DType t,
                          const std::vector<i64>& values, i64 MatrixElement::*line) {
  std::vector<i64> result(values.size());
  const auto bits = element_bits(places);
  for (std::size_t i = 0; i < values.size(); i++) {
    const MatrixElement e = element_at(bits, static_cast<i64>(i));
    result[static_cast<std::size_t>(e.*line * u.depth + e.k)] = convert(values[i], t, DType::Int64);
  }
  return result;
}

// Small whole numbers, so that floats are exact, too.  Those of very many columns take their time,
// and are as others are but for the places, which are looked at above.
TEST(MatrixUnit, AddsUpProducts) {
  constexpr i64 very_many = 128;
  std::mt19937_64 random(7);
  for (const MatrixUnit& u : all_units()) {
    if (u.columns >= very_many) continue;
    const Numbers n = random_numbers(u, random);
    std::vector<i64> result = n.result;
    contract(u, n.sums, n.a, n.b, result);
    const auto row = has_row_for_each_column(u) ? &MatrixElement::n : &MatrixElement::m;
    const std::vector<i64> a = by_lines(u, u.places_of_a, u.a, n.a, row),
                           b = by_lines(u, u.places_of_b, u.b, n.b, &MatrixElement::n);
    const auto sums = element_bits(u.places_of_sums);
    for (std::size_t place = 0; place < result.size(); place++) {
      const MatrixElement at = element_at(sums, static_cast<i64>(place));
      i64 expected = convert(n.sums[place], u.accumulator, DType::Int64);
      for (i64 k = 0; k < u.depth; k++) {
        expected += a[static_cast<std::size_t>(at.*row * u.depth + k)] *
                    b[static_cast<std::size_t>(at.n * u.depth + k)];
      }
      ASSERT_EQ(convert(result[place], u.accumulator, DType::Int64), expected) << u.name;
    }
  }
}

// One row and column, the terms of which are given.
float pair(float sum, float a0, float a1, float b0, float b1) {
  const MatrixUnit& u = *find_matrix_unit("avx512bf16");
  const auto bits = [](float x) { return bits_of(static_cast<double>(x), DType::BFloat16); };
  std::vector<i64> sums(16, bits_of(static_cast<double>(sum), DType::Float32)), result(16), b;
  for (int i = 0; i < 16; i++) b.insert(b.end(), {bits(b0), bits(b1)});
  contract(u, sums, std::vector<i64>{bits(a0), bits(a1)}, b, result);
  return static_cast<float>(std::bit_cast<double>(result[5]));
}

TEST(MatrixUnit, PairsOfBfloat16AreAddedTheSecondFirst) {
  EXPECT_EQ(pair(-0x1p24f, 1, 0x1p24f, 1, 1), 1.0f);
  EXPECT_EQ(pair(-0x1p24f, 0x1p24f, 1, 1, 1), 1.0f);
  EXPECT_EQ(pair(0x1p24f, -0x1p24f, 1, 1, 1), 0.0f);          // 2^24 + 1 is 2^24
  EXPECT_EQ(pair(0, -1e30f, 1e30f, 1e30f, 1e30f), INFINITY);  // no product is rounded
  EXPECT_TRUE(std::isnan(pair(INFINITY, -INFINITY, 1, 1, 1)));
}

TEST(MatrixUnit, PairsOfBfloat16TakeSubnormalsForZeros) {
  EXPECT_EQ(pair(0x1p-127f, 0, 0, 0, 0), 0.0f);
  EXPECT_EQ(pair(0, 0x1p-127f, 0, 0x1p100f, 0), 0.0f);
  EXPECT_EQ(pair(0, 0x1p-70f, 0, 0x1p-70f, 0), 0.0f);
  EXPECT_EQ(pair(0x1p-126f, 0x1p-70f, 0, 0x1p-60f, 0), 0x1p-126f + 0x1p-130f);
  EXPECT_TRUE(std::signbit(pair(-0.0f, -0.0f, -0.0f, 1, 1)));
}

}  // namespace
}  // namespace croze
