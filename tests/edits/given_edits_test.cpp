// Kernels compiled with the edits that CROZE_EDITS gives for them.
#include "croze/run/given_edits.h"

#include <gtest/gtest.h>

#include "croze/base/options.h"
#include "croze/run/execute.h"
#include "croze/tensor/tensor.h"
#include "support/errors.h"

namespace croze {
namespace {

using test::error_of;

constexpr const char* name = "map_6";

// Squares of 1 to 6, by the kernel "map_6".
std::vector<float> squares() {
  const Tensor x =
      Tensor::from_data(std::vector<float>{1, 2, 3, 4, 5, 6}, {6}, {.device = "INTERP"});
  return x.square().to_vector<float>();
}

const std::vector<float> expected{1, 4, 9, 16, 25, 36};

std::int64_t compiled() { return run_statistics().kernels_compiled; }

TEST(GivenEdits, ReplaceTheChosenOnesAndArePartOfTheKey) {
  EXPECT_EQ(squares(), expected);
  const std::int64_t before = compiled();
  for (const char* edits : {": split r0 by 2", ": split r0 by 3; bind r2 unroll", ":"}) {
    const Options::Scope given{{Option::Edits, std::string(name) + edits}};
    EXPECT_EQ(squares(), expected);
    EXPECT_EQ(squares(), expected);
  }
  EXPECT_EQ(compiled(), before + 3);
  EXPECT_EQ(squares(), expected);
  EXPECT_EQ(compiled(), before + 3);
}

TEST(GivenEdits, OfOtherKernelsDoNotCount) {
  const Options::Scope given{{Option::Edits, "map_7: split r9 by 2, map_8: bind r0 thread"}};
  EXPECT_EQ(squares(), expected);
}

TEST(GivenEdits, ThatTheKernelDoesNotTakeAreAnErrorWithTheReason) {
  const Options::Scope given{{Option::Edits, "map_7: simplify, map_6: split r0 by 4"}};
  const std::string text = error_of(squares);
  EXPECT_NE(text.find("split r0 by 4"), std::string::npos) << text;
  EXPECT_NE(text.find("a loop of 6"), std::string::npos) << text;
}

TEST(GivenEdits, ThatCannotBeReadAreAnError) {
  for (const char* bad : {"map_6: split r0", "split r0 by 2"}) {
    const Options::Scope given{{Option::Edits, bad}};
    EXPECT_FALSE(error_of(squares).empty()) << bad;
  }
}

}  // namespace
}  // namespace croze
