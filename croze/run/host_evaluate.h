// host_evaluate.h -- small values of a tensor graph, computed where the program stands: node by
// node on the host, with no schedule, compiler or kernel.
//
// It serves programs that must know a few numbers to go on: the shape that a model computes for a
// reshape, the condition of a branch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "croze/graph/analysis/derive.h"
#include "croze/graph/uop.h"

namespace croze {

// An array on the host.  `bits` holds each element as a Const carries it.
struct HostArray {
  DType dtype = DType::Void;
  Dims shape;
  std::vector<std::int64_t> bits;
};

// The value of `root`, equal to what kernels give.  Nothing if it is too much work: a node among
// those it depends on has more than `max_elements` elements, there are more than `max_nodes` of
// them, or one is no plain arithmetic (a scatter, an assignment, a sum of floats).
std::optional<HostArray> evaluate_on_host(UOp root, std::int64_t max_elements,
                                          std::int64_t max_nodes);

}  // namespace croze
