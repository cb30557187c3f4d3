// recorded_function.h -- internal: a function over tensors that is traced once and then launched
// over others, by any number of threads at once.
#pragma once

#include <span>
#include <vector>

#include "croze/jit/body.h"
#include "croze/tensor/tensor.h"

namespace croze {

class RecordedFunction {
 public:
  // Traces the function, as Body does, and compiles what it recorded.  Throws Error if it assigns
  // to anything, or computes what depends on its arguments.  What it reads beside them is never
  // assigned to afterwards.
  RecordedFunction(std::span<const Body::Value> arguments, Body::Function function,
                   const OpenRecording& open = {});

  // Whether the function drew random numbers, of which every launch would have the same.
  bool draws_random_numbers() const { return draws_random_numbers_; }

  // The results for arguments of the kinds that were traced: new tensors, at which gradients end.
  std::vector<Tensor> operator()(std::span<const Tensor> arguments) const;

 private:
  UOp input(std::size_t number, std::span<const Tensor> arguments) const;
  std::vector<Tensor> results(std::span<const UOp> values) const;

  Body body_;
  bool draws_random_numbers_ = false;
  std::vector<Tensor> closed_;  // what is read beside the arguments
};

}  // namespace croze
