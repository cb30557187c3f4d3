// wgmma_test.cpp -- units of four warps that read shared memory by themselves: what the compiler
// makes of its records against loops over the numbers, and what the interpreter finds wrong.
#include "croze/render/wgmma.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/ptx_interp/run_ptx.h"
#include "backends/ptx_interp/wgmma_product.h"
#include "croze/backends/interp/interp_device.h"

namespace croze::test {
namespace {

// By the interpreter of PTX and by that of linear programs.  Returns the text.
std::string expect_product(const WgmmaProduct& p) {
  SCOPED_TRACE(p.name());
  const Caps caps = caps_of(p);
  Graph graph;
  const LinearProgram program = make_program(kernel_of(graph, p), caps);
  const std::string text = text_of(program);
  EXPECT_NE(text.find("wgmma.mma_async"), std::string::npos);
  const auto ptx = make_ptx_interp_device();
  Numbers numbers(p);
  launch(*ptx, program.info, text, numbers);
  EXPECT_EQ(numbers.wrong_number(), "");

  const auto interp = make_interp_device(caps);
  Numbers again(p);
  fuzz::launch_program(*interp, *fuzz::compile_program(*interp, program), again.buffers());
  EXPECT_EQ(again.wrong_number(), "");
  return text;
}

TEST(Wgmma, MultipliesAllThatItHasFactorsOf) {
  for (const MatrixUnit* unit : units_of_extension("wgmma")) {
    if (unit->columns == 64) expect_product({unit->name, 64, 2 * unit->depth, 64});
  }
}

TEST(Wgmma, HasTilesOf128And256Columns) {
  expect_product({"wgmma.bf16.kn.n128", 128, 256, 128});
  expect_product({"wgmma.f16.kk.n256", 64, 192, 256, 1, false, true});
  expect_product({"wgmma.bf16.mn.n256", 64, 192, 256, 1, true, false});
  expect_product({"wgmma.e4m3e4m3.kk.n128", 64, 256, 128, 1, false, true});
}

// Whether a factor, which lies by lines or by terms, is copied by 16 bytes to where the unit has
// it.
bool is_copied_by_rows(const WgmmaProduct& p) {
  const char of_a = p.unit[p.unit.find(".n") - 2], of_b = p.unit[p.unit.find(".n") - 1];
  // The rows of the product may be those of the unit, or its columns.
  const bool fits = (of_a == 'm') == p.a_by_columns || (of_b == 'k') == p.b_by_columns,
             fits_turned = (of_a == 'k') == p.b_by_columns || (of_b == 'n') == p.a_by_columns;
  return fits || fits_turned;
}

// Any order in memory may become any in a tile.
TEST(Wgmma, FactorsMayLieByRowsAndByColumns) {
  for (const bool a_by_columns : {false, true}) {
    for (const bool b_by_columns : {false, true}) {
      for (const char* unit : {"wgmma.bf16.kk.n64", "wgmma.bf16.kn.n64", "wgmma.f16.mk.n64",
                               "wgmma.f16.mn.n64", "wgmma.s8s8.kk.n64"}) {
        const std::int64_t inner = 2 * find_matrix_unit(unit)->depth;
        const WgmmaProduct p{unit, 64, inner, 64, 1, a_by_columns, b_by_columns};
        const std::string text = expect_product(p);
        EXPECT_EQ(text.find("cp.async.cg.shared.global") != std::string::npos, is_copied_by_rows(p))
            << p.name();
      }
    }
  }
}

TEST(Wgmma, SizesNeedNotDivide) {
  for (const char* unit : {"wgmma.bf16.kn.n64", "wgmma.u8s8.kk.n64"}) {
    expect_product({unit, 50, 200, 70});
    expect_product({unit, 65, 75, 41});
    expect_product({unit, 100, 129, 130, 1, true, true});
  }
}

TEST(Wgmma, ManyProductsAndWhatFollowsThem) {
  expect_product({"wgmma.bf16.kn.n64", 70, 128, 64, 3});
  expect_product({"wgmma.bf16.kn.n64", 64, 256, 64, 2, false, false, true});
  expect_product({"wgmma.e5m2e4m3.kk.n64", 64, 256, 60, 1, false, true, true});
}

// A turn of the loop begins products, the next one leaves them at work, with slots enough.
TEST(Wgmma, GoesOnBehindATurnWhereThereIsRoom) {
  const std::string wide = expect_product({"wgmma.bf16.kn.n64", 64, 512, 64}),
                    narrow = expect_product(
                        {"wgmma.bf16.kn.n64", 64, 512, 64, 1, false, false, false, 32 << 10});
  EXPECT_NE(wide.find("wgmma.wait_group.sync.aligned 1;"), std::string::npos);
  EXPECT_EQ(narrow.find("wgmma.wait_group.sync.aligned 1;"), std::string::npos);
}

// ---- what is found wrong ----

// What the interpreter says of a right kernel with one text in place of another, everywhere.
std::string fault_with(std::string_view from, std::string_view to) {
  const WgmmaProduct p{"wgmma.bf16.kn.n64", 64, 512, 64};
  const Caps caps = caps_of(p);
  Graph graph;
  const LinearProgram program = make_program(kernel_of(graph, p), caps);
  std::string text = text_of(program);
  std::size_t found = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
    found++;
  }
  EXPECT_GT(found, 0u) << from;
  const auto device = make_ptx_interp_device();
  Numbers numbers(p);
  const std::string fault = message_of([&] { launch(*device, program.info, text, numbers); });
  return fault == "no error" && !numbers.wrong_number().empty() ? "wrong numbers" : fault;
}

void expect_fault(std::string_view from, std::string_view to, std::string_view part) {
  const std::string fault = fault_with(from, to);
  EXPECT_NE(fault.find(part), std::string::npos) << from << " -> " << to << ": " << fault;
}

TEST(WgmmaFaults, RegistersAreFenced) {
  expect_fault("wgmma.fence.sync.aligned;", "", "no wgmma.fence before");
}

TEST(WgmmaFaults, WhatItemsWriteIsShownToTheUnit) {
  expect_fault("fence.proxy.async.shared::cta;", "", "no fence has shown it");
  expect_fault("fence.proxy.async.shared::cta;\n  bar.sync 0;",
               "bar.sync 0;\n  fence.proxy.async.shared::cta;", "no fence has shown it");
}

TEST(WgmmaFaults, ProductsAreAwaited) {
  expect_fault("wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;",
               "while a unit reads it");
  expect_fault("wgmma.wait_group.sync.aligned 0;", "", "while a unit adds to it");
  expect_fault("wgmma.commit_group.sync.aligned;", "", "while a unit");
}

TEST(WgmmaFaults, CopiesAreAwaited) {
  expect_fault("cp.async.wait_group 1;", "cp.async.wait_group 2;", "before its copy is waited for");
}

TEST(WgmmaFaults, DescriptorsSayHowFactorsLie) {
  const MatrixUnit& unit = *find_matrix_unit("wgmma.bf16.kn.n64");
  for (const std::string_view places : {unit.places_of_a, unit.places_of_b}) {
    const std::uint64_t layout = wgmma_descriptor(unit, places).layout;
    const auto with = [&](std::uint64_t other) {
      return fault_with(fmt::format(", {};", layout), fmt::format(", {};", other));
    };
    EXPECT_NE(with(layout & ~(std::uint64_t{3} << 62)).find("without 128-byte swizzling"),
              std::string::npos);
    EXPECT_NE(with(layout | std::uint64_t{1} << 49).find("base offset"), std::string::npos);
    EXPECT_EQ(with(layout ^ std::uint64_t{96} << 32), "wrong numbers");  // half the stride
  }
}

}  // namespace
}  // namespace croze::test
