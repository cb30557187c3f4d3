// compile_test.cpp -- kernels for GPUs that are not here: NVRTC takes all of them, and those of
// whole graphs spill no register.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "croze/backends/cuda/nvrtc_library.h"
#include "croze/base/options.h"
#include "croze/base/thread_pool.h"
#include "croze/run/devices.h"
#include "cuda/tools.h"
#include "support/target_sets.h"
#include "targets/ptxas_notes.h"
#include "targets/target_kernels.h"

namespace croze::test {
namespace {

using targets::KernelUse;
using targets::TargetKernel;

class CompileForCuda : public testing::TestWithParam<std::string> {
 protected:
  // The compiler is looked for once, when it is first asked for.
  static void SetUpTestSuite() {
    const std::string fetched = fetched_tool("libnvrtc.so");
    if (fetched.empty()) return;
    const Options::Scope given{{Option::NvrtcLibrary, fetched}};
    cuda::Nvrtc::get();
  }

  void SetUp() override {
    if (!cuda::Nvrtc::get()) GTEST_SKIP() << "no NVRTC here (tests/cuda/install.sh fetches it)";
  }

  const Target target_ = target_named(GetParam());
};

// So many are compiled as one source: the compiler takes longer to begin than a small kernel takes.
constexpr std::size_t batch = 48;

// Each kernel is taken by the compiler; a source that it refuses is an error with its message.
std::vector<KernelUse> compiled(const Target& target, const std::vector<TargetKernel>& kernels) {
  const std::size_t batches = (kernels.size() + batch - 1) / batch;
  std::vector<std::vector<KernelUse>> uses(batches);
  std::vector<std::string> refused(batches);
  ThreadPool pool;
  pool.run(static_cast<std::int64_t>(batches), [&](std::int64_t at) {
    const auto i = static_cast<std::size_t>(at);
    const std::size_t first = i * batch, count = std::min(batch, kernels.size() - first);
    try {
      const std::string source = targets::joined(std::span(kernels).subspan(first, count));
      uses[i] = targets::kernel_uses(target.compile(fmt::format("batch_{}", i), source).notes);
    } catch (const std::exception& e) {
      refused[i] = e.what();
    }
  });
  std::vector<KernelUse> all;
  for (std::size_t i = 0; i < batches; i++) {
    EXPECT_EQ(refused[i], "");
    all.insert(all.end(), uses[i].begin(), uses[i].end());
  }
  return all;
}

UseSummary compile_set(const Target& target, std::string_view name,
                       const std::vector<TargetKernel>& kernels) {
  const UseSummary s = summary_of(target, name, compiled(target, kernels));
  EXPECT_EQ(s.kernels, kernels.size()) << name;
  return s;
}

TEST_P(CompileForCuda, WholeGraphsSpillNothing) {
  for (const TargetGraph& graph : target_graphs()) {
    const UseSummary s = compile_set(target_, graph.name, kernels_of(target_, graph));
    EXPECT_GT(s.kernels, 0u);
    EXPECT_EQ(s.spilling, 0) << graph.name;
  }
}

TEST_P(CompileForCuda, EveryKernelOfTheOpListIsTaken) {
  OpKernels all(target_);
  std::size_t kernels = 0;
  for (const OpFamily& family : op_families()) {
    kernels += compile_set(target_, family.name, all.of(family)).kernels;
  }
  fmt::print("{:8} {} kernels of {} calls of the op list\n", target_.name, kernels, all.calls());
  EXPECT_GE(kernels, 1000u);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(All, CompileForCuda, testing::Values("sm_80", "sm_90a", "sm_100a"),
                         test_name);

}  // namespace
}  // namespace croze::test
