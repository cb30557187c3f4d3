// edits.h -- random edits of kernels: every way of running a kernel must compute the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "fuzz/chance.h"

namespace croze::fuzz {

// Edits one kernel after another: a chooser for make_program().  The choices depend on the seed and
// the kernels only; with a smaller limit they are a beginning of the same list.
//
// Most edits are drawn from enumerate_edits().  Others are drawn without regard to anything, so
// that most of them are not legal: those must be refused and leave the kernel as it was.
class RandomEdits {
 public:
  RandomEdits(std::uint64_t seed, std::int64_t limit) : chance_(seed), limit_(limit) {}

  // Throws InternalError if an edit that is not legal is made all the same, or a legal one fails.
  void operator()(KernelState& k);

  // What was done, in order and of all kernels.
  const std::vector<Edit>& applied() const { return applied_; }
  std::int64_t refused() const { return refused_; }
  // Kernels that were edited.
  std::int64_t sequences() const { return sequences_; }

 private:
  void edit_once(KernelState& k);
  void expect_refusal(const KernelState& k, const Edit& edit);

  Chance chance_;
  std::int64_t limit_;
  std::int64_t refused_ = 0, sequences_ = 0;
  std::vector<Edit> applied_;
};

}  // namespace croze::fuzz
