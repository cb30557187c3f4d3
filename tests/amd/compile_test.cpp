// compile_test.cpp -- kernels for AMD's graphics processors, which are not here: libLLVM takes all
// of them, ld.lld links them, and those of whole graphs spill no register.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "amd/target_test.h"
#include "croze/base/error.h"
#include "croze/base/thread_pool.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "support/target_sets.h"
#include "targets/code_object.h"

namespace croze::test {
namespace {

using targets::KernelUse;
using targets::TargetKernel;

class CompileForAmd : public TestOfAmd {};

// Each kernel is compiled; then all are linked, where there is a linker, whose start takes longer
// than a kernel does.
std::vector<KernelUse> compiled(const Target& target, const std::vector<TargetKernel>& kernels) {
  std::vector<KernelUse> uses(kernels.size());
  std::vector<std::string> objects(kernels.size()), refused(kernels.size());
  ThreadPool pool;
  pool.run(static_cast<std::int64_t>(kernels.size()), [&](std::int64_t at) {
    const auto i = static_cast<std::size_t>(at);
    try {
      objects[i] = target.compile(kernels[i].name, kernels[i].source).bytes;
      uses[i] = targets::uses_in_code_object(objects[i]).at(0);
    } catch (const std::exception& e) {
      refused[i] = e.what();
    }
  });
  for (std::size_t i = 0; i < kernels.size(); i++) {
    EXPECT_EQ(refused[i], "") << kernels[i].source;
  }
  std::erase(objects, "");
  if (const auto linker = targets::find_code_linker(); linker && !objects.empty()) {
    EXPECT_TRUE(targets::is_code_object(targets::link_code_objects(*linker, objects)));
  }
  return uses;
}

TEST_P(CompileForAmd, WholeGraphsSpillNothing) {
  for (const TargetGraph& graph : target_graphs()) {
    const std::vector<TargetKernel> kernels = kernels_of(target_, graph);
    const UseSummary s = summary_of(target_, graph.name, compiled(target_, kernels));
    EXPECT_GT(s.kernels, 0u);
    EXPECT_EQ(s.spilling, 0) << graph.name;
  }
}

// The remainders of a common divisor, one after the other: written out they take minutes.
TEST_P(CompileForAmd, ManyLongDivisionsAreCalledAndNeedNoStack) {
  const TargetGraph divisor{"common divisor", [] {
                              const std::shared_ptr<std::int64_t[]> memory(new std::int64_t[2]{});
                              const Tensor a =
                                  Tensor::from_blob(memory.get(), {2}, DType::Int64, memory);
                              return std::vector<Tensor>{gcd(a + 6, a + 4)};
                            }};
  const std::vector<TargetKernel> kernels = kernels_of(target_, divisor);
  const UseSummary s = summary_of(target_, divisor.name, compiled(target_, kernels));
  EXPECT_NE(kernels.at(0).source.find("call i64 @long.srem("), std::string::npos);
  EXPECT_EQ(s.on_stack + s.spilling, 0);
}

TEST_P(CompileForAmd, EveryKernelOfTheOpListIsTaken) {
  OpKernels all(target_);
  std::size_t kernels = 0;
  for (const OpFamily& family : op_families()) {
    kernels += summary_of(target_, family.name, compiled(target_, all.of(family))).kernels;
  }
  fmt::print("{:8} {} kernels of {} calls of the op list\n", target_.name, kernels, all.calls());
  EXPECT_GE(kernels, 1000u);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(All, CompileForAmd,
                         testing::Values("gfx942", "gfx950", "gfx1100", "gfx1200"), test_name);

}  // namespace
}  // namespace croze::test
