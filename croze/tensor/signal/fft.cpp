// fft.cpp -- Fourier transforms by products with matrices of roots of unity.
#include "croze/tensor/signal/fft.h"

#include <cmath>
#include <numbers>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {
namespace {

// Up to here a transform is one product.
constexpr std::int64_t direct = 32;

// exp(2 pi i sign numerator / denominator), the numerator reduced first, as (cos, sin).
struct Root {
  double cosine, sine;

  Root(std::int64_t numerator, std::int64_t denominator, int sign) {
    const double part =
        static_cast<double>(numerator % denominator) / static_cast<double>(denominator);
    cosine = std::cos(2 * std::numbers::pi * part);
    sine = sign * std::sin(2 * std::numbers::pi * part);
  }
};

Tensor table(const std::vector<double>& values, const Shape& shape, const Tensor& like,
             Location at) {
  return Tensor::from_data(values, shape, beside(like), at).cast(like.dtype());
}

Tensor part(const Tensor& x, int i, Location at) {
  return squeeze(narrow(x, -1, i, 1, at), -1, at);
}

Tensor complex_product(const Tensor& x, const Tensor& y, Location at) {
  const Tensor a = part(x, 0, at), b = part(x, 1, at), c = part(y, 0, at), d = part(y, 1, at);
  return stack({a * c - b * d, a * d + b * c}, -1, at);
}

Tensor conjugate(const Tensor& x, Location at) {
  return stack({part(x, 0, at), -part(x, 1, at)}, -1, at);
}

// All below transform axis -2, the last one being the pair, without a factor.

// The pairs as 2 n numbers, times a real matrix.
Tensor by_matrix(const Tensor& x, int sign, Location at) {
  const std::int64_t n = x.size(-2);
  std::vector<double> matrix(static_cast<std::size_t>(4 * n * n));
  for (std::int64_t j = 0; j < n; j++) {
    for (std::int64_t k = 0; k < n; k++) {
      const Root w(j * k, n, sign);
      const auto place = [&](int a, int b) {
        return static_cast<std::size_t>((2 * j + a) * 2 * n + 2 * k + b);
      };
      matrix[place(0, 0)] = w.cosine;
      matrix[place(0, 1)] = w.sine;
      matrix[place(1, 0)] = -w.sine;
      matrix[place(1, 1)] = w.cosine;
    }
  }
  const Tensor product = matmul(flatten(x, -2, -1, at), table(matrix, {2 * n, 2 * n}, x, at), at);
  return unflatten(product, -1, {n, 2}, at);
}

Tensor transformed(const Tensor& x, int sign, Location at);

// n = p q, with j = q j1 + j2 and k = k1 + p k2: transforms over j1, a factor w^(j2 k1), transforms
// over j2.
Tensor by_factors(const Tensor& x, std::int64_t p, int sign, Location at) {
  const std::int64_t n = x.size(-2), q = n / p;
  std::vector<double> twiddle;
  for (std::int64_t j2 = 0; j2 < q; j2++) {
    for (std::int64_t k1 = 0; k1 < p; k1++) {
      const Root w(j2 * k1, n, sign);
      twiddle.push_back(w.cosine);
      twiddle.push_back(w.sine);
    }
  }
  const Tensor grid = unflatten(x, -2, {p, q}, at);                         // (j1, j2, 2)
  const Tensor columns = by_matrix(transpose(grid, -3, -2, at), sign, at);  // (j2, k1, 2)
  const Tensor turned = complex_product(columns, table(twiddle, {q, p, 2}, x, at), at);
  const Tensor rows = transpose(turned, -3, -2, at).contiguous();  // (k1, j2, 2)
  return flatten(transpose(transformed(rows, sign, at), -3, -2, at), -3, -2, at);
}

// j k = (j^2 + k^2 - (k - j)^2) / 2: a product with chirps around a convolution with one.
Tensor by_chirp(const Tensor& x, int sign, Location at) {
  const std::int64_t n = x.size(-2);
  std::int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  std::vector<double> chirp, filter(static_cast<std::size_t>(2 * m));
  for (std::int64_t j = 0; j < n; j++) {
    const Root w(j * j, 2 * n, sign);
    chirp.push_back(w.cosine);
    chirp.push_back(w.sine);
    for (std::int64_t place : {j, (m - j) % m}) {
      filter[static_cast<std::size_t>(2 * place)] = w.cosine;
      filter[static_cast<std::size_t>(2 * place + 1)] = -w.sine;
    }
  }
  const Tensor c = table(chirp, {n, 2}, x, at);
  const Tensor left = transformed(pad(complex_product(x, c, at), {0, 0, 0, m - n}, 0, at), -1, at);
  const Tensor right = transformed(table(filter, {m, 2}, x, at), -1, at);
  const Tensor both = complex_product(left, right, at).contiguous();
  const Tensor convolved =
      narrow(transformed(both, 1, at), -2, 0, n, at) * (1 / static_cast<double>(m));
  return complex_product(convolved, c, at);
}

Tensor transformed(const Tensor& x, int sign, Location at) {
  const std::int64_t n = x.size(-2);
  if (n <= direct) return by_matrix(x, sign, at);
  for (std::int64_t p = direct; p > 1; p--) {
    if (n % p == 0) return by_factors(x, p, sign, at);
  }
  return by_chirp(x, sign, at);
}

// ---- lengths, axes, factors -------------------------------------------------------------------

double factor_of(FftNorm norm, std::int64_t n, int sign) {
  const double count = static_cast<double>(n);
  if (norm == FftNorm::Ortho) return 1 / std::sqrt(count);
  const bool divides = (norm == FftNorm::Backward) == (sign > 0);
  return divides ? 1 / count : 1;
}

// An axis cut or filled up to n elements.
Tensor resized(const Tensor& x, std::int64_t axis, std::int64_t n, Location at) {
  const std::int64_t size = x.size(axis);
  if (n <= size) return narrow(x, axis, 0, n, at);
  Shape amounts;
  for (std::int64_t i = x.ndim() - 1; i >= axis; i--) {
    amounts.push_back(0);
    amounts.push_back(i == axis ? n - size : 0);
  }
  return pad(x, amounts, 0, at);
}

// The transform at work along one axis, moved to the end (before the pair).
struct Transform {
  Call call;
  Location at;
  std::int64_t axis = 0;

