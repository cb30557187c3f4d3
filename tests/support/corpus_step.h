// corpus_step.h -- graphs of the corpus as captured steps.
#pragma once

#include <croze/jit/capture.h>

#include <span>
#include <vector>

#include "corpus/workloads.h"

namespace croze::test {

// Records the computation in the step if it is new, and replays it otherwise.
inline std::vector<Tensor> run_as_step(Step& step, const corpus::Computation& compute) {
  const Step::Function function{[](void* context, std::span<const Tensor>) {
                                  return (*static_cast<const corpus::Computation*>(context))();
                                },
                                const_cast<corpus::Computation*>(&compute)};
  return step.run({}, Signature(), function);
}

}  // namespace croze::test
