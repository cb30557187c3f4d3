// compile_test.cpp -- kernels for GPUs that are not here: NVRTC takes all of them, and those of
// whole graphs spill no register.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "corpus/traces.h"
#include "croze/backends/cuda/nvrtc_library.h"
#include "croze/base/options.h"
#include "croze/base/thread_pool.h"
#include "croze/run/devices.h"
#include "croze/tensor/op_table.h"
#include "croze/tensor/registry.h"
#include "targets/ptxas_notes.h"
#include "targets/target_kernels.h"

namespace croze::test {
namespace {

using targets::KernelUse;
using targets::TargetKernel;

// The compiler that install.sh has fetched, if it has; else that of the machine.
std::string fetched_compiler() {
  if (!std::filesystem::is_directory(CUDA_TOOLS)) return {};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CUDA_TOOLS)) {
    if (entry.path().filename().string().starts_with("libnvrtc.so")) return entry.path().string();
  }
  return {};
}

class CompileForCuda : public testing::TestWithParam<std::string> {
 protected:
  // The compiler is looked for once, when it is first asked for.
  static void SetUpTestSuite() {
    const std::string fetched = fetched_compiler();
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

struct Summary {
  std::size_t kernels = 0;
  int most_registers = 0, on_stack = 0, spilling = 0;
};

Summary summary_of(const std::vector<KernelUse>& uses) {
  Summary s{.kernels = uses.size()};
  for (const KernelUse& use : uses) {
    s.most_registers = std::max(s.most_registers, use.registers);
    s.on_stack += use.stack_bytes > 0;
    s.spilling += use.spill_stores + use.spill_loads > 0;
  }
  return s;
}

Summary compile_set(const Target& target, const std::string& name,
                    const std::vector<TargetKernel>& kernels) {
  const Summary s = summary_of(compiled(target, kernels));
  fmt::print("{:8} {:36} {:5} kernels, at most {:3} registers, {} with a stack, {} that spill\n",
             target.name, name, s.kernels, s.most_registers, s.on_stack, s.spilling);
  std::fflush(stdout);
  EXPECT_EQ(s.kernels, kernels.size()) << name;
  return s;
}

// ---- whole graphs ------------------------------------------------------------------------------

std::vector<TargetKernel> kernels_of(const Target& target, std::vector<Tensor> (*trace)()) {
  const Options::Scope nowhere{{Option::Device, "NULL"}};
  std::vector<Tensor> tensors;
  {
    const Capturing capturing;  // nothing is computed while it is recorded
    tensors = trace();
  }
  return targets::kernels_for(target, tensors);
}

TEST_P(CompileForCuda, WholeGraphsSpillNothing) {
  struct Graph {
    const char* name;
    std::vector<Tensor> (*trace)();
  };
  for (const Graph& graph :
       {Graph{"matmul", corpus::trace_matmul}, Graph{"block", corpus::trace_block},
        Graph{"resnet18", corpus::trace_resnet18},
        Graph{"llama block", corpus::trace_llama_block}}) {
    const Summary s = compile_set(target_, graph.name, kernels_of(target_, graph.trace));
    EXPECT_GT(s.kernels, 0u);
    EXPECT_EQ(s.spilling, 0) << graph.name;
  }
}

// ---- the op list -------------------------------------------------------------------------------

// The kernels of calls, each once.
class OpKernels {
 public:
  explicit OpKernels(const Target& target) : target_(target) {}

  void add(const OpEntry& op, DType t) {
    for (const Values& arguments : sample_arguments(op, t, 7, "INTERP")) {
      calls_++;
      for (TargetKernel& k : targets::kernels_for(target_, call_op(op, arguments))) {
        if (known_.insert(k.key).second) kernels_.push_back(std::move(k));
      }
    }
  }

  int calls() const { return calls_; }
  // Those that are new since the last time.
  std::vector<TargetKernel> take() { return std::exchange(kernels_, {}); }

 private:
  const Target& target_;
  int calls_ = 0;
  std::unordered_set<std::string> known_;
  std::vector<TargetKernel> kernels_;
};

TEST_P(CompileForCuda, EveryKernelOfTheOpListIsTaken) {
  OpKernels all(target_);
  std::size_t kernels = 0;
  for (const OpFamily& family : op_families()) {
    for (const OpEntry& op : family.ops) {
      for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) {
        const auto dtype = static_cast<DType>(t);
        if (has_dtype(op.dtypes, dtype)) all.add(op, dtype);
      }
    }
    kernels += compile_set(target_, std::string(family.name), all.take()).kernels;
  }
  fmt::print("{:8} {} kernels of {} calls of the op list\n", target_.name, kernels, all.calls());
  EXPECT_GE(kernels, 1000u);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(All, CompileForCuda, testing::Values("sm_80", "sm_90a", "sm_100a"),
                         test_name);

}  // namespace
}  // namespace croze::test
