// workloads.h -- what fusion is judged by: functions of networks, whole networks, training steps.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "croze/tensor/tensor.h"

namespace croze::corpus {

// Records one run over inputs that were made before, and returns what it is asked for.
using Computation = std::function<std::vector<Tensor>()>;

struct Workload {
  std::string_view name;
  int most_kernels;          // launches that one run may take
  Computation (*prepare)();  // makes the inputs, the same numbers each time
  bool large = false;        // too much to interpret
};

std::span<const Workload> workloads();

}  // namespace croze::corpus
