// Sums of products by the matrix units of the device, against loops over the numbers.
#include "croze/codegen/edits/contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "croze/backends/interp/interp_device.h"
#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/llvm.h"
#include "croze/render/program.h"
#include "croze/run/devices.h"
#include "support/schedule_runner.h"

namespace croze {
namespace {

using namespace test;
using i64 = std::int64_t;

// out[i, j] = sum over k of a[i, k] * b[k, j]; r0, r1, r2 are i, j, k.
struct Product {
  i64 rows, inner, columns;
  DType a, b, sum;
  bool transpose_a = false, transpose_b = false;
};

UOp product_kernel(Graph& g, const Product& p) {
  const UOp i = g.range(0, p.rows, LoopKind::Parallel),
            j = g.range(1, p.columns, LoopKind::Parallel);
  const UOp k = g.range(2, p.inner, LoopKind::Reduce);
  const UOp at_a = p.transpose_a ? k * p.rows + i : i * p.inner + k;
  const UOp at_b = p.transpose_b ? j * p.inner + k : k * p.columns + j;
  const UOp a = g.load(g.place(g.param(p.a, 1, p.rows * p.inner), at_a));
  const UOp b = g.load(g.place(g.param(p.b, 2, p.inner * p.columns), at_b));
  const UOp sum = g.reduce(Op::Add, g.cast(a, p.sum) * g.cast(b, p.sum), std::vector<UOp>{k});
  const UOp out = g.place(g.param(p.sum, 0, p.rows * p.columns), i * p.columns + j);
  return g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{i, j})});
}

// Random numbers of the dtype, of all sizes that it has if it is an integer's.
std::vector<std::byte> numbers(i64 count, DType t, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> byte(0, 255);
  std::uniform_real_distribution<double> real(-1, 1);
  std::vector<std::byte> memory(static_cast<std::size_t>(count * size_of(t)));
  for (i64 i = 0; i < count; i++) {
    const i64 bits = is_float(t) ? bits_of(real(random), t) : bits_of(i64{byte(random)}, t);
    store_bits(bits, t, &memory[static_cast<std::size_t>(i * size_of(t))]);
  }
  return memory;
}

double number_at(const std::vector<std::byte>& memory, i64 i, DType t) {
  const i64 bits = load_bits(&memory[static_cast<std::size_t>(i * size_of(t))], t);
  return is_float(t) ? std::bit_cast<double>(bits) : static_cast<double>(bits);
}

// Integers exactly; floats within the roundings of so many sums of numbers below 1.
void expect_product(const Product& p, const std::vector<std::byte>& out,
                    const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  for (i64 r = 0; r < p.rows; r++) {
    for (i64 c = 0; c < p.columns; c++) {
      double expected = 0;
      for (i64 k = 0; k < p.inner; k++) {
        expected += number_at(a, p.transpose_a ? k * p.rows + r : r * p.inner + k, p.a) *
                    number_at(b, p.transpose_b ? c * p.inner + k : k * p.columns + c, p.b);
      }
      const double tolerance = is_float(p.sum) ? 0x1p-23 * static_cast<double>(p.inner) : 0;
      ASSERT_NEAR(number_at(out, r * p.columns + c, p.sum), expected, tolerance)
          << p.rows << " x " << p.inner << " x " << p.columns << " of " << name_of(p.a) << " and "
          << name_of(p.b) << ": " << r << ", " << c;
    }
  }
}

void check_product(Device& device, const Product& p, Chooser edit) {
  Graph graph;
  std::vector<std::byte> a = numbers(p.rows * p.inner, p.a, 1),
                         b = numbers(p.inner * p.columns, p.b, 2);
  std::vector<std::byte> out(static_cast<std::size_t>(p.rows * p.columns * size_of(p.sum)));
  const std::vector<std::span<std::byte>> buffers{out, a, b};
  run_kernel(device, product_kernel(graph, p), buffers, edit);
  expect_product(p, out, a, b);
}

constexpr DType s8 = DType::Int8, u8 = DType::UInt8, s16 = DType::Int16, s32 = DType::Int32;
constexpr DType bf16 = DType::BFloat16, f32 = DType::Float32;

