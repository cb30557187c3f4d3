// Edits as text and back.
#include <gtest/gtest.h>

#include "croze/codegen/edits/edit.h"
#include "support/errors.h"

namespace croze {
namespace {

using test::error_of;

const std::vector<Edit>& one_of_each() {
  static const std::vector<Edit> edits{
      {.kind = EditKind::Split, .ranges = {3}, .size = 4},
      {.kind = EditKind::SplitOverlapping, .ranges = {3}, .size = 14},
      {.kind = EditKind::Merge, .ranges = {1, 12}},
      {.kind = EditKind::Pad, .ranges = {0}, .size = 16},
      {.kind = EditKind::SplitReduction, .ranges = {7}, .size = 2},
      {.kind = EditKind::Bind, .ranges = {5}, .loop = LoopKind::Lane},
      {.kind = EditKind::Reorder, .ranges = {2, 0, 1}},
      {.kind = EditKind::Share, .ranges = {2, 3}},
      {.kind = EditKind::OnePass, .ranges = {2, 3}, .size = 8},
      {.kind = EditKind::Keep, .ranges = {2, 3}, .size = 16},
      {.kind = EditKind::Tabulate, .ranges = {2, 3}, .size = 8},
      {.kind = EditKind::Panel, .ranges = {2, 5, 3}},
      {.kind = EditKind::Accumulate, .ranges = {2, 0}, .size = 4},
      {.kind = EditKind::Contract, .ranges = {5, 2}, .size = 1},
      {.kind = EditKind::Contract, .ranges = {5, 6, 2}, .size = 3},
      {.kind = EditKind::Stage, .ranges = {4, 5}, .size = 8, .load = 1, .space = Space::Thread},
      {.kind = EditKind::Stage, .ranges = {4}, .size = 1, .load = 0, .space = Space::Group},
      {.kind = EditKind::Simplify},
      {.kind = EditKind::FillAhead, .ranges = {6}, .size = 3}};
  return edits;
}

TEST(EditText, NamesLoopsByTheirIds) {
  EXPECT_EQ(to_text(one_of_each()),
            "split r3 by 4; split_overlapping r3 by 14; merge r1 r12; pad r0 by 16; "
            "split_reduction r7 by 2; bind r5 lane; "
            "reorder r2 r0 r1; share r2 r3; one_pass r2 r3 by 8; keep r2 r3 by 16; tabulate r2 r3 "
            "by 8; panel r2 r5 r3; accumulate r2 r0 by 4; contract r5 r2 by 1; "
            "contract r5 r6 r2 by 3; stage load 1 over r4 r5 in thread by 8; "
            "stage load 0 over r4 in group by 1; simplify; fill_ahead r6 by 3");
}

TEST(EditText, IsReadBackAsItWas) {
  EXPECT_EQ(parse_edits(to_text(one_of_each())), one_of_each());
  EXPECT_EQ(parse_edits(" simplify ;;\n"), std::vector<Edit>{{.kind = EditKind::Simplify}});
  EXPECT_TRUE(parse_edits("").empty());
}

TEST(EditText, WhatIsNoEditIsNamedInTheError) {
  for (const char* text :
       {"jump r1", "split", "split r1", "split r1 by", "split r1 by x", "split r1 by 4 5",
        "split r1 r2 by 4", "split 1 by 4", "split r99999999999999999999 by 4", "bind r1",
        "bind r1 sideways", "merge r1", "merge r1 r2 r3", "stage load 1 r2 in thread by 1",
        "stage load 1 over r2 in attic by 1", "reorder", "simplify r1", "split rr1 by 2"}) {
    EXPECT_NE(error_of([&] { parse_edits(std::string("simplify; ") + text); }).find(text),
              std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace croze
