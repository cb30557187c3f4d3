// target_kernels.h -- the kernels that a graph becomes on a processor that need not be here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "croze/device/target.h"
#include "croze/tensor/tensor.h"

namespace croze::targets {

struct TargetKernel {
  std::string name;    // after its loops; kernels may share it
  std::string key;     // of what it computes: equal for equal kernels
  std::string source;  // in the language of the target
};

// Each kernel of what the tensors are computed by, once.  Nothing is computed.
std::vector<TargetKernel> kernels_for(const Target& target, std::span<const Tensor> tensors);

// Several kernels as one source, for compilers that take long to begin: each in a namespace, with
// its number behind its name.  For languages that have namespaces.
std::string joined(std::span<const TargetKernel> kernels);

}  // namespace croze::targets