// Of all values of these dtypes, one of them the same for all columns.
i64 number_of_unit(const Caps& caps, DType a, DType b) {
  for (std::size_t i = 0; i < caps.matrix_units.size(); i++) {
    const MatrixUnit& unit = *caps.matrix_units[i];
    if (unit.a == a && unit.b == b && unit.unsigned_bits == 8 && !has_row_for_each_column(unit))
      return static_cast<i64>(i) + 1;
  }
  return 0;
}

i64 contracts(const LinearProgram& program) {
  return std::ranges::count_if(program.instructions, [](UOp u) { return u.is(Op::Contract); });
}

// In which long sums go in turns.
Caps with_small_cache(Caps caps) {
  caps.l1_bytes = 4 << 10;
  return caps;
}

class Contract : public testing::Test {
 protected:
  const Caps caps_ = with_small_cache(cpu_shaped_caps());
  const std::unique_ptr<Device> interpreter_ = make_interp_device(caps_);
  // Those that run units: this machine may have none.
  std::vector<Device*> devices_{interpreter_.get(), &device(device_index("CPU"))};

  // Lanes along j, k by the unit.
  static void by_unit(KernelState& k, DType a, DType b, bool stages) {
    const i64 unit = number_of_unit(k.caps(), a, b);
    if (unit == 0) return;
    const MatrixUnit& u = *k.caps().matrix_units[static_cast<std::size_t>(unit - 1)];
    const UOp lanes =
        bind(k, split(k, pad(k, k.loops[1], u.columns), u.columns).inner, LoopKind::Lane);
    const UOp whole = pad(k, closed_ranges(reduces(k.sink)[0])[0], u.depth);
    const UOp depth = contract(k, lanes, std::span(&whole, 1), unit);
    if (!stages) return;
    std::vector<UOp> steps = closed_ranges(reduces(k.sink)[0]);
    std::erase(steps, depth);
    for (UOp load : std::vector<UOp>(loads(k.sink))) {
      std::vector<UOp> inner = steps;
      if (load.varies_over(lanes)) inner.push_back(lanes);
      inner.push_back(depth);
      stage(k, load, inner, Space::Thread, 16);
    }
  }
};

TEST_F(Contract, AddsUpWhatTheLoopsDo) {
  for (const auto& [a, b, sum] : {std::array{u8, s8, s32},
                                  {s8, u8, s32},
                                  {s8, s8, s32},
                                  {s16, s16, s32},
                                  {bf16, bf16, f32}}) {
    for (const auto& [rows, inner, columns] : {std::array{3, 8, 32}, {5, 13, 19}}) {
      for (const bool stages : {false, true}) {
        for (Device* device : devices_)
          check_product(*device, {rows, inner, columns, a, b, sum},
                        [&](KernelState& k) { by_unit(k, a, b, stages); });
      }
    }
  }
}

TEST_F(Contract, IsOneInstructionForTheTermsOfAllLanes) {
  Graph graph;
  const UOp kernel = product_kernel(graph, {2, 8, 16, u8, s8, s32});
  const LinearProgram program =
      make_program(kernel, caps_, [&](KernelState& k) { by_unit(k, u8, s8, true); });
  EXPECT_EQ(contracts(program), 1);
  EXPECT_TRUE(std::ranges::none_of(program.instructions, [](UOp u) {
    return u.is(Op::Mul) && u.dtype() == DType::Int32;
  })) << print_program(program);
}

TEST_F(Contract, APanelOfColumnsIsTurnedByVectors) {
  Graph graph;
  const UOp kernel = product_kernel(graph, {2, 8, 16, u8, s8, s32});
  const LinearProgram program =
      make_program(kernel, caps_, [&](KernelState& k) { by_unit(k, u8, s8, true); });
  // Four vectors trade lanes for each bit of a lane's number.
  EXPECT_EQ(std::ranges::count_if(program.instructions, [](UOp u) { return u.is(Op::Exchange); }),
            16);
}

