// region_test.cpp -- what is said of regions, against the elements that they are.
#include "croze/schedule/memory/region.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "croze/graph/graph.h"

namespace croze {
namespace {

std::set<std::int64_t> elements_of(const Region& r) {
  std::set<std::int64_t> all{r.first};
  for (const Region::Axis& a : r.axes) {
    std::set<std::int64_t> next;
    for (std::int64_t e : all) {
      for (std::int64_t i = 0; i < a.count; i++) next.insert(e + i * a.stride);
    }
    all = std::move(next);
  }
  return all;
}

// A block of a contiguous array of three axes, with steps.
UOp random_index(Graph& graph, std::mt19937& random, std::span<const std::int64_t> shape) {
  const auto below = [&](std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
  };
  UOp flat = graph.index(0);
  for (std::size_t axis = 0; axis < shape.size(); axis++) {
    const std::int64_t size = shape[axis], begin = below(size), step = 1 + below(3);
    const std::int64_t count = 1 + below((size - begin - 1) / step + 1);
    const bool is_mirrored = below(4) == 0;
    UOp i = graph.index(0);
    if (count > 1) {
      i = graph.range(static_cast<std::int64_t>(axis), count, LoopKind::Parallel);
      if (is_mirrored) i = i * -1 + (count - 1);
    }
    flat = flat * size + (i * step + begin);
  }
  return flat;
}

TEST(Region, IsWhatAnIndexNames) {
  Graph graph;
  const UOp i = graph.range(0, 3, LoopKind::Parallel), j = graph.range(1, 4, LoopKind::Parallel);
  const Region rows = region_of(i * 4 + j + 8, 100, false);
  EXPECT_EQ(rows.first, 8);
  EXPECT_EQ(rows.last(), 19);
  ASSERT_EQ(rows.axes.size(), 1);  // neighbouring rows are one stretch
  EXPECT_EQ(rows.axes[0], (Region::Axis{1, 12}));
  EXPECT_TRUE(rows.is_exact);
  EXPECT_FALSE(region_of(i * 4 + j, 100, true).is_exact);
  EXPECT_FALSE(region_of(i / 2, 100, false).is_exact);
  // What leaves the buffer is gated somewhere: all that can be said is that it is a part.
  EXPECT_EQ(elements_of(region_of(i * 4 + -2, 10, true)).size(), 10U);
}

TEST(Region, IsApartAndCoversAsItsElementsDo) {
  std::mt19937 random(5);
  Graph graph;
  const std::int64_t shape[] = {5, 4, 6};
  int apart = 0, seen_apart = 0, covering = 0;
  for (int i = 0; i < 4000; i++) {
    const Region a = region_of(random_index(graph, random, shape), 120, false);
    const Region b = region_of(random_index(graph, random, shape), 120, false);
    const std::set<std::int64_t> in_a = elements_of(a), in_b = elements_of(b);
    std::vector<std::int64_t> both;
    std::ranges::set_intersection(in_a, in_b, std::back_inserter(both));
    if (are_disjoint(a, b)) {
      EXPECT_TRUE(both.empty());
    }
    apart += both.empty();
    seen_apart += are_disjoint(a, b);
    if (covers(a, b)) {
      EXPECT_TRUE(std::ranges::includes(in_a, in_b));
      covering++;
    }
    EXPECT_TRUE(covers(a, a));
    EXPECT_EQ(are_disjoint(a, b), are_disjoint(b, a));
  }
  EXPECT_GT(seen_apart, apart * 9 / 10) << "of " << apart;
  EXPECT_GT(covering, 3);
}

TEST(Region, RowsColumnsAndEveryOtherAreApart) {
  Graph graph;
  const UOp i = graph.range(0, 8, LoopKind::Parallel);
  const auto region = [](UOp flat) { return region_of(flat, 64, false); };
  EXPECT_TRUE(are_disjoint(region(i + 8), region(i + 16)));
  EXPECT_TRUE(are_disjoint(region(i * 8 + 3), region(i * 8 + 5)));
  EXPECT_TRUE(are_disjoint(region(i * 2), region(i * 2 + 1)));
  EXPECT_FALSE(are_disjoint(region(i * 8 + 3), region(i + 8)));
  EXPECT_FALSE(are_disjoint(region(i * 2), region(i * 3)));
}

}  // namespace
}  // namespace croze
