// Resizing and sampling: numbers worked out by hand, and identities.
#include <cmath>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;
using Mode = InterpolateMode;

const TensorOptions wide{.dtype = DType::Float64};

Tensor line(const std::vector<double>& x) {
  return Tensor::from_data(x, {1, 1, static_cast<std::int64_t>(x.size())});
}

TEST(Interpolate, Lines) {
  const Tensor x = line({1, 2, 4});
  expect_numbers(interpolate(x, {.size = {6}}), {1, 1, 2, 2, 4, 4});
  expect_numbers(interpolate(x, {.size = {2}}), {1, 2});
  expect_numbers(interpolate(x, {.size = {2}, .mode = Mode::NearestExact}), {1, 4});
  expect_numbers(interpolate(x, {.scale = {2}, .mode = Mode::Linear}),
                 {1, 1.25, 1.75, 2.5, 3.5, 4});
  expect_numbers(interpolate(x, {.size = {5}, .mode = Mode::Linear, .align_corners = true}),
                 {1, 1.5, 2, 3, 4});
  expect_numbers(interpolate(line({1, 2, 3, 6}), {.size = {2}, .mode = Mode::Area}), {1.5, 4.5});
  error_of([&] { interpolate(x, {}); });
  error_of([&] { interpolate(x, {.size = {2}, .mode = Mode::Bicubic}); });
}

// A linear function of the place is reproduced by linear and cubic filters away from the border.
TEST(Interpolate, FiltersReproduceLinearFunctions) {
  const Tensor row = Tensor::arange(0., 12., 1., wide);
  const Tensor x = (row.reshape({12, 1}) * 3.0 + row).reshape({1, 1, 12, 12});
  for (const bool antialias : {false, true}) {
    for (const Mode mode : {Mode::Linear, Mode::Bicubic}) {
      const Tensor y = interpolate(x, {.size = {6, 6}, .mode = mode, .antialias = antialias});
      // Element i of 6 lies at 2 i + 0.5.
      for (std::int64_t i : {2, 3}) {
        for (std::int64_t j : {2, 3}) {
          const double expected =
              3 * (2 * static_cast<double>(i) + 0.5) + 2 * static_cast<double>(j) + 0.5;
          expect_numbers(y.index({0, 0, i, j}), {expected}, 1e-9);
        }
      }
    }
  }
}

TEST(Interpolate, CubicWeights) {
  // At a quarter between elements: Keys' filter with a = -0.75.
  const Tensor x = Tensor::from_data({0., 0., 1., 0., 0., 0., 0., 0.}, {1, 1, 1, 8});
  const Tensor y = interpolate(x, {.size = {1, 16}, .mode = Mode::Bicubic});
  const auto near = [](double d) { return ((1.25 * d - 2.25) * d) * d + 1; };
  const auto far = [](double d) { return ((-0.75 * d + 3.75) * d - 6) * d + 3; };
  expect_numbers(y.narrow(3, 2, 6),
                 {far(1.25), near(0.75), near(0.25), near(0.25), near(0.75), far(1.25)}, 1e-12);
}

TEST(GridSample, ReadsPlaces) {
  const Tensor x = Tensor::arange(0., 9., 1., wide).reshape({1, 1, 3, 3}).realize();
  const auto at = [&](double across, double down, const GridSampleOptions& o = {}) {
    return grid_sample(x, Tensor::from_data({across, down}, {1, 1, 1, 2}), o);
  };
  expect_numbers(at(0, 0), {4});
  expect_numbers(at(-1, -1, {.align_corners = true}), {0});
  expect_numbers(at(0.5, 0, {.align_corners = true}), {4.5});
  // Without aligned corners -1 is the edge of the image: a quarter of the corner element.
  expect_numbers(at(-1, -1), {0});
  expect_numbers(at(1, 1), {2});
  expect_numbers(at(1, 1, {.padding = GridPadding::Border}), {8});
  expect_numbers(at(2, 0, {.padding = GridPadding::Reflection, .align_corners = true}), {4});
  expect_numbers(at(5, 5), {0});
  expect_numbers(at(0.4, 0, {.mode = GridMode::Nearest}), {5});
  expect_numbers(at(0, 0, {.mode = GridMode::Bicubic}), {4}, 1e-12);
}

TEST(GridSample, TheIdentityGridIsTheImage) {
  const Tensor theta = Tensor::from_data({1., 0., 0., 0., 1., 0.}, {1, 2, 3});
  const Tensor x = random_tensor({1, 2, 4, 5}, -1, 1, wide);
  for (const bool align : {false, true}) {
    const Tensor grid = affine_grid(theta, {1, 2, 4, 5}, align);
    for (const GridMode mode : {GridMode::Bilinear, GridMode::Bicubic, GridMode::Nearest}) {
      expect_numbers(grid_sample(x, grid, {.mode = mode, .align_corners = align}),
                     x.to_vector<double>(), 1e-9);
    }
  }
  const Tensor cube =
      Tensor::from_data({1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0.}, {1, 3, 4});
  const Tensor v = random_tensor({1, 1, 2, 3, 4}, -1, 1, wide);
  expect_numbers(grid_sample(v, affine_grid(cube, {1, 1, 2, 3, 4})), v.to_vector<double>(), 1e-9);
  // The slope of a linear image.
  const Tensor ramp = Tensor::arange(0., 5., 1., wide)
                          .reshape({1, 1, 1, 5})
                          .expand({1, 1, 3, 5})
                          .contiguous()
                          .realize();
  const Tensor place = Tensor::from_data({0.1, 0.2}, {1, 1, 1, 2});
  expect_numbers(grid_sample(ramp, place).sum().gradient({place})[0], {2.5, 0}, 1e-9);
}

}  // namespace
}  // namespace croze
