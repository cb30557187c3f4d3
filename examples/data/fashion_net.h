// fashion_net.h -- a small convolutional network for images of 28 x 28 in ten classes.
#pragma once

#include <croze/croze.h>
#include <croze/nn/nn.h>

// Two convolutions, each followed by pooling that halves the image, then two fully connected
// layers.
struct FashionNet {
  croze::nn::Conv2d conv1{1, 16, 3, {.padding = 1}};
  croze::nn::Conv2d conv2{16, 32, 3, {.padding = 1}};
  croze::nn::Linear hidden{32 * 7 * 7, 128};
  croze::nn::Linear output{128, 10};

  // images (n, 1, 28, 28) of bytes -> scores (n, 10).
  croze::Tensor operator()(const croze::Tensor& images) const {
    using namespace croze;
    // The mean and the deviation of the training images.
    Tensor x = (images.cast(DType::Float32) / 255 - 0.286) / 0.353;
    x = max_pool2d(relu(conv1(x)), 2);
    x = max_pool2d(relu(conv2(x)), 2);
    return output(relu(hidden(x.flatten(1))));
  }
};