TEST_F(Contract, IsRefusedWhereTheUnitComputesSomethingElse) {
  const auto refused = [&](const Product& p, DType a, DType b, i64 lanes) {
    Graph graph;
    KernelState k(product_kernel(graph, p), caps_);
    const UOp lane = bind(k, split(k, k.loops[1], lanes).inner, LoopKind::Lane);
    return !refusal(k, {.kind = EditKind::Contract,
                        .ranges = {lane.range_id(), 2},
                        .size = number_of_unit(caps_, a, b)})
                .empty();
  };
  EXPECT_FALSE(refused({2, 8, 32, u8, s8, s32}, u8, s8, 16));
  EXPECT_TRUE(refused({2, 8, 32, s8, u8, s32}, u8, s8, 16));           // of other dtypes
  EXPECT_TRUE(refused({2, 8, 32, u8, s8, DType::Int64}, u8, s8, 16));  // sums of another dtype
  EXPECT_TRUE(refused({2, 8, 32, u8, s8, s32}, u8, s8, 8));            // of other lanes
  EXPECT_TRUE(refused({2, 6, 32, u8, s8, s32}, u8, s8, 16));           // of a rest
  EXPECT_TRUE(refused({2, 8, 32, f32, f32, f32}, bf16, bf16, 16));
  EXPECT_TRUE(
      refused({2, 8, 32, u8, s8, s32}, DType::Int64, s8, 16));  // the device has no such unit
}

TEST(ContractTiles, TakeTheTermsOfSeveralLoops) {
  const auto refused = [](i64 inner, const char* before, const char* edit) {
    Graph graph;
    Caps caps = cpu_shaped_caps();
    caps.matrix_units = {find_matrix_unit("amx.block.s8u8")};
    KernelState k(product_kernel(graph, {16, inner, 16, s8, u8, s32}), caps);
    apply_all(k, parse_edits("bind r0 unroll; bind r1 lane"));
    apply_all(k, parse_edits(before));
    return refusal(k, parse_edits(edit)[0]);
  };
  const std::string other = "the loops do not make up the 32 terms of the unit";
  EXPECT_EQ(refused(32, "", "contract r1 r2 by 1"), "");
  EXPECT_EQ(refused(32, "split r2 by 16", "contract r1 r3 r4 by 1"), "");
  EXPECT_EQ(refused(32, "split r2 by 16; split r4 by 4", "contract r1 r3 r5 r6 by 1"), "");
  EXPECT_EQ(refused(32, "split r2 by 2", "contract r1 r3 r4 by 1"), "");
  EXPECT_EQ(refused(64, "split r2 by 16", "contract r1 r3 r4 by 1"), other);
  EXPECT_EQ(refused(96, "split r2 by 6", "contract r1 r3 r4 by 1"), other);
}

TEST_F(Contract, AUnitOfSevenBitsTakesNoWholeBytes) {
  const MatrixUnit& of_seven = *find_matrix_unit("avx2.s8u7");
  const MatrixUnit& of_words = *find_matrix_unit("avx2.s16s16");
  Graph graph;
  const std::vector<UOp> factors = loads(product_kernel(graph, {2, 8, 32, s8, u8, s32}));
  const UOp byte = *std::ranges::find(factors, u8, &UOp::dtype);
  EXPECT_FALSE(takes_values(of_seven, byte));
  EXPECT_TRUE(takes_values(of_words, byte));
  EXPECT_TRUE(takes_values(of_seven, byte & graph.constant(u8, i64{127})));
  EXPECT_FALSE(takes_values(of_seven, byte & graph.constant(u8, i64{128})));
}

TEST_F(Contract, ProductsStayProductsOfWhatIsLoaded) {
  Graph graph;
  KernelState k(product_kernel(graph, {4, 32, 32, u8, s8, s32}), caps_);
  by_unit(k, u8, s8, false);
  const UOp steps = closed_ranges(reduces(k.sink)[0])[0];
  EXPECT_FALSE(is_legal(k, {.kind = EditKind::Pad, .ranges = {steps.range_id()}, .size = 3}));
  EXPECT_FALSE(
      is_legal(k, {.kind = EditKind::SplitReduction, .ranges = {steps.range_id()}, .size = 2}));
  EXPECT_TRUE(is_legal(k, {.kind = EditKind::Split, .ranges = {steps.range_id()}, .size = 2}));
  EXPECT_TRUE(is_legal(
      k, {.kind = EditKind::Bind, .ranges = {steps.range_id()}, .loop = LoopKind::Unroll}));
}

