// Convolutions, transposed convolutions, patches and pooling against their definitions in loops.
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;
using Numbers = std::vector<double>;

// Positions of a box in row order.
std::vector<Shape> positions(const Shape& box) {
  std::vector<Shape> result;
  for (std::int64_t i = 0; i < box.numel(); i++) {
    Shape place = box;
    std::int64_t rest = i;
    for (int axis = box.size(); axis-- > 0;) {
      place[axis] = rest % box[axis];
      rest /= box[axis];
    }
    result.push_back(place);
  }
  return result;
}

std::size_t flat(const Shape& box, const Shape& place) {
  std::int64_t i = 0;
  for (int axis = 0; axis < box.size(); axis++) i = i * box[axis] + place[axis];
  return static_cast<std::size_t>(i);
}

struct Case {
  Shape in, kernel;  // spatial sizes
  std::int64_t channels, out, groups;
  Shape stride, padding, dilation;
};

// Calls f(image place, kernel place, output place, input channel, output channel, its input
// channel in the weight) for every product of a convolution of one sample.
void for_each_product(const Case& c, const Shape& out_size,
                      const std::function<void(const Shape&, const Shape&, const Shape&,
                                               std::int64_t, std::int64_t, std::int64_t)>& f) {
  const std::int64_t per_group = c.channels / c.groups, outs = c.out / c.groups;
  for (std::int64_t co = 0; co < c.out; co++) {
    for (std::int64_t ci = 0; ci < per_group; ci++) {
      for (const Shape& o : positions(out_size)) {
        for (const Shape& k : positions(c.kernel)) {
          Shape p = o;
          bool inside = true;
          for (int a = 0; a < o.size(); a++) {
            p[a] = o[a] * c.stride[a] + k[a] * c.dilation[a] - c.padding[a];
            inside = inside && p[a] >= 0 && p[a] < c.in[a];
          }
          if (inside) f(p, k, o, co / outs * per_group + ci, co, ci);
        }
      }
    }
  }
}

Shape output_size(const Case& c) {
  Shape out = c.in;
  for (int a = 0; a < out.size(); a++) {
    out[a] = (c.in[a] + 2 * c.padding[a] - c.dilation[a] * (c.kernel[a] - 1) - 1) / c.stride[a] + 1;
  }
  return out;
}

Shape joined(const Shape& a, const Shape& b) {
  Shape r = a;
  for (std::int64_t s : b) r.push_back(s);
  return r;
}

const Case cases[] = {
    {{9}, {3}, 2, 3, 1, {1}, {0}, {1}},
    {{10}, {3}, 4, 6, 2, {2}, {2}, {2}},
    {{7, 6}, {3, 3}, 3, 4, 1, {1, 1}, {1, 1}, {1, 1}},
    {{9, 8}, {3, 2}, 4, 6, 2, {2, 3}, {1, 2}, {1, 1}},
    {{9, 9}, {3, 3}, 2, 2, 2, {1, 1}, {0, 0}, {2, 3}},
    {{4, 5, 6}, {2, 3, 2}, 2, 3, 1, {1, 2, 1}, {1, 0, 1}, {1, 1, 2}},
    // Transposed, these are sums of columns.
    {{4, 4}, {4, 4}, 2, 20, 1, {1, 1}, {0, 0}, {1, 1}},
    {{9, 8}, {4, 3}, 2, 160, 2, {2, 2}, {1, 1}, {1, 1}},
};

Tensor convolution(const Case& c, const Tensor& x, const Tensor& w, const Tensor& bias = {}) {
  const ConvOptions o{
      .stride = c.stride, .padding = c.padding, .dilation = c.dilation, .groups = c.groups};
  return c.in.size() == 1   ? conv1d(x, w, bias, o)
         : c.in.size() == 2 ? conv2d(x, w, bias, o)
                            : conv3d(x, w, bias, o);
}

