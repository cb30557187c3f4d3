// Lists near another one: different from it, taken by the kernel, the same for one seed.
#include "croze/tune/neighbours.h"

#include <gtest/gtest.h>

#include <set>

#include "croze/codegen/edits/transform.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze::tune {
namespace {

std::set<std::string> texts_of(const std::vector<EditList>& lists) {
  std::set<std::string> texts;
  for (const EditList& list : lists) texts.insert(to_text(list));
  return texts;
}

TEST(Neighbours, ComputeTheSame) {
  Device& interp = device(device_index("INTERP"));
  const EditList start = parse_edits("split r0 by 2; bind r4 unroll; split_reduction r2 by 2");
  const test::SmallKernel kernel = test::product_kernel();
  const std::vector<EditList> lists = neighbours(kernel.sink, interp.caps(), start, 1000, 1);
  EXPECT_GT(lists.size(), 10u);
  EXPECT_FALSE(texts_of(lists).contains(to_text(start)));
  for (const EditList& list : lists) {
    const auto edited =
        test::run_edited(interp, kernel, [&](KernelState& k) { apply_all(k, list); });
    EXPECT_EQ(edited.result, kernel.expected) << to_text(list);
  }
}

TEST(Neighbours, AreChosenByTheSeed) {
  Device& interp = device(device_index("INTERP"));
  const EditList start = parse_edits("split r0 by 2");
  const test::SmallKernel kernel = test::product_kernel();
  const auto of_seed = [&](std::uint64_t seed) {
    return texts_of(neighbours(kernel.sink, interp.caps(), start, 5, seed));
  };
  EXPECT_EQ(of_seed(1).size(), 5u);
  EXPECT_EQ(of_seed(1), of_seed(1));
  EXPECT_NE(of_seed(1), of_seed(2));
}

}  // namespace
}  // namespace croze::tune
