// reference.h -- the independent truth of tensor graphs: plain loops over plain arrays.
//
// Every op of the tensor stage is evaluated on the host, one node at a time, whole values at a
// time, with no rule, schedule or kernel in between.  Elementwise ops use eval(); float sums and
// products accumulate in double and are rounded once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "croze/graph/analysis/derive.h"
#include "croze/graph/uop.h"

namespace croze::fuzz {

// A tensor on the host.  `bits` holds each element as a Const carries it.
struct HostTensor {
  DType dtype = DType::Float32;
  Dims shape;
  std::vector<std::int64_t> bits;

  std::int64_t size() const { return static_cast<std::int64_t>(bits.size()); }
  std::vector<double> numbers() const;
  std::vector<std::int64_t> integers() const;
};

class Reference {
 public:
  // The contents of a Buffer, as numbers converted to its dtype, or as bits.
  void bind(UOp buffer, const std::vector<double>& numbers);
  void bind_bits(UOp buffer, std::vector<std::int64_t> bits);
  // Asked for the bits of Buffers that were not bound.
  std::function<std::vector<std::int64_t>(UOp)> read;

  HostTensor evaluate(UOp root) const { return evaluate(std::span(&root, 1))[0]; }
  std::vector<HostTensor> evaluate(std::span<const UOp> roots) const;

 private:
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> buffers_;
};

}  // namespace croze::fuzz
