// convert.cpp -- conversions as the manual of PTX says ("cvt"), roundings included.
#include "croze/backends/ptx_interp/convert.h"

#include <bit>
#include <cmath>

#include "croze/backends/ptx_interp/item.h"
#include "croze/base/half.h"

namespace croze::ptx_interp {
namespace {

// An integer of any type; of U64 its two's complement.
std::int64_t read_integer(const Item& item, std::int32_t slot, Type t) {
  switch (t) {
    case Type::U8: return item.get<std::uint8_t>(slot);
    case Type::S8: return item.get<std::int8_t>(slot);
    case Type::U16: return item.get<std::uint16_t>(slot);
    case Type::S16: return item.get<std::int16_t>(slot);
    case Type::U32: return item.get<std::uint32_t>(slot);
    case Type::S32: return item.get<std::int32_t>(slot);
    default: return item.get<std::int64_t>(slot);
  }
}

// Of the type's width, and extended beyond it: a register may be wider.
void write_integer(Item& item, std::int32_t slot, Type t, std::int64_t value) {
  switch (t) {
    case Type::U8: value = static_cast<std::uint8_t>(value); break;
    case Type::S8: value = static_cast<std::int8_t>(value); break;
    case Type::U16: value = static_cast<std::uint16_t>(value); break;
    case Type::S16: value = static_cast<std::int16_t>(value); break;
    case Type::U32: value = static_cast<std::uint32_t>(value); break;
    case Type::S32: value = static_cast<std::int32_t>(value); break;
    default: break;
  }
  item.set(slot, value);
}

// All floats are doubles without loss.
double read_float(const Item& item, std::int32_t slot, Type t) {
  switch (t) {
    case Type::F16: return f16_to_float(item.get<std::uint16_t>(slot));
    case Type::BF16: return bf16_to_float(item.get<std::uint16_t>(slot));
    case Type::F32: return item.get<float>(slot);
    default: return item.get<double>(slot);
  }
}

float toward_zero(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || std::abs(static_cast<double>(nearest)) <= std::abs(value)) {
    return nearest;
  }
  return std::nextafter(nearest, 0.0f);
}

void write_float(Item& item, const Step& step, double value) {
  switch (step.type) {
    case Type::F16: return item.set(step.result, f16_from(value));
    case Type::BF16:
      return item.set(step.result,
                      static_cast<std::uint16_t>(encode_small_float(bf16_format, value)));
    case Type::F32:
      return item.set(step.result, step.rounding == Rounding::Zero ? toward_zero(value)
                                                                   : static_cast<float>(value));
    default: return item.set(step.result, value);
  }
}

// A magnitude as a Float32, cut off behind its 24 bits.
float cut_off(std::uint64_t magnitude) {
  const int extra = 40 - std::countl_zero(magnitude);
  if (magnitude == 0 || extra <= 0) return static_cast<float>(magnitude);
  return static_cast<float>(magnitude >> extra << extra);
}

template <typename T>
T to_float(std::int64_t value, bool is_unsigned, Rounding rounding) {
  const bool negative = value < 0 && !is_unsigned;
  const auto bits = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = negative ? ~bits + 1 : bits;
  const bool cuts = rounding == Rounding::Zero && sizeof(T) == sizeof(float);
  const T result = cuts ? static_cast<T>(cut_off(magnitude)) : static_cast<T>(magnitude);
  return negative ? -result : result;
}

// Toward zero, and what does not fit becomes the nearest that does.
std::int64_t saturated(double value, Type t) {
  const int width = static_cast<int>(8 * size_of(t));
  const double least = is_signed(t) ? -std::ldexp(1.0, width - 1) : 0;
  const double beyond = std::ldexp(1.0, is_signed(t) ? width - 1 : width);
  if (value <= least)
    return is_signed(t) ? -1 - static_cast<std::int64_t>((std::uint64_t{1} << (width - 1)) - 1) : 0;
  if (value >= beyond) {
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - width);
    return static_cast<std::int64_t>(is_signed(t) ? all >> 1 : all);
  }
  return is_signed(t) ? static_cast<std::int64_t>(value)
                      : static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
}

// NaN is 0 only where neither side has 64 bits.
std::int64_t of_nan(Type to, Type from) {
  if (from != Type::F64 && size_of(to) < 8) return 0;
  return static_cast<std::int64_t>(std::uint64_t{1} << (8 * size_of(to) - 1));
}

}  // namespace

bool is_conversion(Type to, Type from, Rounding rounding) {
  if (to < Type::U8 || from < Type::U8) return false;
  const bool is_half = to == Type::F16 || to == Type::BF16;
  if (!is_float(to) && !is_float(from)) return rounding == Rounding::None;
  if (!is_float(to)) return from >= Type::F32 && rounding == Rounding::IntegerToZero;
  if (!is_float(from)) {
    return !is_half && (rounding == Rounding::Nearest || rounding == Rounding::Zero);
  }
  if (from == to) return !is_half && rounding == Rounding::IntegerToZero;
  if (is_half) return from == Type::F32 && rounding == Rounding::Nearest;
  if (to == Type::F64) return from == Type::F32 && rounding == Rounding::None;
  if (from == Type::F64) return rounding == Rounding::Nearest || rounding == Rounding::Zero;
  // cvt.f32.bf16 is younger than the oldest target.
  return from == Type::F16 && rounding == Rounding::None;
}

void convert(Item& item, const Step& step) {
  const Type to = step.type, from = step.from;
  if (is_float(from)) {
    const double value = read_float(item, step.in[0], from);
    if (is_float(to)) return write_float(item, step, from == to ? std::trunc(value) : value);
    return write_integer(item, step.result, to,
                         std::isnan(value) ? of_nan(to, from) : saturated(value, to));
  }
  const std::int64_t value = read_integer(item, step.in[0], from);
  if (!is_float(to)) return write_integer(item, step.result, to, value);
  const bool is_large = from == Type::U64;
  if (to == Type::F32)
    return item.set(step.result, to_float<float>(value, is_large, step.rounding));
  item.set(step.result, to_float<double>(value, is_large, step.rounding));
}

}  // namespace croze::ptx_interp
