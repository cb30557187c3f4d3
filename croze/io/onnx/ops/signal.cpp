// signal.cpp -- Fourier transforms, windows and mel filters.  Complex numbers are a last axis of
// two.
#include <cmath>
#include <numbers>

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

constexpr double pi = std::numbers::pi;

// cos and sin of 2 pi j k / n for j < rows, k < columns.
struct Rotations {
  Tensor cosine, sine;
};

Rotations rotations(std::int64_t rows, std::int64_t columns, std::int64_t n, DType dtype) {
  constexpr std::int64_t most = std::int64_t{1} << 26;
  check(rows * columns <= most, "a transform of {} by {} elements is too large", rows, columns);
  std::vector<double> cosine, sine;
  for (std::int64_t j = 0; j < rows; j++) {
    for (std::int64_t k = 0; k < columns; k++) {
      const double angle = 2 * pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      cosine.push_back(std::cos(angle));
      sine.push_back(std::sin(angle));
    }
  }
  const Shape shape{rows, columns};
  return {Tensor::from_data(cosine, shape, {.dtype = dtype}),
          Tensor::from_data(sine, shape, {.dtype = dtype})};
}

// The transform along the last axis: real and imaginary part (undefined: real) of n elements each
// to `outputs` frequencies.
struct Complex {
  Tensor re, im;
};

Complex transformed(const Complex& x, std::int64_t outputs, bool inverse) {
  const std::int64_t n = x.re.size(-1);
  check(n > 0, "a transform of no elements");
  const Rotations r = rotations(n, outputs, n, x.re.dtype());
  // (a + ib)(cos -+ i sin)
  const Tensor sine = inverse ? -r.sine : r.sine;
  Tensor re = matmul(x.re, r.cosine), im = -matmul(x.re, sine);
  if (x.im.defined()) {
    re = re + matmul(x.im, sine);
    im = im + matmul(x.im, r.cosine);
  }
  if (!inverse) return {re, im};
  const auto count = static_cast<double>(n);
  return {re / count, im / count};
}

Complex split_complex(const Tensor& x) {
  check(x.ndim() >= 2 && (x.size(-1) == 1 || x.size(-1) == 2),
        "the last axis of shape {} does not hold real or complex numbers", to_text(x.shape()));
  const auto part = [&](std::int64_t i) { return x.narrow(-1, i, 1).squeeze(-1); };
  return {part(0), x.size(-1) == 2 ? part(1) : Tensor()};
}

// Cut or filled with zeros to `length` elements of the last axis.
Tensor with_length(const Tensor& x, std::int64_t length) {
  const std::int64_t size = x.size(-1);
  return size >= length ? x.narrow(-1, 0, length) : pad(x, {0, length - size});
}

// The axis was an attribute before opset 20.
Results dft(const NodeCall& call) {
  const Tensor& x = call[0];
  const std::int64_t missing = call.version() < 20 ? 1 : -2;
  const std::int64_t axis = checked_axis(
      call.version() < 20 ? call.integer("axis", missing) : call.integer_or(2, missing), x.ndim());
  check(axis + 1 < x.ndim(), "axis {} holds the parts of complex numbers", axis);
  const std::int64_t length = call.integer_or(1, x.size(axis));
  check(length > 0, "a transform of {} elements", length);
  const bool inverse = call.flag("inverse"), onesided = call.flag("onesided");
  Complex parts = split_complex(x);
  for (Tensor* part : {&parts.re, &parts.im}) {
    if (part->defined()) *part = with_length(part->transpose(axis, -1), length);
  }
  const Complex y = transformed(parts, onesided ? length / 2 + 1 : length, inverse);
  const Tensor joined = stack({y.re.transpose(axis, -1), y.im.transpose(axis, -1)}, -1);
  return {joined.cast(x.dtype())};
}

