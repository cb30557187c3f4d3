// convolution.h -- layers of convolutions over one, two and three spatial axes.  Weights and biases
// start uniform within 1 / sqrt(weight.size(1) * elements of the kernel), as in PyTorch.
#pragma once

#include <cstdint>

#include "croze/nn/state.h"
#include "croze/tensor/network/conv.h"

namespace croze::nn {

struct ConvLayerOptions {
  PerAxis stride = 1;
  PerAxis padding = 0;
  PerAxis dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  bool same = false;          // instead of padding: so much that the size stays
  TensorOptions tensor = {};  // dtype and device of the parameters
};

// x (n, in, spatial ..) or (in, spatial ..) -> (n, out, ..), see conv2d (tensor/network/conv.h).
template <int Axes>
struct Conv {
  Tensor weight;  // (out, in / groups, kernel ..)
  Tensor bias;    // (out,), undefined without bias
  ConvOptions options;

  // Throws Error unless sizes are positive and groups divide both channel counts.
  Conv(std::int64_t in, std::int64_t out, const PerAxis& kernel,
       const ConvLayerOptions& options = {}, Location at = Location::current());
  Tensor operator()(const Tensor& x, Location at = Location::current()) const;

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
  }
};

struct ConvTransposeLayerOptions {
  PerAxis stride = 1;
  PerAxis padding = 0;         // cut off on each side
  PerAxis output_padding = 0;  // added at the end
  PerAxis dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  TensorOptions tensor = {};
};

// The transpose of a convolution: x (n, in, spatial ..) or (in, spatial ..) -> (n, out, ..), see
// conv_transpose2d.
template <int Axes>
struct ConvTranspose {
  Tensor weight;  // (in, out / groups, kernel ..)
  Tensor bias;    // (out,), undefined without bias
  ConvTransposeOptions options;

  // Throws Error unless sizes are positive and groups divide both channel counts.
  ConvTranspose(std::int64_t in, std::int64_t out, const PerAxis& kernel,
                const ConvTransposeLayerOptions& options = {}, Location at = Location::current());
  Tensor operator()(const Tensor& x, Location at = Location::current()) const;

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
  }
};

extern template struct Conv<1>;
extern template struct Conv<2>;
extern template struct Conv<3>;
extern template struct ConvTranspose<1>;
extern template struct ConvTranspose<2>;
extern template struct ConvTranspose<3>;

using Conv1d = Conv<1>;
using Conv2d = Conv<2>;
using Conv3d = Conv<3>;
using ConvTranspose1d = ConvTranspose<1>;
using ConvTranspose2d = ConvTranspose<2>;
using ConvTranspose3d = ConvTranspose<3>;

}  // namespace croze::nn
