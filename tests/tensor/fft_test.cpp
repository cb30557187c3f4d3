// Fourier transforms against the sum that defines them.
#include <cmath>
#include <complex>
#include <numbers>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;
using Complex = std::complex<double>;

const TensorOptions wide{.dtype = DType::Float64};

std::vector<Complex> complex_of(const Tensor& x) {
  const std::vector<double> v = x.to_vector<double>();
  std::vector<Complex> result;
  for (std::size_t i = 0; i < v.size(); i += 2) result.emplace_back(v[i], v[i + 1]);
  return result;
}

std::vector<double> parts_of(const std::vector<Complex>& x) {
  std::vector<double> result;
  for (Complex c : x) {
    result.push_back(c.real());
    result.push_back(c.imag());
  }
  return result;
}

std::vector<Complex> definition(const std::vector<Complex>& x, int sign) {
  const std::size_t n = x.size();
  std::vector<Complex> result;
  for (std::size_t k = 0; k < n; k++) {
    Complex sum = 0;
    for (std::size_t j = 0; j < n; j++) {
      sum += x[j] * std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(j * k % n) /
                                        static_cast<double>(n));
    }
    result.push_back(sum);
  }
  return result;
}

TEST(Fft, AnyLengthIsItsDefinition) {
  for (std::int64_t n : {1, 2, 7, 32, 37, 60, 101, 256}) {
    SCOPED_TRACE(n);
    const Tensor x = random_tensor({n, 2}, -1, 1, wide, static_cast<std::uint32_t>(n));
    expect_numbers(fft(x), parts_of(definition(complex_of(x), -1)), 1e-10);
    expect_numbers(ifft(fft(x)), x.to_vector<double>(), 1e-12);
    const Tensor real = x.narrow(1, 0, 1).reshape({n});
    const Tensor spectrum = rfft(real);
    EXPECT_EQ(spectrum.shape(), (Shape{n / 2 + 1, 2}));
    const Tensor as_complex = stack({real, Tensor::zeros_like(real)}, -1);
    expect_numbers(spectrum, fft(as_complex).narrow(0, 0, n / 2 + 1).to_vector<double>(), 1e-10);
    expect_numbers(irfft(spectrum, {.n = n}), real.to_vector<double>(), 1e-12);
  }
}

TEST(Fft, LengthsNormsAndAxes) {
  const Tensor x = random_tensor({3, 4, 2}, -1, 1, wide);
  expect_numbers(fft(x, {.axis = 0}).index({Slice{}, 1}),
                 fft(x.index({Slice{}, 1})).to_vector<double>(), 1e-12);
  expect_numbers(fft(x, {.n = 6})[0], fft(pad(x[0], {0, 0, 0, 2})).to_vector<double>(), 1e-12);
  expect_numbers(fft(x, {.norm = FftNorm::Ortho}) * 2.0, fft(x).to_vector<double>(), 1e-12);
  expect_numbers(fft(x, {.norm = FftNorm::Forward}) * 4.0, fft(x).to_vector<double>(), 1e-12);
  expect_numbers(fftn(x), fft(fft(x), {.axis = 0}).to_vector<double>(), 1e-12);
  expect_numbers(ifftn(fftn(x)), x.to_vector<double>(), 1e-12);
  const Tensor real = random_tensor({3, 5}, -1, 1, wide);
  expect_numbers(irfftn(rfftn(real), {.n = {3, 5}}), real.to_vector<double>(), 1e-12);
  expect_numbers(hfft(ihfft(real), {.n = 5}), real.to_vector<double>(), 1e-12);
  expect_numbers(fftfreq(5, 0.5), {0, 0.4, 0.8, -0.8, -0.4}, 1e-6);
  expect_numbers(rfftfreq(4), {0, 0.25, 0.5});
  expect_numbers(fftshift(Tensor::arange(5)), {3, 4, 0, 1, 2});
  expect_numbers(ifftshift(fftshift(Tensor::arange(5))), {0, 1, 2, 3, 4});
  error_of([&] { fft(real); });
}

TEST(Fft, ShortTimeTransformsComeBack) {
  const Tensor x = random_tensor({2, 200}, -1, 1, wide);
  const Tensor window = hann_window(40, true, wide);
  const StftOptions o{.hop = 10, .window = window, .length = 200};
  const Tensor frames = stft(x, 40, o);
  EXPECT_EQ(frames.shape(), (Shape{2, 21, 21, 2}));
  // Frame 5 is centred at sample 50.
  const Tensor frame = x[0].narrow(0, 30, 40) * window;
  expect_numbers(frames.index({0, Slice{}, 5}), rfft(frame).to_vector<double>(), 1e-10);
  expect_numbers(istft(frames, 40, o), x.to_vector<double>(), 1e-10);
}

TEST(Fft, Windows) {
  expect_numbers(hann_window(4), {0, 0.5, 1, 0.5}, 1e-6);
  expect_numbers(hann_window(5, false), {0, 0.5, 1, 0.5, 0}, 1e-6);
  expect_numbers(hamming_window(4), {0.08, 0.54, 1, 0.54}, 1e-6);
  expect_numbers(blackman_window(4), {0, 0.34, 1, 0.34}, 1e-6);
  expect_numbers(bartlett_window(4), {0, 0.5, 1, 0.5}, 1e-6);
  expect_numbers(kaiser_window(3, false, 2), {1 / 2.279585302336067, 1, 1 / 2.279585302336067},
                 1e-6);
}

TEST(Fft, GradientsAreTransforms) {
  const Tensor x = random_tensor({48}, -1, 1, wide);
  // Parseval: the energy of the spectrum is 48 times that of the signal.
  const Tensor energy = fft(stack({x, Tensor::zeros_like(x)}, -1)).square().sum();
  std::vector<double> expected;
  for (double v : x.to_vector<double>()) expected.push_back(96 * v);
  expect_numbers(energy.gradient({x})[0], expected, 1e-9);
}

}  // namespace
}  // namespace croze
