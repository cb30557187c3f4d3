// fft.cpp -- rows of the op table: Fourier transforms and windows.
//
// Complex numbers are pairs along the last axis, where PyTorch has complex dtypes.
#include "croze/tensor/signal/fft.h"

#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"

namespace croze {
namespace {

using enum ResultType;

using Transform = Tensor (*)(const Tensor&, const FftOptions&, Location);
using Transforms = Tensor (*)(const Tensor&, const FftnOptions&, Location);

// The names of `norm`; None is "backward".
FftNorm norm_named(const Value& norm) {
  if (norm.get<std::monostate>()) return FftNorm::Backward;
  const std::string_view name = read_text(norm);
  if (name == "ortho") return FftNorm::Ortho;
  return name == "forward" ? FftNorm::Forward : FftNorm::Backward;
}

template <Transform transform>
Tensor along_axis(const Tensor& x, std::optional<std::int64_t> n, std::int64_t dim,
                  const Value& norm) {
  return transform(x, {.n = n, .axis = dim, .norm = norm_named(norm)}, Location::current());
}

template <Transforms transform>
Tensor along_axes(const Tensor& x, const std::optional<Shape>& s, const Axes& dim,
                  const Value& norm) {
  return transform(x, {.n = s.value_or(Shape()), .axes = dim, .norm = norm_named(norm)},
                   Location::current());
}

constexpr auto short_time = [](const Tensor& x, std::int64_t n, std::optional<std::int64_t> hop,
                               std::optional<std::int64_t> length, const Tensor& window,
                               bool center, PadMode mode, bool normalized,
                               std::optional<bool> onesided) {
  return stft(x, n,
              {.hop = hop,
               .window_length = length,
               .window = window,
               .center = center,
               .pad_mode = mode,
               .normalized = normalized,
               .onesided = onesided.value_or(true)});
};
constexpr auto short_time_back =
    [](const Tensor& x, std::int64_t n, std::optional<std::int64_t> hop,
       std::optional<std::int64_t> window_length, const Tensor& window, bool center,
       bool normalized, std::optional<bool> onesided, std::optional<std::int64_t> length) {
      return istft(x, n,
                   {.hop = hop,
                    .window_length = window_length,
                    .window = window,
                    .center = center,
                    .normalized = normalized,
                    .onesided = onesided.value_or(true),
                    .length = length});
    };
constexpr auto hann = [](std::int64_t size, bool sym, std::optional<DType> dtype) {
  return hann_window(size, !sym, {.dtype = dtype});
};
constexpr auto hamming = [](std::int64_t size, bool sym, std::optional<DType> dtype) {
  return hamming_window(size, !sym, 0.54, 0.46, {.dtype = dtype});
};
constexpr auto blackman = [](std::int64_t size, bool sym, std::optional<DType> dtype) {
  return blackman_window(size, !sym, {.dtype = dtype});
};
constexpr auto bartlett = [](std::int64_t size, bool sym, std::optional<DType> dtype) {
  return bartlett_window(size, !sym, {.dtype = dtype});
};
constexpr auto nuttall = [](std::int64_t size, bool sym, std::optional<DType> dtype) {
  return nuttall_window(size, !sym, {.dtype = dtype});
};
constexpr auto cosines = [](std::int64_t size, const std::vector<double>& a, bool sym,
                            std::optional<DType> dtype) {
  return general_cosine_window(size, a, !sym, {.dtype = dtype});
};
constexpr auto two_cosines = [](std::int64_t size, double alpha, bool sym,
                                std::optional<DType> dtype) {
  return hamming_window(size, !sym, alpha, 1 - alpha, {.dtype = dtype});
};
constexpr auto cosine = [](std::int64_t size, bool sym, std::optional<DType> dtype) {
  return cosine_window(size, !sym, {.dtype = dtype});
};
constexpr auto gaussian = [](std::int64_t size, double deviation, bool sym,
                             std::optional<DType> dtype) {
  return gaussian_window(size, !sym, deviation, {.dtype = dtype});
};
constexpr auto exponential = [](std::int64_t size, double tau, bool sym,
                                std::optional<DType> dtype) {
  return exponential_window(size, !sym, tau, {.dtype = dtype});
};
constexpr auto kaiser = [](std::int64_t size, double beta, bool sym, std::optional<DType> dtype) {
  return kaiser_window(size, !sym, beta, {.dtype = dtype});
};

constexpr std::string_view one = "input, n=none, dim=-1, norm=none";
constexpr std::string_view several = "input, s=none, dim=none, norm=none";
constexpr std::string_view plane = "input, s=none, dim=[-2, -1], norm=none";
constexpr std::string_view pairs = "t(2,5,2) | t(2,4,2), 6, 1, 'ortho'";
constexpr std::string_view reals = "t(2,5) | t(4,2), 6, 0, 'ortho'";

constexpr OpEntry ops[] = {
    {"fft.fft", one, bind<along_axis<fft>>, floats, Same, 2, "Complex to complex.", pairs},
    {"fft.ifft", one, bind<along_axis<ifft>>, floats, Same, 2, "Inverse of fft.", pairs},
    {"fft.rfft", one, bind<along_axis<rfft>>, anything, Float, 2, "Real to half the complex ones.",
     reals},
    {"fft.irfft", one, bind<along_axis<irfft>>, floats, Same, 2, "Inverse of rfft.", pairs},
    {"fft.hfft", one, bind<along_axis<hfft>>, floats, Same, 2, "irfft with the roles exchanged.",
     pairs},
    {"fft.ihfft", one, bind<along_axis<ihfft>>, anything, Float, 2, "Inverse of hfft.", reals},
    {"fft.fftn", several, bind<along_axes<fftn>>, floats, Same, 2, "fft along several axes.",
     "t(2,3,2)"},
    {"fft.ifftn", several, bind<along_axes<ifftn>>, floats, Same, 2, "Inverse of fftn.",
     "t(2,3,2)"},
    {"fft.rfftn", several, bind<along_axes<rfftn>>, anything, Float, 2, "rfft along several axes.",
     "t(2,3)"},
    {"fft.irfftn", several, bind<along_axes<irfftn>>, floats, Same, 2, "Inverse of rfftn.",
     "t(2,3,2)"},
    {"fft.fft2", plane, bind<along_axes<fftn>>, floats, Same, 2, "fft along two axes.", "t(2,3,2)"},
    {"fft.ifft2", plane, bind<along_axes<ifftn>>, floats, Same, 2, "ifft along two axes.",
     "t(2,3,2)"},
    {"fft.rfft2", plane, bind<along_axes<rfftn>>, anything, Float, 2, "rfft along two axes.",
     "t(2,3)"},
    {"fft.irfft2", plane, bind<along_axes<irfftn>>, floats, Same, 2, "irfft along two axes.",
     "t(2,3,2)"},
    {"stft",
     "input, n_fft, hop_length=none, win_length=none, window=none, center=true, "
     "pad_mode='reflect', normalized=false, onesided=true",
     bind<short_time>, floats, Same, 2, "rfft of overlapping parts.",
     "t(2,12), 4 | t(12), 6, 3, 4, t(4)@0.5..1, false, 'reflect', true, false"},
    {"istft",
     "input, n_fft, hop_length=none, win_length=none, window=none, center=true, normalized=false, "
     "onesided=true, length=none",
     bind<short_time_back>, floats, Same, 2, "Inverse of stft.",
     "t(3,5,2), 4 | t(6,4,2), 6, 3, 4, t(4)@0.5..1, true, true, false"},
    {"fft.fftshift", "input, dim=none", bind<fftshift>, anything, Same, 2,
     "Frequency 0 in the middle.", "t(2,5) | t(2,5), 1"},
    {"fft.ifftshift", "input, dim=none", bind<ifftshift>, anything, Same, 2, "Inverse of fftshift.",
     "t(2,5) | t(2,5), 1"},
    {"signal.windows.hann", "M, sym=true, dtype=none", bind<hann>, floats, Given, 0, "Hann window.",
     "7 | 6, false"},
    {"signal.windows.hamming", "M, sym=true, dtype=none", bind<hamming>, floats, Given, 0,
     "Hamming window.", "7 | 6, false"},
    {"signal.windows.blackman", "M, sym=true, dtype=none", bind<blackman>, floats, Given, 0,
     "Blackman window.", "7 | 6, false"},
    {"signal.windows.nuttall", "M, sym=true, dtype=none", bind<nuttall>, floats, Given, 0,
     "Nuttall window.", "7 | 6, false"},
    {"signal.windows.general_cosine", "M, a, sym=true, dtype=none", bind<cosines>, floats, Given, 0,
     "a[0] - a[1] cos(2 pi x) + ...", "7, [0.5, 0.3, 0.2] | 6, [0.5, 0.5], false"},
    {"signal.windows.general_hamming", "M, alpha=0.54, sym=true, dtype=none", bind<two_cosines>,
     floats, Given, 0, "alpha - (1 - alpha) cos(2 pi x).", "7 | 6, 0.4, false"},
    {"signal.windows.cosine", "M, sym=true, dtype=none", bind<cosine>, floats, Given, 0,
     "Half a wave of the sine.", "7 | 6, false"},
    {"signal.windows.gaussian", "M, std=1, sym=true, dtype=none", bind<gaussian>, floats, Given, 0,
     "Gaussian window.", "7 | 6, 0.4, false"},
    {"signal.windows.exponential", "M, tau=1, sym=true, dtype=none", bind<exponential>, floats,
     Given, 0, "exp(-d / tau), d from the middle.", "7 | 6, 0.4, false"},
    {"signal.windows.bartlett", "M, sym=true, dtype=none", bind<bartlett>, floats, Given, 0,
     "Bartlett window.", "7 | 6, false"},
    {"signal.windows.kaiser", "M, beta=12, sym=true, dtype=none", bind<kaiser>, floats, Given, 0,
     "Kaiser window.", "7 | 6, 8, false"},
};

}  // namespace

std::span<const OpEntry> fft_ops() { return ops; }

}  // namespace croze
