// Sums of products by the matrix units of a wave, on items that the interpreter lets meet, against
// loops over the numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "croze/backends/interp/interp_device.h"
#include "croze/base/options.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/pipeline.h"
#include "croze/device/llvm/compile.h"
#include "croze/graph/graph.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/amdgpu.h"
#include "croze/render/ptx/ptx.h"
#include "support/matrix_products.h"
#include "support/schedule_runner.h"

namespace croze {
namespace {

using namespace test;
using i64 = std::int64_t;

Caps caps_with(const MatrixUnit& unit, bool copies_boxes = false) {
  Caps caps = ptx_caps();
  caps.copies_boxes = copies_boxes;
  caps.threads = 1;  // of compute units: a small product is work enough
  caps.warp_items = unit.extension == "wgmma" ? 32 : unit.threads;
  caps.matrix_units = {&unit};
  return caps;
}

// Returns how many boxes are copied.
i64 expect_product(const MatrixUnit& unit, const ProductSizes& s, const Caps& caps) {
  Graph graph;
  const LinearProgram program = make_program(product_kernel(graph, s, unit), caps);
  EXPECT_GT(std::ranges::count_if(program.instructions, [](UOp u) { return u.is(Op::Contract); }),
            0)
      << unit.name << ", " << s.rows << " x " << s.inner << " x " << s.columns;
  Product product(s, unit);
  const std::unique_ptr<Device> device = make_interp_device(caps);
  run_kernel(*device, product_kernel(graph, s, unit), product.buffers(), {});
  product.expect_right();
  return std::ranges::count_if(program.instructions, [](UOp u) { return u.is(Op::CopyBox); });
}

void expect_product(const MatrixUnit& unit, const ProductSizes& s) {
  EXPECT_EQ(expect_product(unit, s, caps_with(unit)), 0);
}

TEST(ContractWave, ItemsOfAWaveMakeAProductTogether) {
  const Options::Scope allowed{{Option::Tf32, 1}};
  for (const MatrixUnit& unit : matrix_units()) {
    if (unit.threads == 1 || unit.reads_group_memory) continue;
    expect_product(unit, {64, 64, 64});
    expect_product(unit, {50, 3 * std::max<i64>(32, unit.depth), 70});
    expect_product(unit, {70, 75, 41});
  }
}

// What they read there the edit has put into tiles.
TEST(ContractWave, UnitsOfFourWarpsReadGroupMemory) {
  for (const char* name : {"wgmma.bf16.kk.n64", "wgmma.f16.mn.n64", "wgmma.bf16.kn.n128",
                           "wgmma.s8u8.kk.n64", "wgmma.e4m3e5m2.kk.n64"}) {
    const MatrixUnit& unit = *find_matrix_unit(name);
    expect_product(unit, {64, 2 * unit.depth, 64});
    expect_product(unit, {70, 75, 41});
  }
}

// By the device itself, where rows begin at multiples of 16 bytes; for two units side by side two.
TEST(ContractWave, BoxesAreCopiedToWhatUnitsRead) {
  for (const char* name : {"wgmma.bf16.kn.n64", "wgmma.f16.kn.n128"}) {
    const MatrixUnit& unit = *find_matrix_unit(name);
    const Caps caps = caps_with(unit, true);
    EXPECT_GT(expect_product(unit, {64, 2 * unit.depth, 128}, caps), 1);
    EXPECT_GT(expect_product(unit, {70, 72, 136}, caps), 1);
    EXPECT_EQ(expect_product(unit, {70, 75, 41}, caps), 0);
  }
}

TEST(ContractWave, TilesOfUnitsThatReadGroupMemoryTakeRoom) {
  const MatrixUnit& unit = *find_matrix_unit("wgmma.bf16.kk.n64");
  const Edit whole{.kind = EditKind::Contract, .ranges = {0, 1, 2}, .size = 1};
  const auto why = [&](const ProductSizes& s, i64 group_memory) {
    Graph graph;
    Caps caps = caps_with(unit);
    caps.group_memory = group_memory;
    return refusal(KernelState(product_kernel(graph, s, unit), caps), whole);
  };
  EXPECT_EQ(why({64, 64, 64}, 16 << 10), "");
  EXPECT_EQ(why({64, 64, 64}, 8 << 10), "tiles of 16384 bytes do not fit in 8192");
  EXPECT_EQ(why({64, 128, 64}, 16 << 10), "loop r2 does not go in steps");
  EXPECT_EQ(why({32, 64, 64}, 16 << 10), "loop r0 is no output loop of 64");
}

// Of factors of two bytes: both as rows lie in memory, of which b is wanted by columns.
TEST(ContractWave, FactorsAreLoadedAsMatricesFromTilesThatAreCopiedByVectors) {
  for (const char* name : {"mma.sync.f16", "mma.sync.bf16"}) {
    Graph graph;
    const MatrixUnit& unit = *find_matrix_unit(name);
    const LinearProgram program =
        make_program(product_kernel(graph, {64, 64, 64}, unit), caps_with(unit));
    i64 as_rows = 0, as_columns = 0;
    for (UOp u : program.instructions) {
      if (u.is(Op::LoadMatrix)) (u.arg().value == 1 ? as_columns : as_rows)++;
      if (u.is(Op::Load)) {
        EXPECT_TRUE(std::ranges::any_of(program.lanes, [&](UOp l) {
          return u.varies_over(l) && l.range_size() * size_of(u.dtype()) == 16;
        })) << name;
      }
    }
    EXPECT_GT(as_rows, 0) << name;
    EXPECT_GT(as_columns, 0) << name;
  }
}

// A convolution of a padded picture: what the windows are of lies around it as zeros.
struct Picture {
  i64 batch, inputs, outputs, side, window;
  i64 places() const { return side * side; }
  i64 taps() const { return window * window; }
};

// out[n, o, y, x] = sum over c, v, w of in[n, c, y + v - window / 2, x + w - window / 2] *
// f[o, c, v, w].
UOp convolution_kernel(Graph& g, const Picture& p, const MatrixUnit& unit) {
  auto loop = [&g, id = 0](i64 size, LoopKind kind) mutable { return g.range(id++, size, kind); };
  const UOp n = loop(p.batch, LoopKind::Parallel), o = loop(p.outputs, LoopKind::Parallel),
            y = loop(p.side, LoopKind::Parallel), x = loop(p.side, LoopKind::Parallel),
            c = loop(p.inputs, LoopKind::Reduce), v = loop(p.window, LoopKind::Reduce),
            w = loop(p.window, LoopKind::Reduce);
  const UOp line = y + v - p.window / 2, column = x + w - p.window / 2;
  const auto is_inside = [&](UOp at) { return less(at, p.side) & less(g.index(-1), at); };
  const UOp in = g.load(g.place(g.param(unit.a, 1, p.batch * p.inputs * p.places()),
                                (n * p.inputs + c) * p.places() + line * p.side + column,
                                is_inside(line) & is_inside(column)));
  const UOp f = g.load(g.place(g.param(unit.a, 2, p.outputs * p.inputs * p.taps()),
                               ((o * p.inputs + c) * p.window + v) * p.window + w));
  const UOp sum = g.reduce(Op::Add, g.cast(in, unit.accumulator) * g.cast(f, unit.accumulator),
                           std::vector<UOp>{c, v, w});
  const UOp out = g.place(g.param(unit.accumulator, 0, p.batch * p.outputs * p.places()),
                          (n * p.outputs + o) * p.places() + y * p.side + x);
  return g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{n, o, y, x})});
}