TEST(Conv, IsItsDefinition) {
  for (const Case& c : cases) {
    const Tensor x = random_tensor(joined({c.channels}, c.in), -1, 1);
    const Tensor w = random_tensor(joined({c.out, c.channels / c.groups}, c.kernel), -1, 1, {}, 2);
    const Shape size = output_size(c);
    const Numbers xs = x.to_vector<double>(), ws = w.to_vector<double>();
    Numbers expected(static_cast<std::size_t>(c.out * size.numel()));
    for_each_product(c, size,
                     [&](const Shape& p, const Shape& k, const Shape& o, std::int64_t ci,
                         std::int64_t co, std::int64_t cw) {
                       expected[flat(joined({c.out}, size), joined({co}, o))] +=
                           xs[flat(x.shape(), joined({ci}, p))] *
                           ws[flat(w.shape(), joined({co, cw}, k))];
                     });
    expect_numbers(convolution(c, x, w), expected, 1e-5);
    // The same with a batch.
    const Tensor batch = stack({x, x * 2});
    expect_numbers(convolution(c, batch, w)[0], expected, 1e-5);
  }
}

// <conv(x), y> = <x, conv_transpose(y)> for all x and y.
TEST(Conv, TransposedIsTheTranspose) {
  for (const Case& c : cases) {
    const Shape size = output_size(c);
    const Tensor y = random_tensor(joined({1, c.out}, size), -1, 1, {.dtype = DType::Float64});
    const Tensor w = random_tensor(joined({c.out, c.channels / c.groups}, c.kernel), -1, 1,
                                   {.dtype = DType::Float64}, 2);
    Shape extra = c.in;
    for (int a = 0; a < extra.size(); a++) {
      extra[a] = c.in[a] - ((size[a] - 1) * c.stride[a] - 2 * c.padding[a] +
                            c.dilation[a] * (c.kernel[a] - 1) + 1);
    }
    const ConvTransposeOptions o{.stride = c.stride,
                                 .padding = c.padding,
                                 .output_padding = extra,
                                 .dilation = c.dilation,
                                 .groups = c.groups};
    const Tensor result = c.in.size() == 1   ? conv_transpose1d(y, w, {}, o)
                          : c.in.size() == 2 ? conv_transpose2d(y, w, {}, o)
                                             : conv_transpose3d(y, w, {}, o);
    const Numbers ys = y.to_vector<double>(), ws = w.to_vector<double>();
    const Shape image = joined({c.channels}, c.in);
    Numbers expected(static_cast<std::size_t>(image.numel()));
    for_each_product(c, size,
                     [&](const Shape& p, const Shape& k, const Shape& out, std::int64_t ci,
                         std::int64_t co, std::int64_t cw) {
                       expected[flat(image, joined({ci}, p))] +=
                           ys[flat(joined({c.out}, size), joined({co}, out))] *
                           ws[flat(w.shape(), joined({co, cw}, k))];
                     });
    EXPECT_EQ(result.shape(), joined({1}, image));
    expect_numbers(result, expected, 1e-10);
    const Tensor weights = random_tensor(result.shape(), -1, 1, {.dtype = DType::Float64}, 3);
    expect_numbers((result * weights).sum().gradient({y})[0],
                   convolution(c, weights, w).to_vector<double>(), 1e-10);
  }
}

// Nothing is multiplied with the zeros between spread elements, nor with taps that a phase has not.
TEST(Conv, TransposedKeepsInfinitiesWhereTheyReach) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = Tensor::from_data({inf, 1.f, 1.f, 1.f}, {1, 1, 4});
  const Tensor y =
      conv_transpose1d(x, Tensor::from_data({1.f, 2.f, 3.f}, {1, 1, 3}), {}, {.stride = 2});
  expect_numbers(y, {inf, inf, inf, 2, 4, 2, 4, 2, 3});
  const Tensor z = conv_transpose1d(Tensor::ones({1, 1, 2}),
                                    Tensor::from_data({1.f, inf}, {1, 1, 2}), {}, {.stride = 2});
  expect_numbers(z, {1, inf, 1, inf});
  // A sum of columns.
  const Tensor wide = conv_transpose1d(pad(Tensor::full({1, 1, 1}, inf), {0, 0, 0, 99}, 1),
                                       Tensor::ones({100, 1, 3}), {}, {.padding = 1});
  expect_numbers(wide, {inf});
}

// Of most of the phases of such a stride nothing is ever asked for.
TEST(Conv, TransposedTakesStridesFarBeyondTheKernel) {
  const Tensor x = Tensor::from_data({2.f}, {1, 1, 1});
  const Tensor w = Tensor::from_data({1.f, 2.f, 3.f}, {1, 1, 3});
  const Tensor one = conv_transpose1d(x, w, {}, {.stride = std::int64_t{1} << 50});
  EXPECT_EQ(one.to_vector<float>(), (std::vector<float>{2, 4, 6}));
  const Tensor pair = conv_transpose1d(cat({x, x}, 2), w, {}, {.stride = 5});
  EXPECT_EQ(pair.to_vector<float>(), (std::vector<float>{2, 4, 6, 0, 0, 2, 4, 6}));
}