  Transform(std::string_view name, const Tensor& x, bool is_complex, std::int64_t wanted,
            Location where)
      : call(name, {&x}, where), at(where) {
    call.require(!is_complex || (x.ndim() >= 2 && x.size(-1) == 2 && is_float(x.dtype())),
                 "a complex tensor is of floats, its last axis the real and imaginary part");
    const int rank = x.ndim() - (is_complex ? 1 : 0);
    call.require(rank >= 1, "there is no axis to transform");
    axis = call.axis(wanted, rank);
  }

  std::int64_t length(std::optional<std::int64_t> wanted, std::int64_t otherwise) const {
    const std::int64_t n = wanted.value_or(otherwise);
    call.require(n >= 1 && n < std::int64_t{1} << 30, "a transform of {} elements", n);
    return n;
  }

  Tensor complex(const Tensor& x, std::int64_t n, int sign) const {
    const Tensor line = transpose(resized(x, axis, n, at), axis, -2, at);
    return transpose(transformed(line, sign, at), axis, -2, at);
  }
};

Tensor as_complex(const Tensor& x, Location at) {
  return stack({x, Tensor::zeros_like(x, {}, at)}, -1, at);
}

Tensor complex_transform(std::string_view name, const Tensor& x, const FftOptions& o, int sign,
                         Location at) {
  const Transform t(name, x, true, o.axis, at);
  const std::int64_t n = t.length(o.n, x.shape()[t.axis]);
  return in_wide_float(
      x, [&](const Tensor& v) { return t.complex(v, n, sign) * factor_of(o.norm, n, sign); });
}

// From real to the elements 0 .. n / 2.
Tensor half_spectrum(std::string_view name, const Tensor& x, const FftOptions& o, int sign,
                     int norm_sign, Location at) {
  const Transform t(name, x, false, o.axis, at);
  const std::int64_t n = t.length(o.n, x.shape()[t.axis]);
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor spectrum = t.complex(as_complex(v, at), n, sign);
    return narrow(spectrum, t.axis, 0, n / 2 + 1, at) * factor_of(o.norm, n, norm_sign);
  });
}

// The other half of the spectrum is the first one mirrored and conjugated.
Tensor from_half_spectrum(std::string_view name, const Tensor& x, const FftOptions& o, int sign,
                          int norm_sign, Location at) {
  const Transform t(name, x, true, o.axis, at);
  const std::int64_t n = t.length(o.n, 2 * (x.shape()[t.axis] - 1));
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor half = resized(v, t.axis, n / 2 + 1, at);
    const std::int64_t mirrored = (n - 1) / 2;
    const Tensor rest = flip(narrow(half, t.axis, 1, mirrored, at), t.axis, at);
    // Elements that are their own mirror image are real.
    const Tensor index = Tensor::arange(n / 2 + 1, {}, at);
    const Tensor own = (index == 0) | (index * 2 == n);
    Shape line;
    for (int i = 0; i < half.ndim() - 1; i++) line.push_back(i == t.axis ? n / 2 + 1 : 1);
    const Tensor imaginary = where(reshape(own, line, at), 0, part(half, 1, at));
    const Tensor clean = stack({part(half, 0, at), imaginary}, -1, at);
    const Tensor whole = mirrored > 0 ? cat({clean, conjugate(rest, at)}, t.axis, at) : clean;
    return part(t.complex(whole, n, sign), 0, at) * factor_of(o.norm, n, norm_sign);
  });
}

// The axes of a transform along several, and their lengths (-1: as they are).
std::vector<std::pair<std::int64_t, std::int64_t>> axes_of(const Call& call, int rank,
                                                           const FftnOptions& o) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  const Shape axes = o.axes.list();
  call.require(o.n.empty() || axes.empty() || o.n.size() == axes.size(), "{} lengths for {} axes",
               o.n.size(), axes.size());
  const int count = !axes.empty() ? axes.size() : !o.n.empty() ? o.n.size() : rank;
  call.require(count <= rank, "{} axes of {}", count, rank);
  for (int i = 0; i < count; i++) {
    const std::int64_t axis = axes.empty() ? rank - count + i : call.axis(axes[i], rank);
    result.emplace_back(axis, o.n.empty() ? -1 : o.n[i]);
  }
  return result;
}

