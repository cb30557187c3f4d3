// llvm_float_cast.cpp -- integers of floats, by vectors where the processor's instruction does not
// saturate.
//
// LLVM has an intrinsic for what is meant, which is an instruction on some processors.  On x86,
// whose instruction gives one and the same integer for all that do not fit, LLVM 19 takes the lanes
// of a vector one by one, a dozen instructions for each.  Here floats are first brought into the
// range of the integers, and what is still wrong is chosen afterwards: all by vectors.
#include "croze/render/llvm_float_cast.h"

#include <bit>
#include <cmath>
#include <string_view>

#include "croze/graph/dtype.h"

namespace croze {
namespace {

constexpr int significant_bits(DType t) { return t == DType::Float32 ? 24 : 53; }

// Bits of the greatest integer.
int value_bits(DType t) { return 8 * static_cast<int>(size_of(t)) - (is_unsigned(t) ? 0 : 1); }

class FloatCast {
 public:
  FloatCast(LlvmText& text, LlvmType result, const LlvmValue& x)
      : text_(text), result_(result), x_(x), bits_(value_bits(result.dtype)) {}

  LlvmValue emit() {
    const bool is_signed = !is_unsigned(result_.dtype);
    // NaN, of which no comparison is true, becomes the least integer here.
    const LlvmValue above = bounded(x_, "ogt", is_signed ? -std::ldexp(1.0, bits_) : 0.0);
    const LlvmValue inside = bounded(above, "olt", greatest_float());
    LlvmValue number = text_.define(result_, "{} {} to {}", is_signed ? "fptosi" : "fptoui",
                                    inside.text(), result_.text());
    if (!holds_greatest()) number = with_greatest(number);
    return is_signed ? with_zero_for_nan(number) : number;
  }

 private:
  bool holds_greatest() const { return bits_ <= significant_bits(x_.type.dtype); }

  // That is no greater than the greatest integer.
  double greatest_float() const {
    const int lost = holds_greatest() ? 0 : bits_ - significant_bits(x_.type.dtype);
    return std::ldexp(1.0, bits_) - std::ldexp(1.0, lost);
  }

  LlvmValue number(double value) const {
    return {llvm_constant(x_.type, std::bit_cast<std::int64_t>(value)), x_.type};
  }

  LlvmValue compare(std::string_view how, const LlvmValue& a, const LlvmValue& b) {
    return text_.define(a.type.with(DType::Bool), "fcmp {} {}, {}", how, a.text(), b.name);
  }

  LlvmValue choose(const LlvmValue& condition, const LlvmValue& a, const LlvmValue& b) {
    return text_.define(a.type, "select {}, {}, {}", condition.text(), a.text(), b.text());
  }

  LlvmValue bounded(const LlvmValue& x, std::string_view how, double bound) {
    const LlvmValue limit = number(bound);
    return choose(compare(how, x, limit), x, limit);
  }

  LlvmValue with_greatest(const LlvmValue& number_below) {
    const std::int64_t all = is_unsigned(result_.dtype) ? -1 : max_value(result_.dtype);
    const LlvmValue greatest{llvm_constant(result_, all), result_};
    return choose(compare("oge", x_, number(std::ldexp(1.0, bits_))), greatest, number_below);
  }

  LlvmValue with_zero_for_nan(const LlvmValue& number) {
    return choose(compare("ord", x_, x_), number, llvm_zero(result_));
  }

  LlvmText& text_;
  LlvmType result_;
  LlvmValue x_;
  int bits_;
};

}  // namespace

LlvmValue llvm_float_cast(LlvmText& text, LlvmType result, const LlvmValue& x) {
  if (text.forms().bounds_casts && result.lanes > 1) return FloatCast(text, result, x).emit();
  const std::string name =
      fmt::format("{}.sat.{}.{}", is_unsigned(result.dtype) ? "fptoui" : "fptosi", result.suffix(),
                  x.type.suffix());
  const LlvmArgument argument(x);
  return text.define(result, "{}", text.call(result.text(), name, {&argument, 1}));
}

}  // namespace croze
