// assemble_test.cpp -- NVIDIA's assembler takes what the renderer writes.  The programs of the
// device suite run beside these; without ptxas all of them are skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/ptx_interp/assembling_device.h"
#include "backends/ptx_interp/unit_product.h"
#include "backends/ptx_interp/wgmma_product.h"
#include "fuzz/kernels.h"
#include "support/device_suite.h"

namespace croze::test {
namespace {

class PtxAssembler : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_under_test()) GTEST_SKIP() << "no ptxas here";
  }
};

// Without this the others say nothing.
TEST_F(PtxAssembler, RefusesWhatIsNoPtx) {
  const std::string text =
      ".version 7.1\n.target sm_80\n.address_size 64\n"
      ".visible .entry croze_broken() { .reg .b32 %r<1>; unknown.s32 %r0; ret; }\n";
  expect_broken_is_refused(*device_under_test(), text);
}

TEST_F(PtxAssembler, TakesKernelsUnderRandomEdits) {
  fuzz::Counts counts;
  for (std::uint64_t seed = 1; seed <= 40; seed++) {
    const auto mismatch = fuzz::kernels_case_on(*device_under_test(), seed, counts);
    EXPECT_FALSE(mismatch.has_value()) << mismatch->message << "\n" << mismatch->code;
  }
}

// What older processors have.
TEST_F(PtxAssembler, TakesProductsByMatrixUnits) {
  const Options::Scope allowed{{Option::Tf32, 1}};
  for (std::string_view set : {"mma.sync", "mma.sync-tf32"}) {
    for (const MatrixUnit* unit : units_of_extension(set)) {
      UnitProduct product(*unit, {70, 75, 41}, true);
      EXPECT_NE(product.run(*device_under_test(), ptx_sm_80).find("mma.sync"), std::string::npos);
      product.expect_right(0);
    }
  }
}

// A kernel that is taken, with these words, and right numbers.
void take_product(WgmmaProduct p, std::string_view words) {
  p.group_memory = 48 << 10;  // of arrays of a fixed size
  Graph graph;
  const LinearProgram program = make_program(kernel_of(graph, p), caps_of(p));
  const std::string text = text_of(program);
  EXPECT_NE(text.find(words), std::string::npos) << p.name();
  Numbers numbers(p);
  launch(*device_under_test(), program.info, text, numbers);
  EXPECT_EQ(numbers.wrong_number(), "") << p.name();
}

// What sm_90a alone has.
TEST_F(PtxAssembler, TakesProductsByUnitsOfFourWarps) {
  for (const MatrixUnit* unit : units_of_extension("wgmma")) {
    take_product({unit->name, 70, 150, unit->columns + 1}, "wgmma.mma_async");
  }
}

// The assembler knows where the processor's copier wants a barrier, and what a map is.
TEST_F(PtxAssembler, TakesBoxesThatTheseUnitsRead) {
  for (const MatrixUnit* unit : units_of_extension("wgmma")) {
    WgmmaProduct p{unit->name, 80, 160, unit->columns + 16};
    p.by_boxes = true;
    p.a_by_columns = unit->name.find(".m") != std::string_view::npos;
    p.b_by_columns = unit->name.find("k.n") != std::string_view::npos;
    take_product(p, "cp.async.bulk.tensor");
  }
}

// The counts, when all tests have run.
class PrintCounts : public testing::Environment {
 public:
  void TearDown() override {
    for (const auto& [target, sum] : assembled()) {
      fmt::print("{:8} {} kernels taken, at most {} registers, {} that spill\n", target,
                 sum.kernels, sum.most_registers, sum.spilling);
    }
  }
};
const auto* const counts_at_the_end = testing::AddGlobalTestEnvironment(new PrintCounts);

}  // namespace
}  // namespace croze::test
