// resnet50.h -- ResNet-50: the network of resnet18.h with blocks of three convolutions, of which
// the middle one is narrow.
#pragma once

#include <optional>
#include <vector>

#include "corpus/resnet18.h"

namespace croze::corpus {

struct Bottleneck {
  static constexpr std::int64_t widening = 4;

  ConvNorm first, second, third;
  std::optional<ConvNorm> shortcut;  // where the shape changes

  Bottleneck(std::int64_t in, std::int64_t width, std::int64_t stride)
      : first(in, width, 1, 1),
        second(width, width, 3, stride),
        third(width, widening * width, 1, 1) {
    if (stride != 1 || in != widening * width) shortcut.emplace(in, widening * width, 1, stride);
  }
  Tensor operator()(const Tensor& x, bool training) {
    const Tensor y = third(relu(second(relu(first(x, training)), training)), training);
    return relu(y + (shortcut ? (*shortcut)(x, training) : x));
  }

  template <typename V>
  void visit(V&& v) const {
    v("first", first);
    v("second", second);
    v("third", third);
    v("shortcut", shortcut);
  }
};

struct ResNet50 {
  static constexpr std::int64_t classes = 1000;

  ConvNorm stem{3, 64, 7, 2};
  std::vector<Bottleneck> blocks;
  Tensor weight = placeholder({classes, 2048}), bias = placeholder({classes});

  ResNet50() {
    std::int64_t in = 64, width = 64;
    for (const int count : {3, 4, 6, 3}) {
      for (int i = 0; i < count; i++) {
        blocks.emplace_back(in, width, i == 0 && width > 64 ? 2 : 1);
        in = Bottleneck::widening * width;
      }
      width *= 2;
    }
  }

  // Images (n, 3, h, w) to scores (n, classes).
  Tensor operator()(const Tensor& images, bool training = true) {
    Tensor x = max_pool2d(relu(stem(images, training)), 3, {.stride = 2, .padding = 1});
    for (Bottleneck& block : blocks) x = block(x, training);
    return linear(mean(x, {2, 3}), weight, bias);
  }

  template <typename V>
  void visit(V&& v) const {
    v("stem", stem);
    v("blocks", blocks);
    v("weight", weight);
    v("bias", bias);
  }
};

}  // namespace croze::corpus
