// fashion_mnist.h -- the Fashion-MNIST data set and batches of it.
//
//     const auto data = croze::fashion_mnist();
//     for (const auto& picks : croze::shuffled_batches(data.train.size(), 128, seed)) {
//       croze::Batch batch = data.train.batch(picks);   // images (128, 1, 28, 28), labels (128,)
//     }
#pragma once

#include <croze/croze.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace croze {

// Some images with their classes, as tensors.
struct Batch {
  Tensor images;  // (n, 1, height, width), UInt8: 0 is background, 255 the brightest
  Tensor labels;  // (n,), UInt8
};

// Grey images of one size with a class each, in the memory of the host.
struct ImageSet {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  // image after image, row by row
  std::vector<std::uint8_t> labels;  // one per image

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
  // The pixels of one image.  Throws Error if there is no such image.
  std::span<const std::uint8_t> image(std::int64_t number) const;
  // The images of these numbers, in this order, or count images from `first` on.  Throws Error if
  // there is no such image.
  Batch batch(std::span<const std::int64_t> numbers) const;
  Batch batch(std::int64_t first, std::int64_t count) const;
};

struct FashionMnist {
  ImageSet train;  // 60,000 images of 28 x 28
  ImageSet test;   // 10,000

  static constexpr int classes = 10;
  // "T-shirt", "trouser", ...  Throws Error unless 0 <= label < classes.
  static std::string_view class_name(std::int64_t label);
};

// Reads the four IDX files (gzip or plain) in `folder`; by default the folder fashion-mnist in
// CROZE_DATA_DIR, where Debian's package dataset-fashion-mnist puts them.  Throws Error if one is
// missing or is not what it should be.
FashionMnist fashion_mnist(const std::string& folder = {});

// The numbers 0 .. count - 1 in an order that the seed determines, in groups of `batch_size`.  A
// last group that is not full is left out.  Throws Error unless batch_size is positive.
std::vector<std::vector<std::int64_t>> shuffled_batches(std::int64_t count, std::int64_t batch_size,
                                                        std::uint64_t seed);

}  // namespace croze
