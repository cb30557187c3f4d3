// units_test.cpp -- matrix units of a warp: what the compiler makes of its records against loops
// over the numbers, and what the interpreter refuses.
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/ptx_interp/run_ptx.h"
#include "backends/ptx_interp/unit_product.h"

namespace croze::test {
namespace {

class PtxUnits : public testing::TestWithParam<const MatrixUnit*> {
 protected:
  const Options::Scope allowed_{{Option::Tf32, 1}};
  const std::unique_ptr<Device> device_ = make_ptx_interp_device();
};

TEST_P(PtxUnits, WholeNumbersAreMultipliedExactly) {
  using Sizes = ProductSizes;
  for (const Sizes& s : {Sizes{64, 64, 64}, Sizes{50, 96, 70}, Sizes{70, 75, 41}}) {
    UnitProduct product(*GetParam(), s, true);
    EXPECT_NE(product.run(*device_, ptx_sm_90a).find("mma.sync.aligned"), std::string::npos)
        << product.unit.name;
    product.expect_right(0);
  }
}

TEST_P(PtxUnits, SumsOfFloatsAreRounded) {
  const MatrixUnit& unit = *GetParam();
  if (!is_float(unit.accumulator)) return;
  UnitProduct product(unit, {48, 100, 56}, false);
  product.run(*device_, ptx_sm_90a);
  product.expect_right(unit.accumulator == DType::Float64 ? 0x1p-52 : 0x1p-23);
}

std::vector<const MatrixUnit*> units_of_warps() {
  std::vector<const MatrixUnit*> units;
  for (std::string_view set : {"mma.sync", "mma.sync-tf32", "mma.sync-fp8"})
    std::ranges::copy(units_of_extension(set), std::back_inserter(units));
  return units;
}
std::string test_name(const testing::TestParamInfo<const MatrixUnit*>& info) {
  std::string name(info.param->name);
  std::ranges::replace(name, '.', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, PtxUnits, testing::ValuesIn(units_of_warps()), test_name);

// A sum of Float32 keeps all bits of its factors unless it was asked for less.
TEST(PtxUnitsOfFloat32, RoundNothingUnasked) {
  UnitProduct product(*find_matrix_unit("mma.sync.tf32"), {64, 64, 64}, false);
  const auto device = make_ptx_interp_device();
  EXPECT_EQ(product.run(*device, ptx_sm_80).find("mma.sync"), std::string::npos);
  product.expect_right(0x1p-24);
}

// ---- what is refused ----

constexpr std::string_view of_halves =
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, "
    "{%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f4, %f5, %f6, %f7};";

// What is said of it when it is compiled, or run.
std::string refusal_of(const std::string& body, int items) {
  try {
    return message_of([&] { run_ptx({body, 0, items}); });
  } catch (const InternalError& e) {
    return e.what();
  }
}

TEST(PtxMma, IsForWholeWarps) {
  EXPECT_EQ(refusal_of(std::string(of_halves), 64), "no error");
  EXPECT_NE(refusal_of(std::string(of_halves), 48).find("a warp that is not whole"),
            std::string::npos);
  EXPECT_NE(refusal_of(fmt::format("@%p0 {}", of_halves), 32).find("some items may pass by"),
            std::string::npos);
}

TEST(PtxMma, IsReachedByAllOfAWarp) {
  const std::string text =
      fmt::format("setp.lt.u32 %p0, %r0, 8;\n@%p0 bra $L0;\n{}\n$L0:\n", of_halves);
  EXPECT_NE(refusal_of(text, 32).find("divergent"), std::string::npos);
  const std::string by_warps =
      fmt::format("setp.lt.u32 %p0, %r0, 32;\n@%p0 bra $L0;\n{}\n$L0:\n", of_halves);
  EXPECT_EQ(refusal_of(by_warps, 64), "no error");
}

TEST(PtxMma, HasItsShapesAndRegisters) {
  std::string other(of_halves);
  other.replace(other.find("k16"), 3, "k32");
  EXPECT_NE(refusal_of(other, 32).find("no such instruction"), std::string::npos);
  std::string fewer(of_halves);
  fewer.replace(fewer.find("{%r5, %r6}"), 10, "{%r5}");
  EXPECT_NE(refusal_of(fewer, 32).find("no vector of 2 registers"), std::string::npos);
  std::string wrong(of_halves);
  wrong.replace(wrong.find("{%r5, %r6}"), 10, "{%r5, %d6}");
  EXPECT_NE(refusal_of(wrong, 32).find("a register of .b64"), std::string::npos);
}

TEST(PtxLdmatrix, IsOfOneTwoOrFourSquares) {
  constexpr const char* of_three =
      "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r4, %r5, %r6}, [%d1];";
  EXPECT_NE(refusal_of(of_three, 32).find("no such instruction"), std::string::npos);
}

TEST(PtxShuffle, IsOfAWholeWarpByAConstant) {
  EXPECT_EQ(refusal_of("shfl.sync.bfly.b32 %r1, %r2, 4, 31, -1;", 64), "no error");
  EXPECT_EQ(refusal_of("shfl.sync.bfly.b32 %f1, %f2, 16, 31, -1;", 32), "no error");
  const auto expect = [](const char* body, int items, const char* part) {
    EXPECT_NE(refusal_of(body, items).find(part), std::string::npos) << body;
  };
  expect("shfl.sync.bfly.b32 %r1, %r2, 4, 31, -1;", 48, "a warp that is not whole");
  expect("@%p0 shfl.sync.bfly.b32 %r1, %r2, 4, 31, -1;", 32, "some items may pass by");
  expect("shfl.sync.bfly.b32 %r1, %r2, %r3, 31, -1;", 32, "only a constant");
  expect("shfl.sync.bfly.b32 %r1, %r2, 32, 31, -1;", 32, "only a constant");
  expect("shfl.sync.bfly.b32 %r1, %r2, 4, 31, 255;", 32, "not of a whole warp");
  expect("shfl.sync.bfly.b32 %d1, %d2, 4, 31, -1;", 32, "a register of .b64");
}

TEST(PtxVote, IsOfAWholeWarp) {
  EXPECT_EQ(refusal_of("vote.sync.ballot.b32 %r1, %p0, -1;", 64), "no error");
  const auto expect = [](const char* body, int items, const char* part) {
    EXPECT_NE(refusal_of(body, items).find(part), std::string::npos) << body;
  };
  expect("vote.sync.ballot.b32 %r1, %p0, -1;", 48, "a warp that is not whole");
  expect("@%p0 vote.sync.ballot.b32 %r1, %p0, -1;", 32, "some items may pass by");
  expect("vote.sync.ballot.b32 %r1, %p0, 255;", 32, "not of a whole warp");
  expect("vote.sync.ballot.b32 %r1, %r2, -1;", 32, "a register of .b32");
}

// Element k of row r of square s is 64 s + 8 r + k; each item writes what it gets of each square.
std::vector<std::uint16_t> squares_loaded(const std::string& load, std::int64_t squares) {
  std::string text =
      ".shared .align 16 .b8 tile[512];\n"
      "mov.u64 %d1, tile; mul.wide.u32 %d2, %r0, 16; add.s64 %d1, %d1, %d2;\n"
      "mul.lo.u32 %r1, %r0, 8;\n";
  for (int k = 0; k < 8; k++) {
    text += fmt::format(
        "add.u32 %r2, %r1, {}; cvt.u16.u32 %h0, %r2; st.shared.b16 [%d1+{}], %h0;\n", k, 2 * k);
  }
  text += "bar.sync 0;\n" + load + "\nmul.wide.u32 %d2, %r0, 16; add.s64 %d0, %d0, %d2;\n";
  for (std::int64_t s = 0; s < squares; s++)
    text += fmt::format("st.global.b32 [%d0+{}], %r{};\n", 4 * s, 4 + s);
  std::vector<std::uint16_t> result(256);
  run_ptx({text, 1, 32}, {bytes_of(result)});
  return result;
}

TEST(PtxLdmatrix, DealsOutPairsOfRowsOrOfColumns) {
  const std::vector<std::uint16_t> rows =
      squares_loaded("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%d1];", 4);
  const std::vector<std::uint16_t> columns =
      squares_loaded("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r4, %r5}, [%d1];", 2);
  for (unsigned item = 0; item < 32; item++) {
    for (unsigned k = 0; k < 8; k++) {
      const unsigned square = k / 2, across = item / 4, along = 2 * (item % 4) + k % 2;
      EXPECT_EQ(rows[item * 8 + k], 64 * square + 8 * across + along) << item << ", " << k;
      if (square >= 2) continue;
      EXPECT_EQ(columns[item * 8 + k], 64 * square + 8 * along + across) << item << ", " << k;
    }
  }
}

TEST(PtxLdmatrix, IsOfRowsThatStandSomewhere) {
  const auto refused = [](const char* load) {
    return message_of([&] { squares_loaded(load, 1); });
  };
  EXPECT_NE(refused("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%d1+8];").find("not aligned"),
            std::string::npos);
  EXPECT_NE(
      refused("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%d1+512];").find("which has 512"),
      std::string::npos);
}

TEST(PtxInstructionsOfUnits, HalvesAreJoinedAndFactorsRounded) {
  std::vector<std::uint32_t> result(1);
  run_ptx({"mov.b16 %h0, 4660; mov.b16 %h1, 22136; mov.b32 %r1, {%h0, %h1};\n"
           "st.global.b32 [%d0], %r1;"},
          {bytes_of(result)});
  EXPECT_EQ(result[0], 0x56781234u);
  run_ptx({"cvt.rna.tf32.f32 %r1, 0f3F801000; st.global.b32 [%d0], %r1;"}, {bytes_of(result)});
  EXPECT_EQ(result[0], 0x3F802000u);  // a tie, away from zero
  run_ptx({"cvt.rna.tf32.f32 %r1, 0fBF800FFF; st.global.b32 [%d0], %r1;"}, {bytes_of(result)});
  EXPECT_EQ(result[0], 0xBF800000u);
}

}  // namespace
}  // namespace croze::test
