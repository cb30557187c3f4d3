// layouts_chosen.cpp -- types whose bits are no number but choose one: of 16, by nibbles, or of
// -1, 0 and 1.
#include <array>

#include "croze/io/gguf/layouts.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"

namespace croze::gguf {
namespace {

// Closer together near zero.
constexpr std::array<std::int8_t, 16> nonlinear = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                   1,    13,   25,  38,  53,  69,  89,  113};
// Twice the numbers of FP4 (E2M1).
constexpr std::array<std::int8_t, 16> doubled_fp4 = {0, 1,  2,  3,  4,  6,  8,  12,
                                                     0, -1, -2, -3, -4, -6, -8, -12};

// Half of 2^(e - 127), Float32: the exponent is written where a Float32 has it.
Tensor half_power(const Tensor& exponents) {
  const Tensor e = exponents.cast(DType::UInt32);
  const Tensor subnormal = Tensor::full({1}, 0x200000, DType::UInt32) << e;
  return where(e < 2, subnormal, (e - 1) << 23).bitcast(DType::Float32);
}

// Half of the numbers of UE4M3: four bits of exponent, three of fraction.  Without a sign or an
// infinity; NaN counts as 0.
Tensor half_ue4m3(const Tensor& bytes) {
  const Tensor exponent = (bytes >> 3) & 15, fraction = numbers(bytes & 7);
  const Tensor power = ((exponent.cast(DType::UInt32) + 120) << 23).bitcast(DType::Float32);
  const Tensor normal = (fraction / 8 + 1) * power;
  const Tensor value = where(exponent == 0, fraction * 0x1p-9, normal) * 0.5;
  return where(bytes == 127, 0.0, value);
}

// Three values a digit of base 3.  A byte is a fraction of 256, so the next digit is what times 3
// carries out of it.
Tensor digits(const Tensor& bytes, std::int64_t run, std::int64_t count) {
  constexpr std::array<std::uint8_t, 5> powers = {1, 3, 9, 27, 81};
  const std::int64_t blocks = bytes.size(0), runs = bytes.size(1) / run;
  const Tensor factors = Tensor::from_data(std::span(powers).first(static_cast<std::size_t>(count)),
                                           {count, 1}, {.device = bytes.device()});
  const Tensor shifted = bytes.reshape({blocks, runs, 1, run}) * factors;  // wraps
  const Tensor digit = (shifted.cast(DType::UInt16) * 3) >> 8;
  return digit.reshape({blocks, bytes.size(1) * count});
}

}  // namespace

Tensor iq4_nl(Fields block) {
  const Tensor d = block.half();
  return d * looked_up(nonlinear, unpacked(block.bytes(16), 4, 16));
}

Tensor iq4_xs(Fields block) {
  const Tensor d = block.half();
  const Tensor high = unpacked(block.bytes(2), 2, 1), low = unpacked(block.bytes(4), 4, 1);
  const Tensor scales = numbers(low | (high << 4)) - 32;
  return spread(d * scales, 256) * looked_up(nonlinear, unpacked(block.bytes(128), 4, 16));
}

Tensor mxfp4(Fields block) {
  const Tensor d = half_power(block.bytes(1));
  return d * looked_up(doubled_fp4, unpacked(block.bytes(16), 4, 16));
}

Tensor nvfp4(Fields block) {
  const Tensor d = half_ue4m3(block.bytes(4));
  return spread(d, 64) * looked_up(doubled_fp4, unpacked(block.bytes(32), 4, 8));
}

Tensor tq1_0(Fields block) {
  const Tensor first = digits(block.bytes(32), 32, 5), second = digits(block.bytes(16), 16, 5);
  const Tensor last = digits(block.bytes(4), 4, 4);
  const Tensor d = block.half();
  return d * (numbers(cat({first, second, last}, 1)) - 1);
}

Tensor tq2_0(Fields block) {
  const Tensor q = unpacked(block.bytes(64), 2, 32);
  const Tensor d = block.half();
  return d * (numbers(q) - 1);
}

}  // namespace croze::gguf
