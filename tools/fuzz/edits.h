// edits.h -- random edits of kernels: every way of running a kernel must compute the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/edits/kernel_state.h"
#include "codegen/pipeline.h"
#include "fuzz/chance.h"

namespace croze::fuzz {

// Chooses edits for one kernel after another.  The choices depend on the seed and the kernels only;
// with a smaller limit they are a beginning of the same list.
class RandomEdits {
 public:
  RandomEdits(std::uint64_t seed, std::int64_t limit) : chance_(seed), limit_(limit) {}

  // For make_program(); valid as long as this object.
  Chooser chooser();

  // What was done, in order; an edit that was refused is not in it.
  const std::vector<std::string>& applied() const { return applied_; }

 private:
  void edit(KernelState& k, const Caps& caps);

  Chance chance_;
  std::int64_t limit_;
  std::vector<std::string> applied_;
};

}  // namespace croze::fuzz
