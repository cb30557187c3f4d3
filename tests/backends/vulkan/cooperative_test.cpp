// cooperative_test.cpp -- which matrix units drivers are taken to have, and products by those of
// the driver that is here.  Debian 12's has none; cooperative.sh runs this on one that has.
#include "croze/backends/vulkan/cooperative.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "croze/backends/vulkan/vulkan_device.h"
#include "croze/base/options.h"
#include "croze/codegen/pipeline.h"
#include "support/matrix_products.h"
#include "support/schedule_runner.h"

namespace croze::test {
namespace {

using namespace vulkan;
using i64 = std::int64_t;

// ---- what is claimed ----

constexpr FloatControls all_controls{true, true, true};
const SpirvTarget full{.bytes = true,
                       .halfwords = true,
                       .int64 = true,
                       .float16 = true,
                       .float_controls = {all_controls, all_controls, all_controls}};

CooperativeMatrix product(std::uint32_t rows, std::uint32_t columns, std::uint32_t depth,
                          Component factors, Component sums) {
  CooperativeMatrix c;
  c.rows = rows;
  c.columns = columns;
  c.depth = depth;
  c.a = c.b = factors;
  c.sums = c.result = sums;
  c.scope = Scope::Subgroup;
  return c;
}

MatrixAnswers answers_with(std::uint32_t least, std::uint32_t most) {
  MatrixAnswers answers;
  answers.memory_model = true;
  answers.matrices.matrices = 1;
  answers.bfloat16.is_type = answers.bfloat16.matrices = 1;
  answers.sizes.required_size = answers.sizes.full_subgroups = 1;
  answers.limits.least_items = least;
  answers.limits.most_items = most;
  answers.limits.most_subgroups = 32;
  answers.limits.stages = stage_compute;
  return answers;
}

std::vector<std::string> names_of(const MatrixOffer& offer) {
  std::vector<std::string> names;
  for (const MatrixUnit* unit : offer.units) names.emplace_back(unit->name);
  return names;
}

const std::vector<CooperativeMatrix>& nvidias() {
  static const std::vector<CooperativeMatrix> all{
      product(16, 16, 16, Component::Float16, Component::Float16),
      product(16, 16, 16, Component::Float16, Component::Float32),
      product(16, 8, 8, Component::Float16, Component::Float32),
      product(16, 16, 16, Component::BFloat16, Component::Float32),
      product(16, 16, 32, Component::UInt8, Component::UInt32),
      product(16, 16, 32, Component::Int8, Component::Int32)};
  return all;
}

constexpr std::uint32_t nvidia = 0x10de, intel = 0x8086;

TEST(CooperativeOffer, UnitsAreThoseThatTheDriverHasForItsSubgroups) {
  const MatrixOffer offer = matrix_offer(nvidias(), answers_with(32, 32), full, nvidia, 32);
  EXPECT_EQ(offer.items, 32u);
  EXPECT_TRUE(offer.bfloat16);
  EXPECT_EQ(names_of(offer), (std::vector<std::string>{
                                 "cooperative.s8s8.16x16x32.32", "cooperative.u8u8.16x16x32.32",
                                 "cooperative.f16.16x16x16.32", "cooperative.bf16.16x16x16.32",
                                 "cooperative.f16.16x8x8.32"}));
}

TEST(CooperativeOffer, IntelsAreOfTheSmallestSubgroups) {
  const std::vector<CooperativeMatrix> products{
      product(8, 16, 16, Component::Float16, Component::Float32)};
  const MatrixOffer offer = matrix_offer(products, answers_with(16, 32), full, intel, 32);
  EXPECT_EQ(offer.items, 16u);
  EXPECT_EQ(names_of(offer), (std::vector<std::string>{"cooperative.f16.8x16x16.16"}));
  EXPECT_TRUE(matrix_offer(products, answers_with(16, 32), full, nvidia, 32).units.empty());
}

TEST(CooperativeOffer, WithoutPartsThatKernelsNeedThereAreNone) {
  const auto units = [](const MatrixAnswers& answers, const SpirvTarget& target) {
    return matrix_offer(nvidias(), answers, target, nvidia, 32).units.size();
  };
  const MatrixAnswers all = answers_with(32, 32);
  ASSERT_EQ(units(all, full), 5u);
  MatrixAnswers some = all;
  some.sizes.full_subgroups = 0;
  EXPECT_EQ(units(some, full), 0u);
  some = all;
  some.limits.stages = 0;
  EXPECT_EQ(units(some, full), 0u);
  some = all;
  some.bfloat16.matrices = 0;
  EXPECT_EQ(units(some, full), 4u);
  some = all;
  some.memory_model = false;
  EXPECT_EQ(units(some, full), 0u);
  SpirvTarget target = full;
  target.float16 = false;
  EXPECT_EQ(units(all, target), 3u);
  target.bytes = false;
  EXPECT_EQ(units(all, target), 0u);
}

TEST(CooperativeOffer, DriversOnProcessorsAreAskedForIt) {
  const Options::Scope unless_on_a_processor{{Option::Cooperative, -1}};
  EXPECT_TRUE(takes_matrices(DeviceType::Discrete));
  EXPECT_FALSE(takes_matrices(DeviceType::Cpu));
  const Options::Scope asked{{Option::Cooperative, 1}};
  EXPECT_TRUE(takes_matrices(DeviceType::Cpu));
  const Options::Scope refused{{Option::Cooperative, 0}};
  EXPECT_FALSE(takes_matrices(DeviceType::Discrete));
}

// ---- what is computed ----

class VulkanCooperative : public testing::Test {
 protected:
  void SetUp() override {
    const Options::Scope asked{{Option::Cooperative, 1}};
    static const Drivers& drivers = *new Drivers(look_for_drivers(Library::load()));
    device = make_device(drivers, 0);
    if (!device) GTEST_SKIP() << "no driver of Vulkan here";
    if (device->caps().matrix_units.empty()) GTEST_SKIP() << "the driver has no matrices";
  }

  void expect_product(const MatrixUnit& unit, const ProductSizes& s) {
    Graph graph;
    Caps caps = device->caps();
    const LinearProgram program = make_program(product_kernel(graph, s, unit), caps);
    EXPECT_TRUE(std::ranges::any_of(program.instructions, [&](UOp u) {
      return u.is(Op::Contract) && u.arg().as_text() == unit.name;
    })) << unit.name;
    Product product(s, unit);
    run_kernel(*device, product_kernel(graph, s, unit), product.buffers(), {});
    product.expect_right();
  }

  std::unique_ptr<Device> device;
};

TEST_F(VulkanCooperative, ProductsOfAllItsUnitsAreRight) {
  bool has_halves = false;
  for (const MatrixUnit* unit : device->caps().matrix_units) {
    has_halves |= unit->a == DType::Float16;
    expect_product(*unit, {64, 64, 64});
    expect_product(*unit, {128, 256, 96});
    expect_product(*unit, {70, 75, 41});
    expect_product(*unit, {33, 200, 17, 5});
  }
  EXPECT_TRUE(has_halves);
}

}  // namespace
}  // namespace croze::test
