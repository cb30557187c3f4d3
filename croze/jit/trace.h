// trace.h -- internal to jit/: running a function of the user's to see what it records.
#pragma once

#include <span>
#include <vector>

#include "croze/graph/uop.h"
#include "croze/tensor/tensor.h"

namespace croze {

std::vector<UOp> nodes_of(std::span<const Tensor> tensors);
void realize_all(std::span<const Tensor> tensors);

// A tensor of its own with the value of x, which is computed now.
Tensor copy_of(const Tensor& x);

// The live tensors that wait for a store into their memory.
std::vector<Tensor> pending_stores();

// The result as a tensor of its own: one that is memory of another tensor is copied, because the
// next call may overwrite it.
Tensor new_result(const Tensor& t);

// The live tensors that are more than memory of their own, and what they are before a function is
// traced.  Views follow what they look at.
class Dependents {
 public:
  Dependents();

  // Takes back every assignment that has been made since.
  void restore() const;
  // The first of them that has been given another value since; undefined if there is none.
  Tensor assigned() const;
  // Computes those that the roots depend on.
  void compute_used(std::span<const UOp> roots) const;

 private:
  bool is_assigned(std::size_t i) const;

  std::vector<Tensor> tensors_;
  std::vector<UOp> nodes_;
};

}  // namespace croze
