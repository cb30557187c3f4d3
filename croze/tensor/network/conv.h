// conv.h -- convolutions and patches.  A convolution is a multiplication of expanded views and a
// sum: nothing below recognises it by name.  Half types accumulate in Float32.
#pragma once

#include "croze/tensor/tensor.h"

namespace croze {

class Call;

// One number for all spatial axes, or one for each.
class PerAxis {
 public:
  template <Integer T>
  PerAxis(T all) : list_{static_cast<std::int64_t>(all)} {}
  PerAxis(std::initializer_list<std::int64_t> each) : list_(each) {}
  template <IntegerRange R>
  PerAxis(const R& each) : list_(each) {}

  // One for each of `axes` axes, none less than `least`; throws Error naming them as `what`.
  Shape for_axes(const Call& call, int axes, std::string_view what, std::int64_t least) const;

 private:
  Shape list_;
};

struct ConvOptions {
  PerAxis stride = 1;
  PerAxis padding = 0;  // zeros on each side
  PerAxis dilation = 1;
  std::int64_t groups = 1;
  bool same = false;  // instead of padding: so much (at the end more) that the size stays
};

// x (n, c, spatial ..) or (c, spatial ..) with weight (out, c / groups, kernel ..) and bias (out):
// shape (n, out, ..), each spatial size (size + 2 padding - dilation (kernel - 1) - 1) / stride
// + 1.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& options = {}, Location at = Location::current());
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& options = {}, Location at = Location::current());
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& options = {}, Location at = Location::current());

struct ConvTransposeOptions {
  PerAxis stride = 1;
  PerAxis padding = 0;         // cut off on each side
  PerAxis output_padding = 0;  // added at the end
  PerAxis dilation = 1;
  std::int64_t groups = 1;
};

// The transpose of a convolution as a linear map: x (n, c, ..) or (c, ..) with weight
// (c, out / groups, kernel ..) and bias (out), each spatial size (size - 1) stride - 2 padding +
// dilation (kernel - 1) + output_padding + 1.
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {},
                        Location at = Location::current());
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {},
                        Location at = Location::current());
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {},
                        Location at = Location::current());

// The patches that a convolution multiplies with its kernel, as columns: x (n, c, spatial ..) or
// (c, spatial ..) gives (n, c * kernel size, patches).  torch.nn.functional.unfold.
struct PatchOptions {
  PerAxis stride = 1;
  PerAxis padding = 0;
  PerAxis dilation = 1;
};
Tensor im2col(const Tensor& x, const Shape& kernel, const PatchOptions& options = {},
              Location at = Location::current());
// The sum of patches, each at its place: the transpose of im2col, to spatial axes of `size`.
// torch.nn.functional.fold.
Tensor col2im(const Tensor& x, const Shape& size, const Shape& kernel,
              const PatchOptions& options = {}, Location at = Location::current());

// (.., c r^2, h, w) to (.., c, h r, w r), back, and channels dealt out to groups and collected.
Tensor pixel_shuffle(const Tensor& x, std::int64_t factor, Location at = Location::current());
Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor, Location at = Location::current());
Tensor channel_shuffle(const Tensor& x, std::int64_t groups, Location at = Location::current());

}  // namespace croze
