// layers.h -- the layers that networks are built of.  Each is a plain struct with its tensors as
// members and a call operator; options and starting values are those of PyTorch.  A call is const
// unless it changes the layer.  Errors name the line of the constructor or of the call.
#pragma once

#include <cstdint>

#include "croze/nn/convolution.h"
#include "croze/nn/normalization.h"
#include "croze/nn/state.h"
#include "croze/tensor/linalg/linalg.h"

namespace croze::nn {

struct LinearOptions {
  bool bias = true;
  TensorOptions tensor = {};  // dtype and device of the parameters
};

// x (.., in) -> (.., out): x times the transpose of weight, plus bias.  Both start uniform within
// 1 / sqrt(in).
struct Linear {
  Tensor weight;  // (out, in)
  Tensor bias;    // (out,), undefined without bias

  // Throws Error unless both sizes are positive.
  Linear(std::int64_t in, std::int64_t out, const LinearOptions& options = {},
         Location at = Location::current());
  Tensor operator()(const Tensor& x, Location at = Location::current()) const {
    return linear(x, weight, bias, at);
  }

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
  }
};

// Numbers of any shape -> their rows of weight: shape (.., width).  Starts normal, deviation 1.
struct Embedding {
  Tensor weight;  // (count, width)

  Embedding(std::int64_t count, std::int64_t width, const TensorOptions& options = {},
            Location at = Location::current());
  Tensor operator()(const Tensor& numbers, Location at = Location::current()) const;

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
  }
};

// When training, zeroes each element with probability p and divides the others by 1 - p.
struct Dropout {
  double p = 0.5;

  Tensor operator()(const Tensor& x, bool training, Location at = Location::current()) const;
};

}  // namespace croze::nn