double convolution_at(const Picture& p, i64 at, const std::vector<std::byte>& in,
                      const std::vector<std::byte>& f, DType t) {
  const i64 place = at % p.places(), o = at / p.places() % p.outputs,
            n = at / p.places() / p.outputs;
  double sum = 0;
  for (i64 c = 0; c < p.inputs; c++) {
    for (i64 tap = 0; tap < p.taps(); tap++) {
      const i64 line = place / p.side + tap / p.window - p.window / 2;
      const i64 column = place % p.side + tap % p.window - p.window / 2;
      if (line < 0 || line >= p.side || column < 0 || column >= p.side) continue;
      sum += number_at(in, (n * p.inputs + c) * p.places() + line * p.side + column, t) *
             number_at(f, (o * p.inputs + c) * p.taps() + tap, t);
    }
  }
  return sum;
}

void expect_convolution(const Picture& p, const MatrixUnit& unit) {
  SCOPED_TRACE(unit.name);
  const Caps caps = caps_with(unit);
  Graph graph;
  const LinearProgram program = make_program(convolution_kernel(graph, p, unit), caps);
  EXPECT_TRUE(std::ranges::any_of(program.instructions, [](UOp u) { return u.is(Op::Contract); }));
  const i64 results = p.batch * p.outputs * p.places();
  std::vector<std::byte> in = small_numbers(p.batch * p.inputs * p.places(), unit.a, 1),
                         f = small_numbers(p.outputs * p.inputs * p.taps(), unit.a, 2),
                         out(static_cast<std::size_t>(results * size_of(unit.accumulator)));
  const std::vector<std::span<std::byte>> buffers{out, in, f};
  const std::unique_ptr<Device> device = make_interp_device(caps);
  run_kernel(*device, convolution_kernel(graph, p, unit), buffers, {});
  for (i64 i = 0; i < results; i++) {
    ASSERT_EQ(number_at(out, i, unit.accumulator), convolution_at(p, i, in, f, unit.a)) << i;
  }
}

