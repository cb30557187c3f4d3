// fft.cpp -- rows of the op table: Fourier transforms and windows.
//
// Complex numbers are pairs along the last axis, where PyTorch has complex dtypes.
#include "tensor/fft.h"

#include "tensor/op_table/bind.h"
#include "tensor/op_table/families.h"

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
constexpr auto kaiser = [](std::int64_t size, double beta, bool sym, std::optional<DType> dtype) {
  return kaiser_window(size, !sym, beta, {.dtype = dtype});
};

constexpr std::string_view one = "input, n=none, dim=-1, norm=none";
constexpr std::string_view several = "input, s=none, dim=none, norm=none";
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
    {"signal.windows.bartlett", "M, sym=true, dtype=none", bind<bartlett>, floats, Given, 0,
     "Bartlett window.", "7 | 6, false"},
    {"signal.windows.kaiser", "M, beta=12, sym=true, dtype=none", bind<kaiser>, floats, Given, 0,
     "Kaiser window.", "7 | 6, 8, false"},
};

}  // namespace

std::span<const OpEntry> fft_ops() { return ops; }

}  // namespace croze
