// stft.cpp -- short-time transforms, and windows.
#include <cmath>
#include <numbers>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/elementwise/special.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/signal/fft.h"

namespace croze {
namespace {

// A short-time transform's numbers, checked.
struct Frames {
  std::int64_t n, hop;
  Tensor window;  // (n)

  Frames(const Call& call, const Tensor& x, std::int64_t length, const StftOptions& o, Location at)
      : n(length), hop(o.hop.value_or(length / 4)) {
    const std::int64_t width = o.window_length.value_or(n);
    call.require(n > 0 && hop > 0, "frames of {} samples, {} apart", n, hop);
    call.require(0 < width && width <= n, "a window of {} in frames of {}", width, n);
    call.require(!o.window.defined() || o.window.shape() == Shape{width},
                 "the window must have {} elements", width);
    const Tensor given = o.window.defined() ? o.window.cast(x.dtype())
                                            : Tensor::ones({width}, {.dtype = x.dtype()}, at);
    const std::int64_t left = (n - width) / 2;
    window = pad(given, {left, n - width - left}, 0, at);
  }
};

}  // namespace

Tensor stft(const Tensor& x, std::int64_t n, const StftOptions& options, Location at) {
  const Call call("stft", {&x, &options.window}, at);
  call.require(x.ndim() >= 1 && is_float(x.dtype()), "the signal is of real floats");
  const Frames f(call, x, n, options, at);
  const Tensor signal = options.center ? pad(x, {n / 2, n / 2}, options.pad_mode, 0, at) : x;
  call.require(signal.size(-1) >= n, "{} samples do not fill a frame of {}", signal.size(-1), n);
  const Tensor frames = unfold(signal, -1, n, f.hop, 1, at) * f.window;  // (.., frames, n)
  const FftNorm norm = options.normalized ? FftNorm::Ortho : FftNorm::Backward;
  const Tensor spectrum =
      options.onesided
          ? rfft(frames, {.norm = norm}, at)
          : fft(stack({frames, Tensor::zeros_like(frames, {}, at)}, -1, at), {.norm = norm}, at);
  return transpose(spectrum, -3, -2, at);
}

Tensor istft(const Tensor& x, std::int64_t n, const StftOptions& options, Location at) {
  const Call call("istft", {&x, &options.window}, at);
  call.require(x.ndim() >= 3 && x.size(-1) == 2,
               "the input is complex (.., frequencies, frames, 2)");
  const Frames f(call, x, n, options, at);
  const FftNorm norm = options.normalized ? FftNorm::Ortho : FftNorm::Backward;
  const Tensor spectrum = transpose(x, -3, -2, at);
  call.require(spectrum.size(-2) == (options.onesided ? n / 2 + 1 : n),
               "frames of {} samples have not {} frequencies", n, spectrum.size(-2));
  const Tensor frames = options.onesided ? irfft(spectrum, {.n = n, .norm = norm}, at)
                                         : select(ifft(spectrum, {.norm = norm}, at), -1, 0, at);
  const std::int64_t count = frames.size(-2), total = (count - 1) * f.hop + n;
  const auto added = [&](const Tensor& t) {
    return sum(unwindow(t, -2, total, f.hop, 1, at), -1, false, at);
  };
  const Tensor signal = added(frames * f.window);
  const Tensor weight = added(expand(square(f.window), {count, n}, at));
  const Tensor result = signal / where(weight > 1e-11, weight, 1);
  const std::int64_t begin = options.center ? n / 2 : 0;
  const std::int64_t end = options.length   ? begin + *options.length
                           : options.center ? total - n / 2
                                            : total;
  const Tensor rest = narrow(result, -1, begin, std::min(end, total) - begin, at);
  return end > total ? pad(rest, {0, end - total}, 0, at) : rest;
}

// ---- windows ----------------------------------------------------------------------------------

namespace {

// f of the positions 0 .. 1 of the elements.
template <typename F>
Tensor window(std::string_view name, std::int64_t size, bool periodic, const TensorOptions& options,
              Location at, F f) {
  check(size >= 0, at, "{}: {} elements", name, size);
  const DType dtype = options.dtype.value_or(DType::Float32);
  check(is_float(dtype), at, "{}: {} is not a float dtype", name, name_of(dtype));
  if (size == 1) return Tensor::ones({1}, {.dtype = dtype, .device = options.device}, at);
  const double last = static_cast<double>(periodic ? size : size - 1);
  const Tensor i = Tensor::arange(size, {.dtype = DType::Float64, .device = options.device}, at);
  return f(i / last).cast(dtype);
}

// a[0] - a[1] cos(2 pi x) + a[2] cos(4 pi x) - ...
Tensor cosines(std::string_view name, std::int64_t size, std::span<const double> a, bool periodic,
               const TensorOptions& options, Location at) {
  return window(name, size, periodic, options, at, [&](const Tensor& x) {
    Tensor result = x * 0.0;
    for (std::size_t k = 0; k < a.size(); k++) {
      const double turns = 2 * std::numbers::pi * static_cast<double>(k);
      result = result + cos(x * turns) * (k % 2 == 0 ? a[k] : -a[k]);
    }
    return result;
  });
}

// The number of the last element, counted from 0.
double last_of(std::int64_t size, bool periodic) {
  return static_cast<double>(periodic ? size : size - 1);
}

}  // namespace

Tensor hann_window(std::int64_t size, bool periodic, const TensorOptions& options, Location at) {
  const CallScope scope("hann_window", at);
  constexpr double a[] = {0.5, 0.5};
  return cosines("hann_window", size, a, periodic, options, at);
}

Tensor hamming_window(std::int64_t size, bool periodic, double alpha, double beta,
                      const TensorOptions& options, Location at) {
  const CallScope scope("hamming_window", at);
  const double a[] = {alpha, beta};
  return cosines("hamming_window", size, a, periodic, options, at);
}

Tensor blackman_window(std::int64_t size, bool periodic, const TensorOptions& options,
                       Location at) {
  const CallScope scope("blackman_window", at);
  constexpr double a[] = {0.42, 0.5, 0.08};
  return cosines("blackman_window", size, a, periodic, options, at);
}

Tensor nuttall_window(std::int64_t size, bool periodic, const TensorOptions& options, Location at) {
  const CallScope scope("nuttall_window", at);
  constexpr double a[] = {0.3635819, 0.4891775, 0.1365995, 0.0106411};
  return cosines("nuttall_window", size, a, periodic, options, at);
}

Tensor general_cosine_window(std::int64_t size, std::span<const double> coefficients, bool periodic,
                             const TensorOptions& options, Location at) {
  const CallScope scope("general_cosine_window", at);
  check(!coefficients.empty(), at, "general_cosine_window: there are no coefficients");
  return cosines("general_cosine_window", size, coefficients, periodic, options, at);
}

Tensor cosine_window(std::int64_t size, bool periodic, const TensorOptions& options, Location at) {
  const CallScope scope("cosine_window", at);
  const double last = last_of(size, periodic);
  return window("cosine_window", size, periodic, options, at, [&](const Tensor& x) {
    return sin((x * last + 0.5) * (std::numbers::pi / (last + 1)));
  });
}

Tensor gaussian_window(std::int64_t size, bool periodic, double deviation,
                       const TensorOptions& options, Location at) {
  const CallScope scope("gaussian_window", at);
  check(deviation > 0, at, "gaussian_window: the deviation {} must be positive", deviation);
  const double last = last_of(size, periodic);
  return window("gaussian_window", size, periodic, options, at, [&](const Tensor& x) {
    return exp(square((x - 0.5) * (last / deviation)) * -0.5);
  });
}

Tensor exponential_window(std::int64_t size, bool periodic, double tau,
                          const TensorOptions& options, Location at) {
  const CallScope scope("exponential_window", at);
  check(tau > 0, at, "exponential_window: tau {} must be positive", tau);
  const double last = last_of(size, periodic);
  return window("exponential_window", size, periodic, options, at,
                [&](const Tensor& x) { return exp(abs(x - 0.5) * (-last / tau)); });
}

Tensor bartlett_window(std::int64_t size, bool periodic, const TensorOptions& options,
                       Location at) {
  return window("bartlett_window", size, periodic, options, at,
                [](const Tensor& x) { return 1 - abs(2 * x - 1); });
}

Tensor kaiser_window(std::int64_t size, bool periodic, double beta, const TensorOptions& options,
                     Location at) {
  return window("kaiser_window", size, periodic, options, at, [&](const Tensor& x) {
    const Tensor place = 2 * x - 1;
    const Tensor inside = clamp(1 - place * place, 0);
    return i0(sqrt(inside) * beta) / i0(Tensor::full({}, beta, {.dtype = DType::Float64}));
  });
}

}  // namespace croze
