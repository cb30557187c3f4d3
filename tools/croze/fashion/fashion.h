// fashion.h -- what training and evaluating on Fashion-MNIST share.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "examples/data/fashion_mnist.h"
#include "examples/data/fashion_net.h"

namespace croze::tool {

// The classes that the network gives to the images, in order.
std::vector<std::int64_t> predict(const FashionNet& net, const ImageSet& images);

// The share of labels that were predicted.
double accuracy(const std::vector<std::int64_t>& predicted, const ImageSet& images);

// Draws the first images with predicted and true class.
void show_predictions(std::FILE* out, const std::vector<std::int64_t>& predicted,
                      const ImageSet& images, int count);

// The most memory that the process has held so far.
double peak_rss_mb();

}  // namespace croze::tool
