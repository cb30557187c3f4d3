// ptxas_notes_test.cpp -- what the assembler tells of kernels, read from its words.
#include "targets/ptxas_notes.h"

#include <gtest/gtest.h>

namespace croze::targets {
namespace {

TEST(PtxasNotes, EachEntryFunctionHasItsNumbers) {
  const std::vector<KernelUse> uses = kernel_uses(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'croze_a' for 'sm_90a'\n"
      "ptxas info    : Function properties for croze_a\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 29 registers, used 1 barriers\n"
      "ptxas info    : Compiling entry function 'croze_b' for 'sm_90a'\n"
      "    64 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 0 barriers, 64 bytes cumulative stack size\n"
      "ptxas info    : Compile time = 58.369 ms\n");
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].name, "croze_a");
  EXPECT_EQ(uses[0].registers, 29);
  EXPECT_EQ(uses[0].stack_bytes + uses[0].spill_stores + uses[0].spill_loads, 0);
  EXPECT_EQ(uses[1].name, "croze_b");
  EXPECT_EQ(uses[1].registers, 255);
  EXPECT_EQ(uses[1].stack_bytes, 64);
  EXPECT_EQ(uses[1].spill_stores, 16);
  EXPECT_EQ(uses[1].spill_loads, 20);
}

TEST(PtxasNotes, OtherTextsHaveNone) {
  EXPECT_TRUE(kernel_uses("").empty());
  EXPECT_TRUE(kernel_uses("Used 3 registers, of nothing\nCompiling entry function").empty());
}

}  // namespace
}  // namespace croze::targets
