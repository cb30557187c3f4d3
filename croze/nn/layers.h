// layers.h -- the layers that networks are built of.  Each is a plain struct with its tensors as
// members and a call operator; options and starting values are those of PyTorch.
#pragma once

#include <cstdint>

#include "nn/state.h"
#include "tensor/conv.h"
#include "tensor/linalg.h"

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
  Linear(std::int64_t in, std::int64_t out, const LinearOptions& options = {});
  Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
  }
};

struct Conv2dLayerOptions {
  PerAxis stride = 1;
  PerAxis padding = 0;
  PerAxis dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  TensorOptions tensor = {};
};

// x (n, in, h, w) -> (n, out, oh, ow), see conv2d (tensor/conv.h).  Both start uniform within
// 1 / sqrt(in / groups * kernel area).
struct Conv2d {
  Tensor weight;  // (out, in / groups, kernel height, kernel width)
  Tensor bias;    // (out,), undefined without bias
  ConvOptions options;

  // Throws Error unless sizes are positive and groups divide both channel counts.
  Conv2d(std::int64_t in, std::int64_t out, const PerAxis& kernel,
         const Conv2dLayerOptions& options = {});
  Tensor operator()(const Tensor& x) const { return conv2d(x, weight, bias, options); }

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
  }
};

struct BatchNorm2dOptions {
  double epsilon = 1e-5;
  double momentum = 0.1;  // weight of the new batch in the running statistics
  bool affine = true;     // with weight and bias
  TensorOptions tensor = {};
};

// x (n, channels, h, w) -> the same shape, each channel normalised: when training by the mean and
// the variance of the batch, which then enter the running statistics; otherwise by the running
// statistics.
struct BatchNorm2d {
  Tensor weight;                     // (channels,), starts as ones; undefined if not affine
  Tensor bias;                       // (channels,), starts as zeros
  Buffer running_mean, running_var;  // (channels,), Float32
  BatchNorm2dOptions options;

  explicit BatchNorm2d(std::int64_t channels, const BatchNorm2dOptions& options = {});
  // Throws Error if, when training, a channel has fewer than two values.
  Tensor operator()(const Tensor& x, bool training);

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
    v("running_mean", running_mean);
    v("running_var", running_var);
  }
};

struct LayerNormOptions {
  double epsilon = 1e-5;
  bool affine = true;
  TensorOptions tensor = {};
};

// x (.., shape) -> the same shape, normalised over the axes of `shape`.
struct LayerNorm {
  Tensor weight;  // of `shape`, starts as ones; undefined if not affine
  Tensor bias;    // of `shape`, starts as zeros
  int axes = 1;
  double epsilon = 1e-5;

  explicit LayerNorm(const Shape& shape, const LayerNormOptions& options = {});
  Tensor operator()(const Tensor& x) const;

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
  }
};

// Numbers of any shape -> their rows of weight: shape (.., width).  Starts normal, deviation 1.
struct Embedding {
  Tensor weight;  // (count, width)

  Embedding(std::int64_t count, std::int64_t width, const TensorOptions& options = {});
  Tensor operator()(const Tensor& numbers) const;

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
  }
};

// When training, zeroes each element with probability p and divides the others by 1 - p.
struct Dropout {
  double p = 0.5;

  Tensor operator()(const Tensor& x, bool training) const;
};

}  // namespace croze::nn
