// fft.h -- Fourier transforms, and windows for them.
//
// A complex tensor is a float tensor whose last axis has two elements, the real and the imaginary
// part (torch.view_as_real); axes are counted without it.  Any length: short ones are a product
// with a matrix of roots of unity, composite ones are split (Cooley and Tukey), long primes become
// a convolution of a power of two (Bluestein).  Float32 and Float64; half types compute in Float32.
#pragma once

#include "croze/tensor/movement/movement.h"

namespace croze {

// What the result is divided by: nothing, the root of the length, the length.  The inverses have
// the opposite.
enum class FftNorm { Backward, Ortho, Forward };

struct FftOptions {
  std::optional<std::int64_t> n = {};  // length: cut or filled up with zeros; as it is if not said
  std::int64_t axis = -1;
  FftNorm norm = FftNorm::Backward;
};
// Complex to complex.
Tensor fft(const Tensor& x, const FftOptions& options = {}, Location at = Location::current());
Tensor ifft(const Tensor& x, const FftOptions& options = {}, Location at = Location::current());
// Real to the first n / 2 + 1 elements, which say all, and back to n real ones (not said: an even
// n).
Tensor rfft(const Tensor& x, const FftOptions& options = {}, Location at = Location::current());
Tensor irfft(const Tensor& x, const FftOptions& options = {}, Location at = Location::current());
// The same with the roles of time and frequency exchanged.
Tensor hfft(const Tensor& x, const FftOptions& options = {}, Location at = Location::current());
Tensor ihfft(const Tensor& x, const FftOptions& options = {}, Location at = Location::current());

struct FftnOptions {
  Shape n = {};    // one length per axis, -1 as it is
  Axes axes = {};  // the last ones if lengths are given, else all
  FftNorm norm = FftNorm::Backward;
};
// Along several axes; of the real ones the last one is the real transform.
Tensor fftn(const Tensor& x, const FftnOptions& options = {}, Location at = Location::current());
Tensor ifftn(const Tensor& x, const FftnOptions& options = {}, Location at = Location::current());
Tensor rfftn(const Tensor& x, const FftnOptions& options = {}, Location at = Location::current());
Tensor irfftn(const Tensor& x, const FftnOptions& options = {}, Location at = Location::current());

// The frequencies of the elements of an fft and of an rfft, for samples `spacing` apart.
Tensor fftfreq(std::int64_t n, double spacing = 1, const TensorOptions& options = {},
               Location at = Location::current());
Tensor rfftfreq(std::int64_t n, double spacing = 1, const TensorOptions& options = {},
                Location at = Location::current());
// Frequency 0 moved to the middle of the axes, and back.  Axes of x are counted as they are.
Tensor fftshift(const Tensor& x, const Axes& axes = {}, Location at = Location::current());
Tensor ifftshift(const Tensor& x, const Axes& axes = {}, Location at = Location::current());

// ---- short-time transforms --------------------------------------------------------------------

struct StftOptions {
  std::optional<std::int64_t> hop = {};            // between frames; n / 4 if not said
  std::optional<std::int64_t> window_length = {};  // n if not said
  Tensor window = {};                              // ones if not said; centred in n
  bool center = true;                              // pad so that frame t is centred at t * hop
  PadMode pad_mode = PadMode::Reflect;
  bool normalized = false;                  // divided by the root of n
  bool onesided = true;                     // n / 2 + 1 frequencies
  std::optional<std::int64_t> length = {};  // istft: of the result
};
// x (.., samples) real: complex (.., frequencies, frames, 2).
Tensor stft(const Tensor& x, std::int64_t n, const StftOptions& options = {},
            Location at = Location::current());
// Its inverse: frames are added up where they overlap, divided by the squares of the windows.
Tensor istft(const Tensor& x, std::int64_t n, const StftOptions& options = {},
             Location at = Location::current());

// ---- windows ----------------------------------------------------------------------------------

// Of `size` elements; periodic ones are those of size + 1 without the last.
Tensor hann_window(std::int64_t size, bool periodic = true, const TensorOptions& options = {},
                   Location at = Location::current());
Tensor hamming_window(std::int64_t size, bool periodic = true, double alpha = 0.54,
                      double beta = 0.46, const TensorOptions& options = {},
                      Location at = Location::current());
Tensor blackman_window(std::int64_t size, bool periodic = true, const TensorOptions& options = {},
                       Location at = Location::current());
Tensor nuttall_window(std::int64_t size, bool periodic = true, const TensorOptions& options = {},
                      Location at = Location::current());
// a[0] - a[1] cos(2 pi x) + a[2] cos(4 pi x) - ... for x from 0 to 1: the four above are such.
Tensor general_cosine_window(std::int64_t size, std::span<const double> coefficients,
                             bool periodic = true, const TensorOptions& options = {},
                             Location at = Location::current());
// Half a wave of the sine.
Tensor cosine_window(std::int64_t size, bool periodic = true, const TensorOptions& options = {},
                     Location at = Location::current());
// exp(-(d / deviation)^2 / 2) and exp(-d / tau) at a distance of d elements from the middle.
Tensor gaussian_window(std::int64_t size, bool periodic = true, double deviation = 1,
                       const TensorOptions& options = {}, Location at = Location::current());
Tensor exponential_window(std::int64_t size, bool periodic = true, double tau = 1,
                          const TensorOptions& options = {}, Location at = Location::current());
Tensor bartlett_window(std::int64_t size, bool periodic = true, const TensorOptions& options = {},
                       Location at = Location::current());
Tensor kaiser_window(std::int64_t size, bool periodic = true, double beta = 12,
                     const TensorOptions& options = {}, Location at = Location::current());

}  // namespace croze