TEST(Conv, AddsTheBiasAndKeepsTheSize) {
  const Tensor x = Tensor::ones({1, 1, 2, 2}), w = Tensor::ones({2, 1, 1, 1});
  expect_numbers(conv2d(x, w, Tensor::from_data({10.f, 20.f}, {2})),
                 {11, 11, 11, 11, 21, 21, 21, 21});
  const Tensor line = Tensor::ones({1, 1, 5}), kernel = Tensor::ones({1, 1, 4});
  expect_numbers(conv1d(line, kernel, {}, {.same = true}), {3, 4, 4, 3, 2});
  const std::string text = error_of([&] { conv2d(x, Tensor::ones({2, 3, 1, 1})); });
  EXPECT_NE(text.find("conv2d"), std::string::npos);
  error_of([&] { conv2d(x, w, {}, {.stride = 0}); });
  error_of([&] { conv2d(x, w, {}, {.stride = {1, 2, 3}}); });
}

TEST(Conv, Patches) {
  const Tensor x = Tensor::arange(16).reshape({1, 1, 4, 4}).cast(DType::Float32).realize();
  const Tensor columns = im2col(x, {2, 2}, {.stride = 2});
  EXPECT_EQ(columns.shape(), (Shape{1, 4, 4}));
  expect_numbers(columns, {0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15});
  expect_numbers(col2im(columns, {4, 4}, {2, 2}, {.stride = 2}) - x, Numbers(16, 0));
  // How many windows cover each place.
  const Tensor ones = Tensor::ones({1, 4, 9});
  expect_numbers(col2im(ones, {4, 4}, {2, 2}), {1, 2, 2, 1, 2, 4, 4, 2, 2, 4, 4, 2, 1, 2, 2, 1});
  expect_numbers(col2im(Tensor::ones({4, 4}), {2, 2}, {2, 2}, {.stride = 2, .padding = 1}),
                 {1, 1, 1, 1});
}

TEST(Conv, ShufflesPixels) {
  const Tensor x = Tensor::arange(8).reshape({1, 4, 1, 2}).realize();
  const Tensor y = pixel_shuffle(x, 2);
  EXPECT_EQ(y.shape(), (Shape{1, 1, 2, 4}));
  expect_numbers(y, {0, 2, 1, 3, 4, 6, 5, 7});
  expect_numbers(pixel_unshuffle(y, 2), {0, 1, 2, 3, 4, 5, 6, 7});
  expect_numbers(channel_shuffle(x, 2), {0, 1, 4, 5, 2, 3, 6, 7});
}

// The elements of each window of a plane that lie inside.
std::vector<Numbers> windows(const Numbers& x, std::int64_t h, std::int64_t w, std::int64_t k,
                             std::int64_t stride, std::int64_t pad, bool ceil) {
  const auto count = [&](std::int64_t n) {
    std::int64_t c = (n + 2 * pad - k) / stride + 1;
    if (ceil && (n + 2 * pad - k) % stride != 0 && c * stride < n + pad) c++;
    return c;
  };
  std::vector<Numbers> result;
  for (std::int64_t i = 0; i < count(h); i++) {
    for (std::int64_t j = 0; j < count(w); j++) {
      Numbers inside;
      for (std::int64_t y = i * stride - pad; y < i * stride - pad + k; y++) {
        for (std::int64_t z = j * stride - pad; z < j * stride - pad + k; z++) {
          if (y >= 0 && y < h && z >= 0 && z < w)
            inside.push_back(x[static_cast<std::size_t>(y * w + z)]);
        }
      }
      result.push_back(inside);
    }
  }
  return result;
}

double sum_of(const Numbers& x) {
  double sum = 0;
  for (double v : x) sum += v;
  return sum;
}

