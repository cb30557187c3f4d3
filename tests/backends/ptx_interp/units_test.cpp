// units_test.cpp -- matrix units of a warp: what the compiler makes of its records against loops
// over the numbers, and what the interpreter refuses.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "backends/ptx_interp/run_ptx.h"
#include "croze/base/options.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/eval.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/ptx/ptx.h"

namespace croze::test {
namespace {

using i64 = std::int64_t;

// A matrix as it lies in memory.
struct Matrix {
  i64 columns;
  DType dtype;
  std::vector<std::byte> memory;

  Matrix(i64 rows, i64 width, DType t)
      : columns(width), dtype(t), memory(static_cast<std::size_t>(rows * width * size_of(t))) {}

  void fill(std::mt19937& random, bool with_whole_numbers) {
    std::uniform_real_distribution<double> number(is_unsigned(dtype) ? 0 : -8, 8);
    for (std::size_t at = 0; at < memory.size(); at += static_cast<std::size_t>(size_of(dtype))) {
      const double x = number(random);
      store_bits(bits_of(with_whole_numbers ? std::round(x) : x, dtype), dtype, &memory[at]);
    }
  }
  double at(i64 row, i64 column) const {
    const auto place = static_cast<std::size_t>((row * columns + column) * size_of(dtype));
    return std::bit_cast<double>(convert(load_bits(&memory[place], dtype), dtype, DType::Float64));
  }
};

struct Sizes {
  i64 rows, inner, columns;
};

// out[i, j] = sum over k of a[i, k] * b[k, j].
struct Product {
  Product(const MatrixUnit& by, const Sizes& s, bool with_whole_numbers)
      : unit(by),
        sizes(s),
        a(s.rows, s.inner, by.a),
        b(s.inner, s.columns, by.b),
        out(s.rows, s.columns, by.accumulator) {
    std::mt19937 random(5);
    a.fill(random, with_whole_numbers);
    b.fill(random, with_whole_numbers);
  }

  UOp kernel(Graph& g) const {
    const UOp i = g.range(0, sizes.rows, LoopKind::Parallel),
              j = g.range(1, sizes.columns, LoopKind::Parallel),
              k = g.range(2, sizes.inner, LoopKind::Reduce);
    const auto widened = [&](const Matrix& m, i64 slot, i64 rows, UOp index) {
      const UOp place = g.place(g.param(m.dtype, slot, rows * m.columns), index);
      return g.cast(g.load(place), unit.accumulator);
    };
    const UOp x = widened(a, 1, sizes.rows, i * sizes.inner + k),
              y = widened(b, 2, sizes.inner, k * sizes.columns + j);
    const UOp sum = g.reduce(Op::Add, x * y, std::span(&k, 1)),
              to = g.place(g.param(unit.accumulator, 0, sizes.rows * sizes.columns),
                           i * sizes.columns + j);
    const UOp over[] = {i, j}, store = g.store(to, sum, over);
    return g.sink(std::span(&store, 1));
  }

  // The text, of which it is a product by the unit.
  std::string run() {
    Caps caps = ptx_caps();
    caps.matrix_units = {&unit};
    Graph graph;
    const LinearProgram program = make_program(kernel(graph), caps);
    const std::string text = PtxRenderer(ptx_sm_90a).render(program);
    const auto device = make_ptx_interp_device();
    const auto loaded = device->load(program.info, device->compile(program.info.name, text));
    const std::span<std::byte> buffers[] = {out.memory, a.memory, b.memory};
    fuzz::launch_program(*device, *loaded, buffers);
    return text;
  }

  // As it is, or as the unit sees it if it may.
  double factor(double x) const {
    if (unit.factor_bits == 0 || !Options::flag(Option::Tf32)) return x;
    const double step = std::ldexp(1.0, std::ilogb(x) - unit.factor_bits);
    return x == 0 ? x : std::round(x / step) * step;
  }

  // Each sum is off by no more than its terms, each rounded once, could make it.
  void expect_right(double rounding) const {
    for (i64 i = 0; i < sizes.rows; i++) {
      for (i64 j = 0; j < sizes.columns; j++) {
        double expected = 0, all = 0;
        for (i64 k = 0; k < sizes.inner; k++) {
          const double product = factor(a.at(i, k)) * factor(b.at(k, j));
          expected += product;
          all += std::abs(product);
        }
        const double most = rounding * all * static_cast<double>(sizes.inner);
        ASSERT_LE(std::abs(out.at(i, j) - expected), most)
            << unit.name << ": " << i << ", " << j << " is " << out.at(i, j) << ", not "
            << expected;
      }
    }
  }