// The tiles that the chooser makes: with turns, blocks, rests, rows that are copied.
TEST_F(Contract, IsChosenForProductsOfAnySize) {
  for (const auto& [a, b, sum] :
       {std::array{u8, s8, s32}, {s8, u8, s32}, {s8, s8, s32}, {bf16, bf16, f32}}) {
    for (const Product& p : {Product{32, 32, 32, a, b, sum},
                             {21, 37, 40, a, b, sum},
                             {24, 32, 48, a, b, sum, true, false},
                             {24, 32, 48, a, b, sum, false, true},
                             {16, 200, 64, a, b, sum}}) {
      Graph graph;
      const i64 found = contracts(make_program(product_kernel(graph, p), caps_));
      EXPECT_TRUE(found > 0 || p.transpose_a)  // rows that are copied may cost too much
          << p.rows << " x " << p.inner << " x " << p.columns << " of " << name_of(a);
      for (Device* device : devices_) check_product(*device, p, choose_edits);
    }
  }
}

// A unit that takes all of a reduction at once leaves no loop for the tile.
TEST_F(Contract, IsNotChosenForAsFewTermsAsAUnitTakes) {
  for (Device* device : devices_) check_product(*device, {256, 4, 64, u8, s8, s32}, choose_edits);
}

TEST_F(Contract, IsNotChosenWhereNoRowSharesThePanel) {
  Graph graph;
  EXPECT_EQ(contracts(make_program(product_kernel(graph, {1, 512, 512, s8, s8, s32}), caps_)), 0);
}

// ---- tiles: units with several rows -----------------------------------------------------------

Caps with_tiles() {
  Caps caps = cpu_shaped_caps();
  for (const MatrixUnit& unit : matrix_units()) {
    if (unit.rows > 1 && unit.threads == 1) caps.matrix_units.push_back(&unit);
  }
  return caps;
}

// Lanes along j, copies along i, k by the tile; both operands are copied to where it wants them.
void by_tile(KernelState& k, DType element, std::int64_t column_tiles) {
  const auto& units = k.caps().matrix_units;
  const auto unit = std::ranges::find_if(
      units, [&](const MatrixUnit* u) { return u->rows > 1 && u->a == element; });
  ASSERT_NE(unit, units.end());
  const UOp i = k.loops[0], j = k.loops[1];
  const UOp rows = bind(k, split(k, pad(k, i, 16), 16).inner, LoopKind::Unroll);
  const SplitRange columns = split(k, pad(k, j, 16 * column_tiles), 16);
  const UOp lanes = bind(k, columns.inner, LoopKind::Lane);
  const UOp copies = bind(k, split(k, columns.outer, column_tiles).inner, LoopKind::Unroll);
  const UOp whole = pad(k, closed_ranges(reduces(k.sink)[0])[0], (*unit)->depth);
  contract(k, lanes, std::span(&whole, 1), unit - units.begin() + 1);
  const UOp reduce = reduces(k.sink)[0];
  const std::vector<UOp> depth = depths_of(reduce);
  ASSERT_EQ(depth.size(), 2u);
  for (UOp load : std::vector<UOp>(loads(k.sink))) {
    std::vector<UOp> inner = closed_ranges(reduce);
    std::erase_if(inner, [](UOp r) { return r.loop_kind() == LoopKind::Depth; });
    if (load.varies_over(lanes)) {
      inner.insert(inner.end(), {copies, depth[0], lanes, depth[1]});
    } else {
      inner.insert(inner.end(), {rows, depth[0], depth[1]});
    }
    stage(k, load, inner, Space::Thread, 16);
  }
}