// Inputs: signal (batch, length, 1 or 2), step, window, length of a frame.
Results stft(const NodeCall& call) {
  const Complex signal = split_complex(call[0]);
  check(signal.re.ndim() == 2, "a signal of shape {}", to_text(call[0].shape()));
  const std::int64_t step = call.integer(1);
  const std::int64_t length = call.integer_or(3, call.has(2) ? call[2].numel() : 0);
  check(step > 0 && length > 0 && length <= signal.re.size(1),
        "frames of {} elements, {} apart, of {}", length, step, signal.re.size(1));
  Complex frames;
  const auto framed = [&](const Tensor& part) {
    if (!part.defined()) return part;
    const Tensor cut = unfold(part, 1, length, step);
    return call.has(2) ? cut * call[2] : cut;
  };
  frames.re = framed(signal.re);
  frames.im = framed(signal.im);
  const std::int64_t outputs = call.flag("onesided", true) ? length / 2 + 1 : length;
  const Complex y = transformed(frames, outputs, false);
  return {stack({y.re, y.im}, -1)};
}

// ---- windows ----------------------------------------------------------------------------------

// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N); N is one less unless the window is periodic.
Results cosine_window(const NodeCall& call, double a0, double a1, double a2) {
  const std::int64_t size = call.integer(0);
  check(size >= 0, "a window of {} elements", size);
  const std::int64_t period = call.flag("periodic", true) ? size : size - 1;
  std::vector<double> values;
  for (std::int64_t n = 0; n < size; n++) {
    const double angle =
        period == 0 ? 0 : 2 * pi * static_cast<double>(n) / static_cast<double>(period);
    values.push_back(a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
  }
  const auto type = static_cast<ElementType>(call.integer("output_datatype", 1));
  return {Tensor::from_data(values, {size}).cast(dtype_of(type))};
}

Results hann(const NodeCall& call) { return cosine_window(call, 0.5, 0.5, 0); }
Results hamming(const NodeCall& call) { return cosine_window(call, 25.0 / 46, 1 - 25.0 / 46, 0); }
Results blackman(const NodeCall& call) { return cosine_window(call, 0.42, 0.5, 0.08); }

// Triangular filters, equally spaced in mel, as the reference implementation places them: on
// whole frequency bins.  Inputs: filters, DFT length, sample rate, lower and upper frequency.
Results mel_weights(const NodeCall& call) {
  const std::int64_t filters = call.integer(0), length = call.integer(1), rate = call.integer(2);
  const double low = call.number(3), high = call.number(4);
  const std::int64_t bins = length / 2 + 1;
  check(filters > 0 && length > 0 && rate > 0 && filters * bins <= 1 << 26,
        "{} filters over {} frequencies at a rate of {}", filters, bins, rate);
  const auto mel = [](double hz) { return 2595 * std::log10(1 + hz / 700); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(filters + 2);
  Ints places;
  for (std::int64_t i = 0; i < filters + 2; i++) {
    const double hz = 700 * (std::pow(10, (mel(low) + step * static_cast<double>(i)) / 2595) - 1);
    places.push_back(static_cast<std::int64_t>(
        std::floor(static_cast<double>(length + 1) * hz / static_cast<double>(rate))));
  }
  std::vector<double> weights(static_cast<std::size_t>(bins * filters), 0.0);
  for (std::int64_t f = 0; f < filters; f++) {
    const auto at = [&](std::int64_t i) { return places[static_cast<std::size_t>(f + i)]; };
    const auto set = [&](std::int64_t bin, double value) {
      if (bin >= 0 && bin < bins) weights[static_cast<std::size_t>(bin * filters + f)] = value;
    };
    const auto ratio = [](std::int64_t a, std::int64_t b) {
      return static_cast<double>(a) / static_cast<double>(b);
    };
    for (std::int64_t bin = at(0); bin <= at(1); bin++) {
      set(bin, at(1) == at(0) ? 1 : ratio(bin - at(0), at(1) - at(0)));
    }
    for (std::int64_t bin = at(1); bin < at(2); bin++) {
      set(bin, ratio(at(2) - bin, at(2) - at(1)));
    }
  }
  const auto type = static_cast<ElementType>(call.integer("output_datatype", 1));
  return {Tensor::from_data(weights, {bins, filters}).cast(dtype_of(type))};
}

// clang-format off
constexpr Operator table[] = {
  {"BlackmanWindow", 17, blackman},
  {"DFT", 17, dft},
  {"HammingWindow", 17, hamming},
  {"HannWindow", 17, hann},
  {"MelWeightMatrix", 17, mel_weights},
  {"STFT", 17, stft},
};
// clang-format on

}  // namespace

std::span<const Operator> signal_operators() { return table; }

}  // namespace croze::onnx
