// pool.h -- pooling: windows over the last axes, each reduced to one number.
//
// The 1d, 2d and 3d forms work on the last one, two, three axes; all others are batch.
#pragma once

#include "croze/tensor/network/conv.h"
#include "croze/tensor/reduce/sort.h"

namespace croze {

struct PoolOptions {
  std::optional<PerAxis> stride = {};        // of the windows; the window's size if not said
  PerAxis padding = 0;                       // max: with the least value; average: with zeros
  PerAxis dilation = 1;                      // max only
  bool ceil_mode = false;                    // also windows that overhang the end
  bool count_include_pad = true;             // average: zeros of the padding count
  std::optional<std::int64_t> divisor = {};  // average: divide by this
};

// The greatest element; NaN if there is one.
Tensor max_pool1d(const Tensor& x, const PerAxis& window, const PoolOptions& options = {},
                  Location at = Location::current());
Tensor max_pool2d(const Tensor& x, const PerAxis& window, const PoolOptions& options = {},
                  Location at = Location::current());
Tensor max_pool3d(const Tensor& x, const PerAxis& window, const PoolOptions& options = {},
                  Location at = Location::current());
// With its flat position in the pooled axes.
ValuesAndIndices max_pool1d_with_indices(const Tensor& x, const PerAxis& window,
                                         const PoolOptions& options = {},
                                         Location at = Location::current());
ValuesAndIndices max_pool2d_with_indices(const Tensor& x, const PerAxis& window,
                                         const PoolOptions& options = {},
                                         Location at = Location::current());
ValuesAndIndices max_pool3d_with_indices(const Tensor& x, const PerAxis& window,
                                         const PoolOptions& options = {},
                                         Location at = Location::current());
// Values (.., spatial) put at the positions that max_pool gave, in zeros of `size` (.., size).
Tensor max_unpool(const Tensor& x, const Tensor& indices, const Shape& size,
                  Location at = Location::current());

// The mean; of integers, rounded towards 0.
Tensor avg_pool1d(const Tensor& x, const PerAxis& window, const PoolOptions& options = {},
                  Location at = Location::current());
Tensor avg_pool2d(const Tensor& x, const PerAxis& window, const PoolOptions& options = {},
                  Location at = Location::current());
Tensor avg_pool3d(const Tensor& x, const PerAxis& window, const PoolOptions& options = {},
                  Location at = Location::current());
// (sum x^p)^(1/p).  Of the options: stride and ceil_mode.
Tensor lp_pool1d(const Tensor& x, double p, const PerAxis& window, const PoolOptions& options = {},
                 Location at = Location::current());
Tensor lp_pool2d(const Tensor& x, double p, const PerAxis& window, const PoolOptions& options = {},
                 Location at = Location::current());
Tensor lp_pool3d(const Tensor& x, double p, const PerAxis& window, const PoolOptions& options = {},
                 Location at = Location::current());

// To a given size (-1: as it is): window i of n goes from floor(i size / n) to ceil((i + 1) size /
// n).
Tensor adaptive_avg_pool1d(const Tensor& x, const PerAxis& size, Location at = Location::current());
Tensor adaptive_avg_pool2d(const Tensor& x, const PerAxis& size, Location at = Location::current());
Tensor adaptive_avg_pool3d(const Tensor& x, const PerAxis& size, Location at = Location::current());
Tensor adaptive_max_pool1d(const Tensor& x, const PerAxis& size, Location at = Location::current());
Tensor adaptive_max_pool2d(const Tensor& x, const PerAxis& size, Location at = Location::current());
Tensor adaptive_max_pool3d(const Tensor& x, const PerAxis& size, Location at = Location::current());
ValuesAndIndices adaptive_max_pool1d_with_indices(const Tensor& x, const PerAxis& size,
                                                  Location at = Location::current());
ValuesAndIndices adaptive_max_pool2d_with_indices(const Tensor& x, const PerAxis& size,
                                                  Location at = Location::current());
ValuesAndIndices adaptive_max_pool3d_with_indices(const Tensor& x, const PerAxis& size,
                                                  Location at = Location::current());

}  // namespace croze
