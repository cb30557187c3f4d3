// Programs that are right, wrong, slow, crash or hang: the process that tries them goes on.
#include "croze/tune/workbench.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "croze/base/error.h"
#include "edits/kernels.h"

namespace croze::tune {
namespace {

constexpr TrialTime quick{.seconds = 0.002, .limit = 0.5};

// The kernel of these tests, as a compiler would make it: the product of two matrices.
void product(void* const* buffers, const std::int64_t*, std::int64_t, void*) {
  const auto* a = static_cast<const std::int32_t*>(buffers[1]);
  const auto* b = static_cast<const std::int32_t*>(buffers[2]);
  auto* out = static_cast<std::int32_t*>(buffers[0]);
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 6; j++) {
      std::int32_t sum = 0;
      for (int k = 0; k < 4; k++) sum += a[i * 4 + k] * b[k * 6 + j];
      out[i * 6 + j] = sum;
    }
  }
}

void wrong_product(void* const* buffers, const std::int64_t* n, std::int64_t task, void* scratch) {
  product(buffers, n, task, scratch);
  static_cast<std::int32_t*>(buffers[0])[23]++;
}

void slow_product(void* const* buffers, const std::int64_t* n, std::int64_t task, void* scratch) {
  for (int i = 0; i < 5000; i++) product(buffers, n, task, scratch);
}

void hang(void* const*, const std::int64_t*, std::int64_t, void*) {
  volatile bool goes_on = true;
  while (goes_on) {
  }
}

void crash(void* const*, const std::int64_t*, std::int64_t, void*) { std::abort(); }

void write_far_away(void* const* buffers, const std::int64_t*, std::int64_t, void*) {
  for (std::int64_t i = 0; i < (std::int64_t{1} << 40); i += 4096) {
    static_cast<volatile char*>(buffers[0])[i] = 1;
  }
}

class Benched : public testing::Test {
 protected:
  Benched() : kernel_(test::product_kernel()), bench_(kernel_.sink, 1, 7) {
    EXPECT_TRUE(bench_.learn({.function = product}, 1));
  }

  Trial race(HostFunction candidate) {
    return bench_.race({.function = candidate}, {.function = product}, quick);
  }

  test::SmallKernel kernel_;
  Workbench bench_;
};

TEST_F(Benched, WhatIsRightIsTimed) {
  const Trial trial = race(product);
  EXPECT_EQ(trial.end, TrialEnd::Right);
  EXPECT_GT(trial.seconds, 0);
  EXPECT_LT(trial.seconds, 1e-3);
  EXPECT_GT(trial.rival_seconds, 0);
}

TEST_F(Benched, WhatIsBrokenIsNamedAndDoesNoHarm) {
  EXPECT_EQ(race(wrong_product).end, TrialEnd::Wrong);
  EXPECT_EQ(race(hang).end, TrialEnd::Hung);
  EXPECT_EQ(race(crash).end, TrialEnd::Crashed);
  EXPECT_EQ(race(write_far_away).end, TrialEnd::Crashed);
  EXPECT_EQ(race(slow_product).end, TrialEnd::Slow);
  EXPECT_EQ(race(product).end, TrialEnd::Right);
  EXPECT_EQ(name_of(TrialEnd::Hung), "hung");
}

TEST_F(Benched, WhatDoesNotEndTeachesNothing) {
  EXPECT_FALSE(bench_.learn({.function = hang}, 0.05));
  EXPECT_FALSE(bench_.learn({.function = crash}, 1));
}

TEST(Workbench, RefusesBuffersThatAreTooLarge) {
  const test::SmallKernel kernel = test::product_kernel();
  EXPECT_THROW(Workbench(kernel.sink, 1, 7, 64), Error);
}

}  // namespace
}  // namespace croze::tune
