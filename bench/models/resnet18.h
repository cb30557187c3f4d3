// resnet18.h -- ResNet-18 (He et al., 2015) in training: batch norm by the statistics of the batch,
// which enter the running ones.  Its parameters are placeholders: unlike the layers of nn/, it
// computes no starting values, so that nothing but its own graph is compiled.
#pragma once

#include <optional>
#include <vector>

#include "models/data.h"
#include "nn/state.h"
#include "tensor/activation.h"
#include "tensor/conv.h"
#include "tensor/elementwise.h"
#include "tensor/functional.h"
#include "tensor/linalg.h"
#include "tensor/movement.h"
#include "tensor/pool.h"
#include "tensor/reduce.h"

namespace croze::bench {

// A convolution without bias, and the batch norm behind it.
struct ConvNorm {
  Tensor kernel, weight, bias;
  nn::Buffer running_mean, running_var;
  ConvOptions options;

  ConvNorm(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t stride)
      : kernel(placeholder({out, in, size, size})),
        weight(placeholder({out})),
        bias(placeholder({out})),
        running_mean(placeholder({out})),
        running_var(placeholder({out})),
        options{.stride = stride, .padding = size / 2} {}

  Tensor operator()(const Tensor& x) {
    const Tensor y = conv2d(x, kernel, {}, options);
    const ChannelStatistics batch = batch_statistics(y);
    running_mean.assign(lerp(running_mean, batch.mean.detach(), 0.1));
    running_var.assign(lerp(running_var, batch.var.detach(), 0.1));
    return batch_norm(y, batch.mean, batch.var, weight, bias);
  }

  template <typename V>
  void visit(V&& v) const {
    v("kernel", kernel);
    v("weight", weight);
    v("bias", bias);
    v("running_mean", running_mean);
    v("running_var", running_var);
  }
};

struct BasicBlock {
  ConvNorm first, second;
  std::optional<ConvNorm> shortcut;  // where the shape changes

  BasicBlock(std::int64_t in, std::int64_t out, std::int64_t stride)
      : first(in, out, 3, stride), second(out, out, 3, 1) {
    if (stride != 1 || in != out) shortcut.emplace(in, out, 1, stride);
  }
  Tensor operator()(const Tensor& x) {
    const Tensor y = second(relu(first(x)));
    return relu(y + (shortcut ? (*shortcut)(x) : x));
  }

  template <typename V>
  void visit(V&& v) const {
    v("first", first);
    v("second", second);
    v("shortcut", shortcut);
  }
};

struct ResNet18 {
  ConvNorm stem{3, 64, 7, 2};
  std::vector<BasicBlock> blocks{{64, 64, 1},   {64, 64, 1},   {64, 128, 2},  {128, 128, 1},
                                 {128, 256, 2}, {256, 256, 1}, {256, 512, 2}, {512, 512, 1}};
  Tensor weight = placeholder({10, 512}), bias = placeholder({10});

  // Images (n, 3, h, w) to scores (n, 10).
  Tensor operator()(const Tensor& images) {
    Tensor x = max_pool2d(relu(stem(images)), 3, {.stride = 2, .padding = 1});
    for (BasicBlock& block : blocks) x = block(x);
    return linear(mean(x, {2, 3}), weight, bias);
  }
};

}  // namespace croze::bench
