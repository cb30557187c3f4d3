// Overflow of sizes.
#include "croze/base/checked.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/sanitizers.h"

namespace croze {
namespace {

TEST(Checked, SumsAndProductsThatFitAreExact) {
  EXPECT_EQ(checked_mul(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_EQ(checked_add(INT64_MAX, -1), INT64_MAX - 1);
  EXPECT_EQ(checked_mul(-3, 5), -15);
}

TEST(Checked, OverflowIsAnError) {
  EXPECT_THROW(checked_mul(int64_t{1} << 32, int64_t{1} << 31), Error);
  EXPECT_THROW(checked_mul(INT64_MIN, -1), Error);
  EXPECT_THROW(checked_add(INT64_MAX, 1), Error);
}

TEST(Checked, ProductOfShapesCountsElements) {
  EXPECT_EQ(checked_product(std::vector<int64_t>{}), 1);
  EXPECT_EQ(checked_product(std::vector<int64_t>{2, 3, 4}), 24);
  EXPECT_EQ(checked_product(std::vector<int64_t>{INT64_MAX, INT64_MAX, 0}), 0);
  EXPECT_THROW(checked_product(std::vector<int64_t>{INT64_MAX, 2}), Error);
}

TEST(Checked, AVectorThatDoesNotFitIntoMemoryIsAnErrorWithItsSize) {
  EXPECT_EQ(sized_vector<int>(3, "three numbers"), (std::vector<int>{0, 0, 0}));
  try {
    sized_vector<float>(int64_t{1} << 60, "all numbers");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("all numbers takes 1152921504606846976 elements of 4 bytes"),
              std::string::npos)
        << e.message();
  }
#if !CROZE_ASAN && !CROZE_TSAN
  // Their allocators end the process.
  EXPECT_THROW(sized_vector<std::byte>(int64_t{1} << 45, "32 TiB"), Error);
#endif
}

}  // namespace
}  // namespace croze
