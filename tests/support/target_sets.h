// target_sets.h -- kernels that tests compile for processors that are not here: those of whole
// graphs and of every call of the op list.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "croze/tensor/op_table.h"
#include "targets/kernel_use.h"
#include "targets/target_kernels.h"

namespace croze::test {

struct TargetGraph {
  std::string_view name;
  std::vector<Tensor> (*trace)();
};
// The three of the benchmarks, and a block of a Llama.
std::span<const TargetGraph> target_graphs();
std::vector<targets::TargetKernel> kernels_of(const Target& target, const TargetGraph& graph);

// The kernels of calls, each once.
class OpKernels {
 public:
  explicit OpKernels(const Target& target) : target_(target) {}

  // Of the calls of a family, those that are new.
  std::vector<targets::TargetKernel> of(const OpFamily& family);
  int calls() const { return calls_; }
  int left_out() const { return left_out_; }  // they compute in a dtype that the target lacks

 private:
  void add(const OpEntry& op, DType t);

  const Target& target_;
  int calls_ = 0, left_out_ = 0;
  std::unordered_set<std::string> known_;
  std::vector<targets::TargetKernel> kernels_;
};

struct UseSummary {
  std::size_t kernels = 0;
  int most_registers = 0, on_stack = 0, spilling = 0;
};
// Which it prints, too, behind the names of the target and of the set.
UseSummary summary_of(const Target& target, std::string_view set,
                      std::span<const targets::KernelUse> uses);

}  // namespace croze::test
