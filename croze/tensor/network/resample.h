// resample.h -- images of another size, and images sampled at given places.
#pragma once

#include "croze/tensor/network/conv.h"

namespace croze {

enum class InterpolateMode { Nearest, NearestExact, Linear, Bicubic, Area };

struct InterpolateOptions {
  // One of the two: the new size of the spatial axes, or by how much they grow.
  Shape size = {};
  std::vector<double> scale = {};  // one number for all axes, or one for each
  InterpolateMode mode = InterpolateMode::Nearest;
  bool align_corners = false;  // linear and bicubic: the corner elements keep their places
  bool antialias = false;      // linear and bicubic of two axes: widen the filter when shrinking
  // Linear and bicubic: sample by the ratio of the sizes and not by `scale`.
  bool recompute_scale = false;
};

// x (n, c, spatial ..) with its one to three spatial axes resampled, one after the other: Linear
// between neighbours (bilinear, trilinear), Bicubic with a = -0.75 (-0.5 if antialias), Area as
// adaptive_avg_pool.  Floats; the nearest modes any dtype.
Tensor interpolate(const Tensor& x, const InterpolateOptions& options,
                   Location at = Location::current());

enum class GridMode { Bilinear, Nearest, Bicubic };
enum class GridPadding { Zeros, Border, Reflection };

struct GridSampleOptions {
  GridMode mode = GridMode::Bilinear;
  GridPadding padding = GridPadding::Zeros;  // what is outside
  bool align_corners = false;                // -1 and 1 are centres of corner elements, not edges
};

// x (n, c, h, w) at the places grid (n, oh, ow, 2) of (horizontal, vertical) positions in [-1, 1]:
// (n, c, oh, ow).  Also of x (n, c, d, h, w) and grid (n, od, oh, ow, 3), not bicubic.
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {},
                   Location at = Location::current());
// The grid of an image of `size` (n, c, h, w) mapped by theta (n, 2, 3): (n, h, w, 2); likewise in
// three dimensions with theta (n, 3, 4).
Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners = false,
                   Location at = Location::current());

}  // namespace croze