TEST(Pool, IsItsDefinition) {
  const Tensor x = random_tensor({1, 1, 7, 8}, -1, 1, {.dtype = DType::Float64});
  const Numbers xs = x.to_vector<double>();
  for (const auto& [k, stride, pad, ceil] :
       {std::tuple{2, 2, 0, false}, {3, 2, 1, true}, {3, 1, 1, false}, {2, 3, 1, true}}) {
    Numbers greatest, means, inside, sums, norms;
    for (const Numbers& w : windows(xs, 7, 8, k, stride, pad, ceil)) {
      greatest.push_back(*std::max_element(w.begin(), w.end()));
      inside.push_back(sum_of(w) / static_cast<double>(w.size()));
      sums.push_back(sum_of(w) / 5);
      double square = 0;
      for (double v : w) square += v * v;
      norms.push_back(std::sqrt(square));
    }
    PoolOptions o{.stride = stride, .padding = pad, .ceil_mode = ceil};
    expect_numbers(max_pool2d(x, k, o), greatest, 0);
    const auto [values, indices] = max_pool2d_with_indices(x, k, o);
    expect_numbers(values, greatest, 0);
    expect_numbers(take(x, indices), greatest, 0);
    o.count_include_pad = false;
    expect_numbers(avg_pool2d(x, k, o), inside, 1e-12);
    o.divisor = 5;
    expect_numbers(avg_pool2d(x, k, o), sums, 1e-12);
    if (pad == 0) expect_numbers(lp_pool2d(x, 2, k, o), norms, 1e-12);
  }
}

TEST(Pool, PaddingCountsButNoOverhang) {
  const Tensor x = Tensor::ones({1, 4});
  // Windows of 3 at -1, 1 and 3: of 3 padded places, of 3, and of 2 (the last is an overhang).
  expect_numbers(avg_pool1d(x, 3, {.stride = 2, .padding = 1, .ceil_mode = true}), {2. / 3, 1, 0.5},
                 1e-6);
  const Tensor line = Tensor::arange(4).reshape({1, 4}).cast(DType::Float32).realize();
  expect_numbers(max_pool1d(line, 2, {.stride = 1}), {1, 2, 3});
  expect_numbers(max_pool1d(line.cast(DType::Int32), 2), {1, 3});
  expect_numbers(max_pool3d(Tensor::arange(8).reshape({2, 2, 2}), 2), {7});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_numbers(max_pool1d(Tensor::from_data({1., nan, 3., 4.}, {1, 4}), 2), {nan, 4});
  const auto pooled = max_pool1d_with_indices(line, 2);
  expect_numbers(max_unpool(pooled.values, pooled.indices, {4}), {0, 1, 0, 3});
  error_of([&] { max_pool1d(line, 5); });
  error_of([&] { max_pool1d(line, 2, {.padding = 2}); });
}

TEST(Pool, AdaptsToASize) {
  const Tensor x = random_tensor({2, 5, 7}, -1, 1, {.dtype = DType::Float64});
  const Numbers xs = x.to_vector<double>();
  Numbers means, greatest;
  for (std::int64_t n = 0; n < 2; n++) {
    for (std::int64_t i = 0; i < 3; i++) {
      for (std::int64_t j = 0; j < 4; j++) {
        Numbers w;
        for (std::int64_t y = i * 5 / 3; y < ((i + 1) * 5 + 2) / 3; y++) {
          for (std::int64_t z = j * 7 / 4; z < ((j + 1) * 7 + 3) / 4; z++) {
            w.push_back(xs[static_cast<std::size_t>(n * 35 + y * 7 + z)]);
          }
        }
        means.push_back(sum_of(w) / static_cast<double>(w.size()));
        greatest.push_back(*std::max_element(w.begin(), w.end()));
      }
    }
  }
  expect_numbers(adaptive_avg_pool2d(x, {3, 4}), means, 1e-12);
  expect_numbers(adaptive_max_pool2d(x, {3, 4}), greatest, 0);
  const auto [values, indices] = adaptive_max_pool2d_with_indices(x, {3, 4});
  expect_numbers(values, greatest, 0);
  expect_numbers(gather(flatten(x, 1), 1, flatten(indices, 1)), greatest, 0);
  expect_numbers(adaptive_avg_pool2d(x, 1), x.mean({1, 2}).to_vector<double>(), 1e-12);
  EXPECT_EQ(adaptive_avg_pool2d(x, {-1, 2}).shape(), (Shape{2, 5, 2}));
}

}  // namespace
}  // namespace croze