// Lines and columns become one axis of the tile, whose copies alone ask what is inside.
TEST(ContractWave, PlacesOfAPictureAreAnAxis) {
  for (const char* unit : {"mma.sync.bf16", "wgmma.bf16.kn.n64", "cooperative.f16.8x8x8.8"})
    expect_convolution({2, 32, 24, 12, 3}, *find_matrix_unit(unit));
}

// How the assembler calls what a unit is made of.
std::string instruction_of(const MatrixUnit& unit) {
  const bool is_mfma = unit.extension.starts_with("mfma");
  const auto short_name = [&](DType t) {
    if (!is_float8(t)) return t == DType::BFloat16 ? "bf16" : is_float(t) ? "f16" : "iu8";
    return t == DType::Float8E4M3 || t == DType::Float8E4M3FNUZ ? "fp8" : "bf8";
  };
  if (unit.a == DType::Float64) return "v_mfma_f64_16x16x4_f64";
  if (unit.a == DType::Float32) return "v_mfma_f32_16x16x4_f32";
  const std::string factors = !is_float(unit.a) && is_mfma ? "i8"
                              : is_float8(unit.a)
                                  ? fmt::format("{}_{}", short_name(unit.a), short_name(unit.b))
                                  : short_name(unit.a);
  return fmt::format("v_{}_{}_16x16x{}_{}", is_mfma ? "mfma" : "wmma",
                     is_float(unit.a) ? "f32" : "i32", unit.depth, factors);
}

// Compiled for a processor that has the unit.  Its instruction is looked for in the whole object,
// of which what is no code makes no such instruction.
TEST(ContractWave, ProcessorsThatAreNotHereHaveTheInstruction) {
  struct Row {
    std::string_view extension, processor;
  };
  for (const Row& row : {Row{"mfma", "gfx942"}, Row{"mfma-fnuz", "gfx942"},
                         Row{"wmma-11", "gfx1100"}, Row{"wmma-12", "gfx1200"}}) {
    for (const MatrixUnit* unit : units_of_extension(row.extension)) {
      Graph graph;
      Caps caps = caps_with(*unit);
      caps.dtypes = caps.storage = AmdGpuRenderer::dtypes();
      caps.ops = AmdGpuRenderer::ops();
      caps.copies_async = false;
      const LinearProgram program =
          make_program(product_kernel(graph, {512, 512, 512}, *unit), caps);
      const LlvmProcessor processor{"amdgcn-amd-amdhsa", std::string(row.processor), ""};
      const std::string object = compile_llvm_ir(
          processor,
          {.name = "product", .passes = "function(sroa,infer-address-spaces)", .optimizes = true},
          AmdGpuRenderer().render(program));
      i64 found = 0;
      for (const auto& i : disassemble_for(processor, std::as_bytes(std::span(object)))) {
        found += i.text.find(instruction_of(*unit)) != std::string::npos;
      }
      EXPECT_GT(found, 0) << unit->name << ": " << instruction_of(*unit);
    }
  }
}

}  // namespace
}  // namespace croze
