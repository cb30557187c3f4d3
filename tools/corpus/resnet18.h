// resnet18.h -- ResNet-18 (He et al., 2015).  In training batch norm takes the statistics of the
// batch, which enter the running ones.  Its parameters are placeholders: unlike the layers of nn/,
// it computes no starting values, so that nothing but its own graph is compiled.
#pragma once

#include <optional>
#include <vector>

#include "corpus/data.h"
#include "croze/nn/state.h"
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/conv.h"
#include "croze/tensor/network/functional.h"
#include "croze/tensor/network/pool.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze::corpus {

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

  Tensor operator()(const Tensor& x, bool training) {
    const Tensor y = conv2d(x, kernel, {}, options);
    if (!training) return batch_norm(y, running_mean, running_var, weight, bias);
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
  Tensor operator()(const Tensor& x, bool training) {
    const Tensor y = second(relu(first(x, training)), training);
    return relu(y + (shortcut ? (*shortcut)(x, training) : x));
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
  Tensor operator()(const Tensor& images, bool training = true) {
    Tensor x = max_pool2d(relu(stem(images, training)), 3, {.stride = 2, .padding = 1});
    for (BasicBlock& block : blocks) x = block(x, training);
    return linear(mean(x, {2, 3}), weight, bias);
  }
};

}  // namespace croze::corpus