  const MatrixUnit& unit;
  Sizes sizes;
  Matrix a, b, out;
};

class PtxUnits : public testing::TestWithParam<const MatrixUnit*> {
 protected:
  const Options::Scope allowed_{{Option::Tf32, 1}};
};

TEST_P(PtxUnits, WholeNumbersAreMultipliedExactly) {
  for (const Sizes& s : {Sizes{64, 64, 64}, Sizes{50, 96, 70}, Sizes{70, 75, 41}}) {
    Product product(*GetParam(), s, true);
    EXPECT_NE(product.run().find("mma.sync.aligned"), std::string::npos) << product.unit.name;
    product.expect_right(0);
  }
}

TEST_P(PtxUnits, SumsOfFloatsAreRounded) {
  const MatrixUnit& unit = *GetParam();
  if (!is_float(unit.accumulator)) return;
  Product product(unit, {48, 100, 56}, false);
  product.run();
  product.expect_right(unit.accumulator == DType::Float64 ? 0x1p-52 : 0x1p-23);
}

std::vector<const MatrixUnit*> units_of_warps() {
  std::vector<const MatrixUnit*> units;
  for (std::string_view set : {"mma.sync", "mma.sync-tf32", "mma.sync-fp8"})
    std::ranges::copy(units_of_extension(set), std::back_inserter(units));
  return units;
}
std::string test_name(const testing::TestParamInfo<const MatrixUnit*>& info) {
  std::string name(info.param->name);
  std::ranges::replace(name, '.', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, PtxUnits, testing::ValuesIn(units_of_warps()), test_name);

// A sum of Float32 keeps all bits of its factors unless it was asked for less.
TEST(PtxUnitsOfFloat32, RoundNothingUnasked) {
  Product product(*find_matrix_unit("mma.sync.tf32"), {64, 64, 64}, false);
  EXPECT_EQ(product.run().find("mma.sync"), std::string::npos);
  product.expect_right(0x1p-24);
}

// ---- what is refused ----

constexpr std::string_view of_halves =
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, "
    "{%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f4, %f5, %f6, %f7};";

// What is said of it when it is compiled, or run.
std::string refusal_of(const std::string& body, int items) {
  try {
    return message_of([&] { run_ptx({body, 0, items}); });
  } catch (const InternalError& e) {
    return e.what();
  }
}

TEST(PtxMma, IsForWholeWarps) {
  EXPECT_EQ(refusal_of(std::string(of_halves), 64), "no error");
  EXPECT_NE(refusal_of(std::string(of_halves), 48).find("a warp that is not whole"),
            std::string::npos);
  EXPECT_NE(refusal_of(fmt::format("@%p0 {}", of_halves), 32).find("some items may pass by"),
            std::string::npos);
}

TEST(PtxMma, IsReachedByAllOfAWarp) {
  const std::string text =
      fmt::format("setp.lt.u32 %p0, %r0, 8;\n@%p0 bra $L0;\n{}\n$L0:\n", of_halves);
  EXPECT_NE(refusal_of(text, 32).find("divergent"), std::string::npos);
  const std::string by_warps =
      fmt::format("setp.lt.u32 %p0, %r0, 32;\n@%p0 bra $L0;\n{}\n$L0:\n", of_halves);
  EXPECT_EQ(refusal_of(by_warps, 64), "no error");
}

TEST(PtxMma, HasItsShapesAndRegisters) {
  std::string other(of_halves);
  other.replace(other.find("k16"), 3, "k32");
  EXPECT_NE(refusal_of(other, 32).find("no such instruction"), std::string::npos);
  std::string fewer(of_halves);
  fewer.replace(fewer.find("{%r5, %r6}"), 10, "{%r5}");
  EXPECT_NE(refusal_of(fewer, 32).find("no vector of 2 registers"), std::string::npos);
  std::string wrong(of_halves);
  wrong.replace(wrong.find("{%r5, %r6}"), 10, "{%r5, %d6}");
  EXPECT_NE(refusal_of(wrong, 32).find("a register of .b64"), std::string::npos);
}

TEST(PtxInstructionsOfUnits, HalvesAreJoinedAndFactorsRounded) {
  std::vector<std::uint32_t> result(1);
  run_ptx({"mov.b16 %h0, 4660; mov.b16 %h1, 22136; mov.b32 %r1, {%h0, %h1};\n"
           "st.global.b32 [%d0], %r1;"},
          {bytes_of(result)});
  EXPECT_EQ(result[0], 0x56781234u);
  run_ptx({"cvt.rna.tf32.f32 %r1, 0f3F801000; st.global.b32 [%d0], %r1;"}, {bytes_of(result)});
  EXPECT_EQ(result[0], 0x3F802000u);  // a tie, away from zero
  run_ptx({"cvt.rna.tf32.f32 %r1, 0fBF800FFF; st.global.b32 [%d0], %r1;"}, {bytes_of(result)});
  EXPECT_EQ(result[0], 0xBF800000u);
}

}  // namespace
}  // namespace croze::test
