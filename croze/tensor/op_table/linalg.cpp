// linalg.cpp -- rows of the op table: products, convolutions and pooling.
#include "tensor/linalg.h"

#include "tensor/op_table/bind.h"
#include "tensor/op_table/families.h"

namespace croze {

// One number stands for both.
template <>
struct Reader<Pair> {
  static constexpr std::string_view name = "Pair";
  static Pair read(const Value& value) {
    const Shape sizes = read_shape(value);
    check(sizes.size() == 1 || sizes.size() == 2, "expected one number or two, not {}",
          sizes.size());
    return {sizes[0], sizes.back()};
  }
};

namespace {

using enum ResultType;

constexpr auto conv = [](const Tensor& x, const Tensor& weight, const Tensor& bias, Pair stride,
                         Pair padding, Pair dilation, std::int64_t groups) {
  return conv2d(x, weight, bias,
                {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups});
};
constexpr auto max_pool = [](const Tensor& x, Pair window, std::optional<Pair> stride, Pair padding,
                             Pair dilation) {
  return max_pool2d(x, window, {.stride = stride, .padding = padding, .dilation = dilation});
};
constexpr auto avg_pool = [](const Tensor& x, Pair window, std::optional<Pair> stride, Pair padding,
                             bool count_include_pad) {
  return avg_pool2d(x, window,
                    {.stride = stride, .padding = padding, .count_include_pad = count_include_pad});
};

constexpr OpEntry ops[] = {
    {"matmul", "input, other", bind<matmul>, anything, Promoted, 2,
     "Matrix product; other axes are broadcast.",
     "t(2,3), t(3,4) | t(3), t(3) | t(2,1,2,3), t(4,3,2) | t(3), t(3,2)"},
    {"mm", "input, mat2", bind<matmul>, anything, Promoted, 2, "matmul of matrices.",
     "t(2,3), t(3,4)"},
    {"bmm", "input, mat2", bind<matmul>, anything, Promoted, 2, "matmul of lists of matrices.",
     "t(2,2,3), t(2,3,4)"},
    {"mv", "input, vec", bind<matmul>, anything, Promoted, 2, "Matrix times vector.",
     "t(2,3), t(3)"},
    {"dot", "input, tensor", bind<dot>, anything, Promoted, 2, "Sum of products.", "t(3), t(3)"},
    {"nn.functional.linear", "input, weight, bias=none", bind<linear>, anything, Promoted, 2,
     "input times the transpose of weight, plus bias.", "t(2,3), t(4,3), t(4) | t(3), t(4,3)"},
    {"nn.functional.conv2d", "input, weight, bias=none, stride=1, padding=0, dilation=1, groups=1",
     bind<conv>, anything, Promoted, 2, "Convolution over the last two axes.",
     "t(2,2,4,5), t(3,2,2,2), t(3) | t(1,4,5,5), t(4,2,3,3), none, 2, [1, 0], 1, 2"},
    {"nn.functional.max_pool2d", "input, kernel_size, stride=none, padding=0, dilation=1",
     bind<max_pool>, anything, Same, 2, "Greatest elements of windows.",
     "t(1,2,5,5), 2 | t(2,5,6), [3, 2], 1, 1"},
    {"nn.functional.avg_pool2d",
     "input, kernel_size, stride=none, padding=0, count_include_pad=true", bind<avg_pool>, anything,
     Float, 2, "Means of windows.", "t(1,2,5,5), 2 | t(2,5,6), [3, 2], 1, 1, false"},
};

}  // namespace

std::span<const OpEntry> linalg_ops() { return ops; }

}  // namespace croze
