// conv.cpp -- convolutions of networks, with one image and with eight.
#include "croze/tensor/network/conv.h"

#include <fmt/format.h>

#include "cpu/case.h"

namespace croze::bench {
namespace {

struct Layer {
  const char* name;
  std::int64_t in, out;
  Shape size, kernel;                              // one number for each spatial axis
  Shape stride = {}, padding = {}, dilation = {};  // empty: 1, 0, 1
  std::int64_t groups = 1;
  bool is_transposed = false;
};

Shape filled(const Shape& given, const Layer& layer, std::int64_t otherwise) {
  Shape all;
  for (int i = 0; i < layer.size.size(); i++) all.push_back(given.empty() ? otherwise : given[i]);
  return all;
}

// A convolution of squares, padded so that its stride alone makes them smaller.
Layer square(const char* name, std::int64_t in, std::int64_t out, std::int64_t size,
             std::int64_t kernel, std::int64_t stride = 1, std::int64_t groups = 1,
             std::int64_t dilation = 1) {
  const std::int64_t padding = kernel / 2 * dilation;
  return {name,
          in,
          out,
          {size, size},
          {kernel, kernel},
          {stride, stride},
          {padding, padding},
          {dilation, dilation},
          groups};
}

Layer transposed(const char* name, std::int64_t in, std::int64_t out, std::int64_t size,
                 std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return {.name = name,
          .in = in,
          .out = out,
          .size = {size, size},
          .kernel = {kernel, kernel},
          .stride = {stride, stride},
          .padding = {padding, padding},
          .is_transposed = true};
}

// ResNet-50 as it was published; later ones have the stride of a block in its 3x3, the last three.
std::vector<Layer> resnet50_layers() {
  constexpr const char* n = "resnet";
  return {square(n, 3, 64, 224, 7, 2),     square(n, 64, 64, 56, 1),
          square(n, 64, 64, 56, 3),        square(n, 64, 256, 56, 1),
          square(n, 256, 64, 56, 1),       square(n, 256, 128, 56, 1, 2),
          square(n, 128, 128, 28, 3),      square(n, 128, 512, 28, 1),
          square(n, 256, 512, 56, 1, 2),   square(n, 512, 128, 28, 1),
          square(n, 512, 256, 28, 1, 2),   square(n, 256, 256, 14, 3),
          square(n, 256, 1024, 14, 1),     square(n, 512, 1024, 28, 1, 2),
          square(n, 1024, 256, 14, 1),     square(n, 1024, 512, 14, 1, 2),
          square(n, 512, 512, 7, 3),       square(n, 512, 2048, 7, 1),
          square(n, 1024, 2048, 14, 1, 2), square(n, 2048, 512, 7, 1),
          square(n, 128, 128, 56, 3, 2),   square(n, 256, 256, 28, 3, 2),
          square(n, 512, 512, 14, 3, 2)};
}

std::vector<Layer> other_layers() {
  constexpr const char *depthwise = "depthwise", *pointwise = "pointwise";
  return {
      square(depthwise, 32, 32, 112, 3, 1, 32),
      square(depthwise, 64, 64, 112, 3, 2, 64),
      square(depthwise, 128, 128, 56, 3, 1, 128),
      square(depthwise, 512, 512, 14, 3, 1, 512),
      square(depthwise, 240, 240, 28, 5, 1, 240),
      square(pointwise, 32, 64, 112, 1),
      square(pointwise, 128, 128, 56, 1),
      square(pointwise, 512, 512, 14, 1),
      transposed("transposed", 100, 512, 1, 4, 1, 0),
      transposed("transposed", 512, 256, 4, 4, 2, 1),
      transposed("transposed", 256, 128, 8, 4, 2, 1),
      transposed("transposed", 128, 64, 16, 4, 2, 1),
      transposed("transposed", 256, 128, 28, 2, 2, 0),
      transposed("transposed", 64, 32, 56, 3, 2, 1),
      square("dilated", 256, 256, 28, 3, 1, 1, 2),
      square("dilated", 128, 128, 28, 3, 1, 1, 4),
      square("grouped", 128, 128, 56, 3, 1, 32),
      square("grouped", 256, 256, 28, 3, 2, 32),
      {"1-D", 80, 384, {3000}, {3}, {1}, {1}},
      {"1-D", 256, 256, {1000}, {5}, {1}, {4}, {2}},
      {"1-D", 1, 512, {16000}, {10}, {5}},
      {"3-D", 3, 64, {16, 112, 112}, {3, 7, 7}, {1, 2, 2}, {1, 3, 3}},
      {"3-D", 64, 64, {8, 28, 28}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}},
  };
}

std::string text_of(const Layer& l, std::int64_t batch) {
  std::string text = fmt::format("{} {}->{} {} at {}", l.name, l.in, l.out, text_of_sizes(l.kernel),
                                 text_of_sizes(l.size));
  if (filled(l.stride, l, 1)[l.size.size() - 1] > 1) text += " stride " + text_of_sizes(l.stride);
  if (filled(l.dilation, l, 1)[0] > 1) text += " dilation " + text_of_sizes(l.dilation);
  return text + fmt::format(" batch {}", batch);
}

Tensor convolved(const Layer& l, const Tensor& x, const Tensor& weight) {
  const Shape stride = filled(l.stride, l, 1), padding = filled(l.padding, l, 0);
  if (l.is_transposed) {
    return conv_transpose2d(x, weight, {}, {.stride = stride, .padding = padding});
  }
  const ConvOptions options{.stride = stride,
                            .padding = padding,
                            .dilation = filled(l.dilation, l, 1),
                            .groups = l.groups};
  if (l.size.size() == 1) return conv1d(x, weight, {}, options);
  if (l.size.size() == 3) return conv3d(x, weight, {}, options);
  return conv2d(x, weight, {}, options);
}

// Each position of the smaller side meets the whole kernel; padding is counted as work.
double operations(const Layer& l, std::int64_t batch) {
  double work = 2.0 * static_cast<double>(batch * l.in * l.out / l.groups * l.kernel.numel());
  const Shape stride = filled(l.stride, l, 1), padding = filled(l.padding, l, 0),
              dilation = filled(l.dilation, l, 1);
  for (int i = 0; i < l.size.size(); i++) {
    const std::int64_t reach = dilation[i] * (l.kernel[i] - 1) + 1;
    const std::int64_t positions =
        l.is_transposed ? l.size[i] : (l.size[i] + 2 * padding[i] - reach) / stride[i] + 1;
    work *= static_cast<double>(positions);
  }
  return work;
}

Json list_of(const Shape& sizes) {
  return Json(std::vector<std::int64_t>(sizes.begin(), sizes.end()));
}

Case layer_case(const Layer& l, std::int64_t batch) {
  Case c{.name = text_of(l, batch), .operation = l.is_transposed ? "conv_transpose" : "conv"};
  c.options = {{"stride", list_of(filled(l.stride, l, 1))},
               {"padding", list_of(filled(l.padding, l, 0))},
               {"dilation", list_of(filled(l.dilation, l, 1))},
               {"groups", l.groups}};
  Shape x{batch, l.in}, weight;
  if (l.is_transposed) {
    weight = {l.in, l.out};
  } else {
    weight = {l.out, l.in / l.groups};
  }
  for (int i = 0; i < l.size.size(); i++) {
    x.push_back(l.size[i]);
    weight.push_back(l.kernel[i]);
  }
  c.inputs = {{x}, {weight}};
  c.work = operations(l, batch);
  c.prepare = steps_of([l](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {convolved(l, in[0], in[1])};
  });
  return c;
}

}  // namespace

Suite conv_suite() {
  Group group{"float32", {.geometric_mean = 1, .worst = 0.7}, {}};
  for (std::int64_t batch : {1, 8}) {
    for (const Layer& l : resnet50_layers()) group.cases.push_back(layer_case(l, batch));
    for (const Layer& l : other_layers()) group.cases.push_back(layer_case(l, batch));
  }
  return {"conv", Work::Operations, {std::move(group)}};
}

}  // namespace croze::bench
