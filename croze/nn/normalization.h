// normalization.h -- layers that normalise.  Where there are weights they start as ones, biases as
// zeros.  Half types compute in Float32.
#pragma once

#include <cstdint>
#include <optional>

#include "croze/nn/state.h"

namespace croze::nn {

struct BatchNormOptions {
  double epsilon = 1e-5;
  double momentum = 0.1;  // weight of the new batch in the running statistics
  bool affine = true;     // with weight and bias
  TensorOptions tensor = {};
};

// x (n, channels, spatial ..), for one axis also (n, channels) -> the same shape, each channel
// normalised: when training by the mean and the variance of the batch, which then enter the running
// statistics; otherwise by the running statistics.
template <int Axes>
struct BatchNorm {
  Tensor weight;                     // (channels,), undefined if not affine
  Tensor bias;                       // (channels,), undefined if not affine
  Buffer running_mean, running_var;  // (channels,), Float32; start as 0 and 1
  BatchNormOptions options;

  explicit BatchNorm(std::int64_t channels, const BatchNormOptions& options = {},
                     Location at = Location::current());
  // Throws Error unless x has the right number of axes and, when training, two values per channel.
  Tensor operator()(const Tensor& x, bool training, Location at = Location::current());
  // What the call does when not training.
  Tensor evaluate(const Tensor& x, Location at = Location::current()) const;

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
    v("running_mean", running_mean);
    v("running_var", running_var);
  }
};

struct NormOptions {
  double epsilon = 1e-5;
  bool affine = true;
  TensorOptions tensor = {};
};

// x (.., shape) -> the same shape, normalised over the axes of `shape`.
struct LayerNorm {
  Tensor weight, bias;  // of `shape`, undefined if not affine
  int axes = 1;
  double epsilon = 1e-5;

  explicit LayerNorm(const Shape& shape, const NormOptions& options = {},
                     Location at = Location::current());
  Tensor operator()(const Tensor& x, Location at = Location::current()) const;

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
  }
};

// x (n, channels, ..) -> the same shape, each group of neighbouring channels of each sample
// normalised.
struct GroupNorm {
  Tensor weight, bias;  // (channels,), undefined if not affine
  std::int64_t groups = 1;
  double epsilon = 1e-5;

  // Throws Error unless the groups divide the channels.
  GroupNorm(std::int64_t groups, std::int64_t channels, const NormOptions& options = {},
            Location at = Location::current());
  Tensor operator()(const Tensor& x, Location at = Location::current()) const;

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
  }
};

struct InstanceNormOptions {
  double epsilon = 1e-5;
  bool affine = false;
  TensorOptions tensor = {};
};

// x (n, channels, spatial ..) or (channels, spatial ..) -> the same shape, each channel of each
// sample normalised.  There are no running statistics.
template <int Axes>
struct InstanceNorm {
  Tensor weight, bias;  // (channels,), undefined if not affine
  double epsilon = 1e-5;

  explicit InstanceNorm(std::int64_t channels, const InstanceNormOptions& options = {},
                        Location at = Location::current());
  // Throws Error unless x has the right number of axes.
  Tensor operator()(const Tensor& x, Location at = Location::current()) const;

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
  }
};

struct RMSNormOptions {
  std::optional<double> epsilon = {};  // not said: the distance from 1 to the next float
  bool affine = true;
  TensorOptions tensor = {};
};

// x (.., shape) -> x / sqrt(mean(x^2) + epsilon) over the axes of `shape`, times weight.
struct RMSNorm {
  Tensor weight;  // of `shape`, undefined if not affine
  int axes = 1;
  std::optional<double> epsilon;

  explicit RMSNorm(const Shape& shape, const RMSNormOptions& options = {},
                   Location at = Location::current());
  Tensor operator()(const Tensor& x, Location at = Location::current()) const;

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
  }
};

extern template struct BatchNorm<1>;
extern template struct BatchNorm<2>;
extern template struct BatchNorm<3>;
extern template struct InstanceNorm<1>;
extern template struct InstanceNorm<2>;
extern template struct InstanceNorm<3>;

using BatchNorm1d = BatchNorm<1>;
using BatchNorm2d = BatchNorm<2>;
using BatchNorm3d = BatchNorm<3>;
using InstanceNorm1d = InstanceNorm<1>;
using InstanceNorm2d = InstanceNorm<2>;
using InstanceNorm3d = InstanceNorm<3>;

}  // namespace croze::nn