FftOptions one_axis(const std::pair<std::int64_t, std::int64_t>& axis, FftNorm norm) {
  FftOptions o{.axis = axis.first, .norm = norm};
  if (axis.second >= 0) o.n = axis.second;
  return o;
}

}  // namespace

// ---- transforms -------------------------------------------------------------------------------

Tensor fft(const Tensor& x, const FftOptions& options, Location at) {
  return complex_transform("fft", x, options, -1, at);
}

Tensor ifft(const Tensor& x, const FftOptions& options, Location at) {
  return complex_transform("ifft", x, options, 1, at);
}

Tensor rfft(const Tensor& x, const FftOptions& options, Location at) {
  return half_spectrum("rfft", x, options, -1, -1, at);
}

Tensor irfft(const Tensor& x, const FftOptions& options, Location at) {
  return from_half_spectrum("irfft", x, options, 1, 1, at);
}

Tensor hfft(const Tensor& x, const FftOptions& options, Location at) {
  return from_half_spectrum("hfft", x, options, -1, -1, at);
}

Tensor ihfft(const Tensor& x, const FftOptions& options, Location at) {
  return half_spectrum("ihfft", x, options, 1, 1, at);
}

Tensor fftn(const Tensor& x, const FftnOptions& options, Location at) {
  const CallScope scope("fftn", at);
  Tensor result = x;
  for (const auto& axis : axes_of(Call("fftn", {&x}, at), x.ndim() - 1, options)) {
    result = fft(result, one_axis(axis, options.norm), at);
  }
  return result;
}

Tensor ifftn(const Tensor& x, const FftnOptions& options, Location at) {
  const CallScope scope("ifftn", at);
  Tensor result = x;
  for (const auto& axis : axes_of(Call("ifftn", {&x}, at), x.ndim() - 1, options)) {
    result = ifft(result, one_axis(axis, options.norm), at);
  }
  return result;
}

Tensor rfftn(const Tensor& x, const FftnOptions& options, Location at) {
  const Call call("rfftn", {&x}, at);
  const auto axes = axes_of(call, x.ndim(), options);
  call.require(!axes.empty(), "there is no axis to transform");
  Tensor result = rfft(x, one_axis(axes.back(), options.norm), at);
  for (std::size_t i = 0; i + 1 < axes.size(); i++) {
    result = fft(result, one_axis(axes[i], options.norm), at);
  }
  return result;
}

Tensor irfftn(const Tensor& x, const FftnOptions& options, Location at) {
  const Call call("irfftn", {&x}, at);
  const auto axes = axes_of(call, x.ndim() - 1, options);
  call.require(!axes.empty(), "there is no axis to transform");
  Tensor result = x;
  for (std::size_t i = 0; i + 1 < axes.size(); i++) {
    result = ifft(result, one_axis(axes[i], options.norm), at);
  }
  return irfft(result, one_axis(axes.back(), options.norm), at);
}

// ---- frequencies ------------------------------------------------------------------------------

Tensor fftfreq(std::int64_t n, double spacing, const TensorOptions& options, Location at) {
  const CallScope scope("fftfreq", at);
  check(n > 0 && spacing != 0, at, "fftfreq: {} samples, {} apart", n, spacing);
  const Tensor i = Tensor::arange(n, {.device = options.device}, at);
  const Tensor number = where(i * 2 < n, i, i - n).cast(options.dtype.value_or(DType::Float32));
  return number / (static_cast<double>(n) * spacing);
}

Tensor rfftfreq(std::int64_t n, double spacing, const TensorOptions& options, Location at) {
  const CallScope scope("rfftfreq", at);
  check(n > 0 && spacing != 0, at, "rfftfreq: {} samples, {} apart", n, spacing);
  const Tensor i = Tensor::arange(n / 2 + 1, {.device = options.device}, at);
  return i.cast(options.dtype.value_or(DType::Float32)) / (static_cast<double>(n) * spacing);
}

namespace {

Tensor shifted(const Tensor& x, const Axes& axes, bool back, Location at) {
  const Shape list = Call("fftshift", {&x}, at).axes(axes, x.ndim());
  Shape shifts;
  for (std::int64_t a : list) shifts.push_back(back ? -(x.shape()[a] / 2) : x.shape()[a] / 2);
  return list.empty() ? x : roll(x, shifts, list, at);
}

}  // namespace

Tensor fftshift(const Tensor& x, const Axes& axes, Location at) {
  const CallScope scope("fftshift", at);
  return shifted(x, axes, false, at);
}

Tensor ifftshift(const Tensor& x, const Axes& axes, Location at) {
  const CallScope scope("ifftshift", at);
  return shifted(x, axes, true, at);
}

}  // namespace croze
