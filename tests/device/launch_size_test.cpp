// Sizes that are known at launch, and what a launch is refused for.
#include "croze/device/launch_size.h"

#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "croze/device/device.h"
#include "croze/graph/graph.h"
#include "support/errors.h"

namespace croze {
namespace {

using namespace test;

std::int64_t value(const LaunchSize& size, std::vector<std::int64_t> variables = {}) {
  return size.value(variables);
}

TEST(LaunchSize, IsANumberOrAnExpression) {
  EXPECT_EQ(value(7), 7);
  EXPECT_TRUE(LaunchSize(7).is_constant());
  EXPECT_EQ(LaunchSize(7).text(), "7");
  Graph g;
  const UOp n = g.variable(0, 0, 100), m = g.variable(1, 0, 9);
  EXPECT_TRUE(LaunchSize::of(g.index(12)).is_constant());
  const LaunchSize tiles = LaunchSize::of((n + 15) / 16);
  EXPECT_FALSE(tiles.is_constant());
  EXPECT_EQ(tiles.text(), "v0 15 + 16 /");
  for (std::int64_t v : {0, 1, 16, 17, 100}) EXPECT_EQ(value(tiles, {v}), (v + 15) / 16);
  const LaunchSize area = LaunchSize::of(max(n - 3, m) * min(m, g.index(4)) + n % 7);
  EXPECT_EQ(value(area, {10, 5}), 7 * 4 + 3);
  EXPECT_EQ(value(area, {2, 3}), 3 * 3 + 2);
}

TEST(LaunchSize, DividesAsTheGraphDoes) {
  EXPECT_EQ(value(LaunchSize::parse("-7 2 /")), -4);
  EXPECT_EQ(value(LaunchSize::parse("-7 2 %")), 1);
  EXPECT_EQ(value(LaunchSize::parse("7 0 /")), 0);
  EXPECT_EQ(value(LaunchSize::parse("7 0 %")), 7);
  EXPECT_EQ(value(LaunchSize::parse("7 -1 /")), -7);
  EXPECT_EQ(value(LaunchSize::parse("7 -1 %")), 0);
}

TEST(LaunchSize, IsReadBackFromItsText) {
  for (const char* text : {"16", "-3", "v0", "v0 15 + 16 /", "v1 v0 * 3 < 0 >", "v12 -1 *"}) {
    EXPECT_EQ(LaunchSize::parse(text).text(), text);
  }
  for (const char* text : {"", "v", "v-1", "+", "1 2", "1 +", "1 2 + +", "x", "1x", "1  2 +",
                           "99999999999999999999"}) {
    EXPECT_NE(error_of([&] { LaunchSize::parse(text); }).find("is no size"), std::string::npos)
        << text;
  }
}

TEST(LaunchSize, DoesNotWrap) {
  const LaunchSize square = LaunchSize::parse("v0 v0 *");
  EXPECT_EQ(value(square, {1 << 30}), std::int64_t{1} << 60);
  EXPECT_NE(error_of([&] { value(square, {std::int64_t{1} << 32}); }).find("does not fit"),
            std::string::npos);
  EXPECT_NE(error_of([&] { value(square, {}); }).find("needs number 0"), std::string::npos);
}

TEST(Launch, ArgumentsAreChecked) {
  ProgramInfo info;
  info.name = "rows";
  info.num_buffers = 1;
  info.num_variables = 1;
  info.variables = {{1, 8}};
  info.sizes = {{0, LaunchSize::parse("v0 4 *")}};
  const MemoryView buffer{{}, 0, 20};
  const auto refusal = [&](std::vector<std::int64_t> variables) {
    return error_if_any([&] { check_launch(info, {&buffer, 1}, variables); });
  };
  EXPECT_EQ(refusal({1}), "");
  EXPECT_EQ(refusal({5}), "");
  EXPECT_EQ(refusal({0}), "kernel rows: variable 0 is 0, but it was compiled for 1 to 8");
  EXPECT_EQ(refusal({9}), "kernel rows: variable 0 is 9, but it was compiled for 1 to 8");
  EXPECT_EQ(refusal({6}), "kernel rows: buffer 0 has 20 bytes, with these variables it needs 24");
  EXPECT_THROW(check_launch(info, {&buffer, 1}, {}), InternalError);
}

}  // namespace
}  // namespace croze
