// summary.h -- what a model is made of, for reading.
//
//     std::cout << nn::summary(net);
//
//     name           shape      dtype    elements   bytes
//     hidden.weight  (128, 4)   float32       512   2,048
//     norm.mean      (128,)     float32       128     512  not trained
//     ...
//     512 parameters, 2,560 bytes
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "croze/nn/state.h"

namespace croze::nn {

struct TensorSummary {
  std::string name;
  Shape shape;
  DType dtype = DType::Void;
  std::int64_t elements = 0, bytes = 0;
  bool trained = false;
};

struct ModelSummary {
  std::vector<TensorSummary> tensors;  // in the order of the members; shared ones stand once
  std::int64_t parameters = 0;         // elements of those that are trained
  std::int64_t bytes = 0;              // of all
};

// As a table with a line for the totals.
std::string to_text(const ModelSummary& summary);
std::ostream& operator<<(std::ostream& out, const ModelSummary& summary);

namespace detail {
ModelSummary summary_of(const std::vector<StateEntry>& entries);
}

// The tensors of a model and what they take.  A model without any gives an empty table.
template <typename M>
ModelSummary summary(const M& model) {
  return detail::summary_of(detail::entries_of(model));
}

}  // namespace croze::nn
