// images.h -- tests of pictures in files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "croze/io/image.h"
#include "support/files.h"

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

namespace croze::test {

using Samples = std::vector<int>;

class ImagesTest : public FilesTest {
 protected:
  static Tensor decoded(const std::string& bytes) {
    return decode_image(std::as_bytes(std::span(bytes)), "bad");
  }
  // What decoding these bytes throws.
  static std::string refusal(const std::string& bytes) {
    const std::string message = error_of([&] { decoded(bytes); });
    EXPECT_HAS(message, "bad");
    return message;
  }
  static void expect_image(const Tensor& image, const Shape& shape, const Samples& samples) {
    EXPECT_EQ(image.dtype(), DType::UInt8);
    EXPECT_EQ(image.shape(), shape);
    EXPECT_EQ(image.to_vector<int>(), samples);
  }
  static void expect(const std::string& bytes, const Shape& shape, const Samples& samples) {
    expect_image(decoded(bytes), shape, samples);
  }
};

}  // namespace croze::test
