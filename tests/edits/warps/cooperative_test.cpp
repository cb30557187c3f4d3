// cooperative_test.cpp -- products by the units of subgroups: what the interpreter makes of them,
// against loops over the numbers, and their modules of SPIR-V, of which spirv-val says whether they
// are valid.  What a driver makes of these is tested in tests/backends/vulkan/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "croze/backends/interp/interp_device.h"
#include "croze/base/error.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/analysis/spec.h"
#include "croze/graph/cooperative_units.h"
#include "croze/graph/graph.h"
#include "croze/render/ptx/ptx.h"
#include "croze/render/spirv/module.h"
#include "croze/render/spirv/spirv.h"
#include "support/matrix_products.h"
#include "support/schedule_runner.h"

namespace croze {
namespace {

using namespace test;
using i64 = std::int64_t;
using spirv::Code;

constexpr FloatControls all_controls{true, true, true};
const SpirvTarget target{.bytes = true,
                         .halfwords = true,
                         .int64 = true,
                         .float16 = true,
                         .float_controls = {all_controls, all_controls, all_controls}};

// A device of Vulkan: without vectors, and without half precision but in memory.
Caps caps_with(const MatrixUnit& unit) {
  const SpirvRenderer renderer(target);
  Caps caps = ptx_caps();
  caps.ops = SpirvRenderer::ops();
  caps.dtypes = renderer.dtypes();
  caps.storage = renderer.storage();
  caps.copies_async = caps.loads_matrices = caps.shuffles_items = false;
  caps.vector_bytes = 0;
  caps.group_memory = 32 << 10;
  caps.group_element_bytes = SpirvRenderer::group_element_bytes;
  caps.threads = 1;  // of compute units: a small product is work enough
  caps.warp_items = unit.threads;
  caps.matrix_units = {&unit};
  return caps;
}

i64 contracts_in(const LinearProgram& program) {
  return std::ranges::count_if(program.instructions, [](UOp u) { return u.is(Op::Contract); });
}

void expect_product(const MatrixUnit& unit, const ProductSizes& s, const Caps& caps) {
  Graph graph;
  EXPECT_GT(contracts_in(make_program(product_kernel(graph, s, unit), caps)), 0)
      << unit.name << ", " << s.rows << " x " << s.inner << " x " << s.columns;
  Product product(s, unit);
  const std::unique_ptr<Device> device = make_interp_device(caps);
  run_kernel(*device, product_kernel(graph, s, unit), product.buffers(), {});
  product.expect_right();
}

TEST(Cooperative, ItemsOfASubgroupMakeAProductTogether) {
  for (const MatrixUnit& unit : cooperative_units()) {
    expect_product(unit, {64, 64, 64}, caps_with(unit));
    expect_product(unit, {70, 75, 41}, caps_with(unit));
  }
}

// Of float16 that the device cannot even convert: factors are in arrays of bits.
TEST(Cooperative, FactorsMayBeBitsToTheKernel) {
  const MatrixUnit& unit = *find_matrix_unit("cooperative.f16.8x8x8.8");
  Caps caps = caps_with(unit);
  caps.storage = caps.dtypes;
  expect_product(unit, {70, 75, 41}, caps);
  Graph graph;
  const LinearProgram program = make_program(product_kernel(graph, {64, 64, 64}, unit), caps);
  EXPECT_TRUE(std::ranges::any_of(program.instructions, [](UOp u) {
    return u.is(Op::LoadMatrix) && u.dtype() == DType::UInt16;
  }));
}

TEST(Cooperative, ABatchIsManyProducts) {
  for (const char* name : {"cooperative.f16.8x8x8.8", "cooperative.s8s8.16x16x16.32"}) {
    const MatrixUnit& unit = *find_matrix_unit(name);
    expect_product(unit, {40, 70, 33, 3}, caps_with(unit));
  }
}

// Where items copy on their own tiles have slots.
TEST(Cooperative, TilesAreFilledAhead) {
  for (const char* name : {"cooperative.f16.16x16x16.32", "cooperative.u8u8.8x8x8.8"}) {
    const MatrixUnit& unit = *find_matrix_unit(name);
    Caps caps = caps_with(unit);
    caps.copies_async = true;
    caps.vector_bytes = 16;
    const ProductSizes s{64, 8 * unit.depth, 64};
    Graph graph;
    const LinearProgram program = make_program(product_kernel(graph, s, unit), caps);
    EXPECT_TRUE(std::ranges::any_of(program.instructions, [](UOp u) {
      return u.is(Op::Barrier) && awaits_copies(u);
    })) << name;
    expect_product(unit, s, caps);
    expect_product(unit, {70, 5 * unit.depth + 3, 41}, caps);
  }
}

// Two factors of 8 x 32 elements of two bytes, and 8 x 8 sums of four bytes for a subgroup.
TEST(Cooperative, SumsGoThroughGroupMemoryWhichHasRoomForThem) {
  const MatrixUnit& unit = *find_matrix_unit("cooperative.f16.8x8x8.8");
  const Edit whole{.kind = EditKind::Contract, .ranges = {0, 1, 2}, .size = 1};
  const auto why = [&](i64 group_memory) {
    Graph graph;
    Caps caps = caps_with(unit);
    caps.group_memory = group_memory;
    return refusal(KernelState(product_kernel(graph, {8, 32, 8}, unit), caps), whole);
  };
  EXPECT_EQ(why(1280), "");
  EXPECT_EQ(why(1279), "tiles of 1280 bytes do not fit in 1279");
}

// The same of two subgroups, which share the columns.
TEST(Cooperative, EachSubgroupHasRoomForItsSums) {
  const MatrixUnit& unit = *find_matrix_unit("cooperative.f16.8x8x8.8");
  Graph graph;
  Caps caps = caps_with(unit);
  KernelState k(product_kernel(graph, {16, 32, 8}, unit), caps);
  const SplitRange rows = split(k, k.loops[0], 8);
  bind(k, rows.outer, LoopKind::Item);
  const Edit whole{.kind = EditKind::Contract, .ranges = {rows.inner.range_id(), 1, 2}, .size = 1};
  caps.group_memory = 2048;
  EXPECT_EQ(refusal(k, whole), "");
  caps.group_memory = 2047;
  EXPECT_EQ(refusal(k, whole), "tiles of 2048 bytes do not fit in 2047");
}

TEST(Cooperative, SumsBeginWithZeros) {
  const MatrixUnit& unit = *find_matrix_unit("cooperative.f16.8x8x8.8");
  Graph graph;
  const LinearProgram program =
      make_program(product_kernel(graph, {64, 32, 64}, unit), caps_with(unit));
  std::vector<UOp> instructions = program.instructions;
  EXPECT_NO_THROW(check_program(instructions));
  const UOp products =
      *std::ranges::find_if(instructions, [](UOp u) { return u.is(Op::Contract); });
  const UOp one = program.graph->constant(DType::Float32, 1.0);
  std::vector<UOp> operands{one};
  for (int i = 1; i < products.num_src(); i++) operands.push_back(products.src(i));
  instructions.insert(instructions.end(), {one, program.graph->with_sources(products, operands)});
  EXPECT_THROW(check_program(instructions), InternalError);
}

// ---- modules ----

std::string module_of(const MatrixUnit& unit, const ProductSizes& s) {
  Graph graph;
  return SpirvRenderer(target).render(
      make_program(product_kernel(graph, s, unit), caps_with(unit)));
}

i64 count(const std::string& module, Code code) {
  std::vector<std::uint32_t> words(module.size() / 4);
  std::memcpy(words.data(), module.data(), words.size() * 4);
  i64 found = 0;
  for (std::size_t at = 5; at < words.size(); at += words[at] >> 16)
    found += (words[at] & 0xffff) == static_cast<std::uint32_t>(code);
  return found;
}

TEST(Cooperative, AModuleMultipliesMatricesAndStoresSumsOnce) {
  const MatrixUnit& unit = *find_matrix_unit("cooperative.f16.8x8x8.8");
  Graph graph;
  const ProductSizes s{64, 256, 64};
  const i64 contracts = contracts_in(make_program(product_kernel(graph, s, unit), caps_with(unit)));
  const std::string module = module_of(unit, s);
  EXPECT_EQ(count(module, Code::CooperativeMatrixMulAdd), contracts * unit.instructions);
  EXPECT_EQ(count(module, Code::CooperativeMatrixStore), contracts);
  std::vector<std::uint32_t> words(module.size() / 4);
  std::memcpy(words.data(), module.data(), words.size() * 4);
  EXPECT_TRUE(spirv::needs(words, spirv::Capability::CooperativeMatrix));
  EXPECT_FALSE(spirv::needs(words, spirv::Capability::Float64));
}

// What spirv-val says; nothing where it is not installed or does not know the extension, as that of
// Debian 12 does not.
std::string complaints_of(const std::string& module, bool* is_checked) {
  const std::string path = testing::TempDir() + "croze_cooperative.spv";
  std::ofstream(path, std::ios::binary) << module;
  FILE* const pipe = popen(
      ("spirv-val --target-env vulkan1.3 --scalar-block-layout '" + path + "' 2>&1").c_str(), "r");
  std::string said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said += static_cast<char>(c);
  const int status = pclose(pipe);
  std::remove(path.c_str());
  const bool is_unknown = said.find("not found") != std::string::npos ||
                          said.find("Invalid capability operand: 6022") != std::string::npos ||
                          said.find("Invalid capability operand: 5116") != std::string::npos;
  *is_checked = !is_unknown;
  return status == 0 || is_unknown ? "" : said + " (failed)";
}

TEST(Cooperative, ModulesOfAllUnitsAreValid) {
  bool is_checked = false;
  for (const MatrixUnit& unit : cooperative_units()) {
    for (const ProductSizes& s : {ProductSizes{64, 256, 64}, ProductSizes{70, 75, 41, 2}}) {
      EXPECT_EQ(complaints_of(module_of(unit, s), &is_checked), "") << unit.name;
      if (!is_checked) GTEST_SKIP() << "spirv-val is not here, or does not know the extension";
    }
  }
}

}  // namespace
}  // namespace croze
