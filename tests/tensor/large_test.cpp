// Very deep and very many tensors.  Labelled "large": some seconds, so not part of the quick tests.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <vector>

#include "croze/tensor/elementwise/elementwise.h"
#include "support/memory.h"

namespace croze {
namespace {

constexpr std::int64_t mebi = std::int64_t{1} << 20;

std::int64_t peak_rss_bytes() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<std::int64_t>(use.ru_maxrss) * 1024;
}

// First, while the process is small: after a large graph the collector waits long before its next
// run.
TEST(Large, ManySmallTensorsLeaveNothingBehind) {
  constexpr int times = 40;
  std::int64_t after_half = 0;
  for (int time = 0; time < times; time++) {
    if (time == times / 2) after_half = test::resident_bytes();
    std::vector<Tensor> alive;
    for (int i = 0; i < 10'000; i++) {
      alive.push_back(Tensor::from_data({static_cast<float>(i)}, {1}) + 1);
      alive.back().realize();
    }
    for (int i = 0; i < 10'000; i += 999) EXPECT_EQ(alive[i].item<float>(), float(i + 1));
  }
  // 200,000 tensors later: less than 64 bytes for each, which is what the allocator may scatter.
  EXPECT_LT(test::resident_bytes() - after_half, 12 * mebi);
}

TEST(Large, AChainOfAMillionOperationsRuns) {
  const std::vector<float> start{1, 2, 3, 4};
  Tensor x = Tensor::from_data(start, {4});
  std::vector<float> expected = start;
  for (int i = 0; i < 500'000; i++) {
    x = x * 0.5 + 1;
    for (float& e : expected) e = e * 0.5f + 1;
  }
  EXPECT_EQ(x.to_vector<float>(), expected);
  EXPECT_LT(peak_rss_bytes(), 4096 * mebi);
}

}  // namespace
}  // namespace croze
