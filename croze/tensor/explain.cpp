// explain.cpp -- explanations of recorded tensors.
#include "croze/tensor/explain.h"

#include <vector>

#include "croze/base/call_site.h"
#include "croze/run/explain.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"

namespace croze {

Explanation explain(std::span<const Tensor> tensors, Location at) {
  const CallScope scope("explain", at);
  std::vector<TensorRecord*> records;
  for (const Tensor& t : tensors) records.push_back(&TensorRecord::of(t));
  return Registry::instance().explain(records);
}

Explanation explain(std::initializer_list<Tensor> tensors, Location at) {
  return explain(std::span(tensors.begin(), tensors.size()), at);
}

}  // namespace croze
