// image.cpp -- pictures that a model gets as files.
#include "croze/io/image.h"

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

// Pixels (height, width, channels) as red, green and blue; grey is each of them.
Tensor colours_of(const Tensor& image) {
  const std::int64_t channels = image.size(2);
  if (channels >= 3) return image.narrow(2, 0, 3);
  return image.narrow(2, 0, 1).expand({image.size(0), image.size(1), 3});
}

// The weights of ITU-R 601, rounded.
Tensor grey_of(const Tensor& image) {
  if (image.size(2) < 3) return image.narrow(2, 0, 1);
  const Tensor weights = Tensor::from_data({0.299f, 0.587f, 0.114f}, {3});
  const Tensor grey = sum(image.narrow(2, 0, 3).cast(DType::Float32) * weights, 2, true);
  return round(grey).cast(DType::UInt8);
}

// The input is a file's bytes.  Alpha is dropped.
Results image_decoder(const NodeCall& call) {
  const std::string_view format = call.text("pixel_format", "RGB");
  check(format == "RGB" || format == "BGR" || format == "Grayscale", "pixel_format \"{}\"", format);
  check(call[0].dtype() == DType::UInt8 && call[0].ndim() == 1, "{} of shape {} is no file",
        name_of(call[0].dtype()), to_text(call[0].shape()));
  const std::vector<std::int64_t> numbers = call.integers(0);
  std::vector<std::byte> file;
  for (std::int64_t n : numbers) file.push_back(static_cast<std::byte>(n));
  const Tensor image = decode_image(file, "the input");
  if (format == "Grayscale") return {grey_of(image)};
  return {format == "RGB" ? colours_of(image) : flip(colours_of(image), 2)};
}

constexpr Operator table[] = {{"ImageDecoder", 20, image_decoder}};

}  // namespace

std::span<const Operator> image_operators() { return table; }

}  // namespace croze::onnx
