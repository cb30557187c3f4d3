// instructions_test.cpp -- what instructions mean where PTX differs from eval() or leaves a choice:
// the renderer writes around it, so the tests of devices do not see it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/ptx_interp/run_ptx.h"

namespace croze::test {
namespace {

// What an instruction makes of nothing but constants; `register_name` is the one it leaves it in.
template <typename T>
T result_of(const std::string& instruction, std::string_view register_name) {
  std::vector<T> result(1);
  run_ptx({fmt::format("{}\nst.global.b{} [%d0], {};", instruction, 8 * sizeof(T), register_name)},
          {bytes_of(result)});
  return result[0];
}
std::int32_t int_of(const std::string& instruction) {
  return result_of<std::int32_t>(instruction, "%r1");
}
std::int64_t long_of(const std::string& instruction) {
  return result_of<std::int64_t>(instruction, "%d1");
}
float float_of(const std::string& instruction) { return result_of<float>(instruction, "%f1"); }

TEST(PtxInstructions, FloatsBecomeIntegersWithSaturation) {
  EXPECT_EQ(int_of("cvt.rzi.s32.f32 %r1, 0fC0200000;"), -2);         // -2.5
  EXPECT_EQ(int_of("cvt.rzi.s32.f32 %r1, 0f7F800000;"), INT32_MAX);  // infinity
  EXPECT_EQ(int_of("cvt.rzi.u32.f32 %r1, 0fC0200000;"), 0);
  EXPECT_EQ(int_of("cvt.rzi.u32.f64 %r1, 0d41F0000000000000;"), -1);  // 2^32
  EXPECT_EQ(long_of("cvt.rzi.s64.f64 %d1, 0dC3E0000000000000;"), INT64_MIN);
  EXPECT_EQ(long_of("cvt.rzi.u64.f64 %d1, 0d43E0000000000000;"), INT64_MIN);  // 2^63
  EXPECT_EQ(int_of("cvt.rzi.s8.f32 %r1, 0fC3160000;"), -128);                 // -150
}

TEST(PtxInstructions, NaNIsZeroOnlyWhereNothingHas64Bits) {
  EXPECT_EQ(int_of("cvt.rzi.s32.f32 %r1, 0f7FC00000;"), 0);
  EXPECT_EQ(int_of("cvt.rzi.s32.f64 %r1, 0d7FF8000000000000;"), INT32_MIN);
  EXPECT_EQ(long_of("cvt.rzi.s64.f32 %d1, 0f7FC00000;"), INT64_MIN);
}

TEST(PtxInstructions, ConversionsToFloatsRoundAsTheySay) {
  EXPECT_EQ(float_of("cvt.rn.f32.s32 %f1, 16777219;"), 16777220.0f);
  EXPECT_EQ(float_of("cvt.rz.f32.s32 %f1, 16777219;"), 16777218.0f);
  EXPECT_EQ(float_of("cvt.rz.f32.s32 %f1, -16777219;"), -16777218.0f);
  EXPECT_EQ(float_of("cvt.rz.f32.u64 %f1, -1;"), std::nextafter(0x1p64f, 0.0f));
  EXPECT_EQ(float_of("cvt.rn.f32.f64 %f1, 0d3FEFFFFFF0000000;"), 1.0f);
  EXPECT_EQ(float_of("cvt.rz.f32.f64 %f1, 0d3FEFFFFFF0000000;"), std::nextafter(1.0f, 0.0f));
  EXPECT_EQ(float_of("cvt.rz.f32.f64 %f1, 0d7FE0000000000000;"), std::numeric_limits<float>::max());
  EXPECT_EQ(float_of("cvt.rn.f16.f32 %h0, 0f3F801000;\ncvt.f32.f16 %f1, %h0;"), 1.0f);  // a tie
  EXPECT_TRUE(std::signbit(float_of("cvt.rzi.f32.f32 %f1, 0fBF000000;")));              // -0.5
}

TEST(PtxInstructions, NarrowIntegersAreExtendedToTheRegister) {
  EXPECT_EQ(int_of("cvt.s8.s32 %r1, 200;"), -56);
  EXPECT_EQ(int_of("cvt.u8.s32 %r1, -1;"), 255);
  EXPECT_EQ(int_of("mov.b16 %h0, 511;\ncvt.s32.s8 %r1, %h0;"), -1);
  EXPECT_EQ(long_of("cvt.s64.s32 %d1, -5;"), -5);
  EXPECT_EQ(long_of("cvt.u64.u32 %d1, -5;"), 0xfffffffb);
}

TEST(PtxInstructions, ShiftsBeyondTheWidthAreClamped) {
  EXPECT_EQ(int_of("shl.b32 %r1, 1, 32;"), 0);
  EXPECT_EQ(int_of("shr.u32 %r1, -1, 40;"), 0);
  EXPECT_EQ(int_of("shr.s32 %r1, -8, 40;"), -1);
  EXPECT_EQ(int_of("shr.s32 %r1, -8, 1;"), -4);
}

TEST(PtxInstructions, ExtremaPassOverNaNUnlessTheySayOtherwise) {
  EXPECT_EQ(float_of("max.f32 %f1, 0f7FC00000, 0f3F800000;"), 1.0f);
  EXPECT_TRUE(std::isnan(float_of("max.NaN.f32 %f1, 0f7FC00000, 0f3F800000;")));
  EXPECT_FALSE(std::signbit(float_of("max.f32 %f1, 0f80000000, 0f00000000;")));
  EXPECT_TRUE(std::signbit(float_of("min.f32 %f1, 0f00000000, 0f80000000;")));
}

TEST(PtxInstructions, ComparisonsOfNaNAreFalseUnlessUnordered) {
  const auto truth = [](const std::string& comparison) {
    return int_of(comparison + "\nselp.b32 %r1, 1, 0, %p0;");
  };
  EXPECT_EQ(truth("setp.eq.f32 %p0, 0f7FC00000, 0f7FC00000;"), 0);
  EXPECT_EQ(truth("setp.ne.f32 %p0, 0f7FC00000, 0f00000000;"), 0);
  EXPECT_EQ(truth("setp.neu.f32 %p0, 0f7FC00000, 0f00000000;"), 1);
  EXPECT_EQ(truth("setp.num.f32 %p0, 0f7FC00000, 0f00000000;"), 0);
  EXPECT_EQ(truth("setp.lt.u32 %p0, 1, -1;"), 1);
  EXPECT_EQ(truth("setp.lt.s32 %p0, 1, -1;"), 0);
}

TEST(PtxInstructions, ProductsAreWideWhereTheySayIt) {
  EXPECT_EQ(int_of("mul.lo.s32 %r1, 65536, 65537;"), 65536);
  EXPECT_EQ(long_of("mul.wide.s32 %d1, -65536, 65537;"), -65536LL * 65537);
  EXPECT_EQ(long_of("mad.wide.u32 %d1, -1, 4, 3;"), 4 * 0xffffffffLL + 3);
  EXPECT_EQ(float_of("fma.rn.f32 %f1, 0f3F800001, 0f3F800001, 0fBF800002;"), 0x1p-46f);
}

TEST(PtxInstructions, DivisionsThatPtxLeavesOpenAreErrors) {
  EXPECT_EQ(int_of("div.s32 %r1, -7, 2;"), -3);
  EXPECT_EQ(int_of("rem.s32 %r1, -7, 2;"), -1);
  EXPECT_EQ(message_of([] { int_of("div.s32 %r1, 1, 0;"); }),
            "kernel hand, line 5 of its PTX: division of an integer by zero");
  EXPECT_EQ(message_of([] { int_of("rem.s32 %r1, -2147483648, -1;"); }),
            "kernel hand, line 5 of its PTX: division of the least integer by -1");
}

TEST(PtxInstructions, GuardsAndBranchesChooseWhatIsDone) {
  EXPECT_EQ(int_of("mov.b32 %r1, 5;\nsetp.lt.s32 %p0, 1, 2;\n@!%p0 mov.b32 %r1, 6;"), 5);
  EXPECT_EQ(int_of("mov.b32 %r1, 0;\n$L0:\nadd.s32 %r1, %r1, 3;\n"
                   "setp.lt.s32 %p0, %r1, 10;\n@%p0 bra $L0;"),
            12);
}

TEST(PtxInstructions, ItemsAndGroupsKnowTheirPlace) {
  std::vector<std::int32_t> numbers(12);
  run_ptx({"mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %nctaid.x;\n"
           "mad.lo.s32 %r4, %r1, %r2, %r0;\n"
           "mad.wide.s32 %d1, %r4, 4, %d0;\n"
           "mad.lo.s32 %r5, %r3, 100, %r4;\n"
           "st.global.b32 [%d1], %r5;",
           1, 4},
          {bytes_of(numbers)}, 3);
  for (int k = 0; k < 12; k++) EXPECT_EQ(numbers[static_cast<std::size_t>(k)], 300 + k);
}

}  // namespace
}  // namespace croze::test