TEST(ContractTiles, AddUpWhatTheLoopsDo) {
  const std::unique_ptr<Device> interpreter = make_interp_device(with_tiles());
  for (const auto& [element, sum] : {std::pair{s8, s32}, {bf16, f32}}) {
    for (const Product& p :
         {Product{16, 64, 32, element, element, sum}, {19, 150, 40, element, element, sum}}) {
      check_product(*interpreter, p, [&, t = element](KernelState& k) { by_tile(k, t, 2); });
    }
  }
}

TEST(ContractTiles, AreInstructionsOfTiles) {
  Caps caps = with_tiles();
  caps.dtypes = caps.storage = LlvmRenderer::dtypes();
  for (const auto& [element, sum, name] :
       {std::tuple{s8, s32, "x86.tdpbssd.internal(i16 16, i16 64, i16 64"},
        {bf16, f32, "x86.tdpbf16ps.internal(i16 16, i16 64, i16 64"}}) {
    Graph graph;
    const UOp kernel = product_kernel(graph, {16, 128, 32, element, element, sum});
    const LinearProgram program =
        make_program(kernel, caps, [&, t = element](KernelState& k) { by_tile(k, t, 2); });
    EXPECT_EQ(contracts(program), 2);
    const std::string text = LlvmRenderer().render(program);
    EXPECT_NE(text.find(name), std::string::npos) << text;
    EXPECT_NE(text.find("alloca <256 x i32>"), std::string::npos) << text;  // sums of both dtypes
    EXPECT_EQ(text.find("masked.gather"), std::string::npos) << text;
  }
}

// Rests of all three loops, operands that lie across, several blocks of rows.
TEST(ContractTiles, AreChosenForProductsOfAnySize) {
  const Caps caps = with_tiles();
  const std::unique_ptr<Device> interpreter = make_interp_device(caps);
  const auto is_of_tiles = [](UOp u) {
    return u.is(Op::Contract) && find_matrix_unit(u.arg().as_text())->rows > 1;
  };
  for (const auto& [element, sum] : {std::pair{s8, s32}, {bf16, f32}}) {
    for (const Product& p : {Product{32, 128, 32, element, element, sum},
                             {37, 150, 83, element, element, sum},
                             {48, 128, 64, element, element, sum, true, false},
                             {48, 128, 64, element, element, sum, false, true},
                             {300, 130, 64, element, element, sum}}) {
      Graph graph;
      const LinearProgram program = make_program(product_kernel(graph, p), caps);
      EXPECT_TRUE(std::ranges::any_of(program.instructions, is_of_tiles))
          << p.rows << " x " << p.inner << " x " << p.columns << " of " << name_of(element);
      for (Device* device : {interpreter.get(), &device(device_index("CPU"))})
        check_product(*device, p, choose_edits);
    }
  }
}

// The interpreter and the instruction agree to the bit, special values and subnormals included.
TEST_F(Contract, OfBfloat16IsWhatTheProcessorDoes) {
  const Product p{16, 64, 32, bf16, bf16, f32};
  std::mt19937 random(3);
  std::vector<std::byte> a(p.rows * p.inner * 2), b(p.inner * p.columns * 2);
  for (std::vector<std::byte>* x : {&a, &b}) {
    for (std::byte& byte : *x) byte = static_cast<std::byte>(random());
  }
  std::vector<std::vector<std::byte>> results;
  for (Device* device : devices_) {
    if (number_of_unit(device->caps(), bf16, bf16) == 0) GTEST_SKIP() << "the processor has none";
    Graph graph;
    std::vector<std::byte> out(static_cast<std::size_t>(p.rows * p.columns * 4));
    const std::vector<std::span<std::byte>> buffers{out, a, b};
    run_kernel(*device, product_kernel(graph, p), buffers,
               [&](KernelState& k) { by_unit(k, bf16, bf16, true); });
    results.push_back(std::move(out));
  }
  for (i64 i = 0; i < p.rows * p.columns; i++) {
    const double x = number_at(results[0], i, f32), y = number_at(results[1], i, f32);
    EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << i << ": " << x << " and " << y;
  }
}

}  // namespace
}  // namespace croze
