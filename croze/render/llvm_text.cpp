// llvm_text.cpp -- types, constants, and the elementwise ops in LLVM IR.
#include "croze/render/llvm_text.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/half.h"
#include "croze/render/llvm_avx512.h"
#include "croze/render/llvm_float_cast.h"

namespace croze {
namespace {

std::string_view scalar_text(DType t) {
  switch (t) {
    case DType::Bool: return "i1";
    case DType::Int8:
    case DType::UInt8: return "i8";
    case DType::Int16:
    case DType::UInt16: return "i16";
    case DType::Int32:
    case DType::UInt32: return "i32";
    case DType::Int64:
    case DType::UInt64: return "i64";
    case DType::Float16: return "half";
    case DType::Float32: return "float";
    case DType::Float64: return "double";
    default: fail_internal({"llvm", {}}, "dtype {} should have been lowered", name_of(t));
  }
}

std::string_view scalar_suffix(DType t) {
  switch (t) {
    case DType::Float16: return "f16";
    case DType::Float32: return "f32";
    case DType::Float64: return "f64";
    default: return scalar_text(t);
  }
}

std::string vector_text(std::string_view element, std::int64_t lanes) {
  if (lanes == 1) return std::string(element);
  return fmt::format("<{} x {}>", lanes, element);
}

// LLVM writes a float as the bits of the double of the same value; its NaN must be representable.
std::uint64_t float_bits(DType t, double value) {
  if (std::isnan(value)) return (std::signbit(value) ? 0xfffull : 0x7ffull) << 52 | 1ull << 51;
  return std::bit_cast<std::uint64_t>(t == DType::Float32 ? static_cast<float>(value) : value);
}

std::string scalar_constant(DType t, std::int64_t bits) {
  if (t == DType::Bool) return bits ? "true" : "false";
  if (!is_float(t)) {
    const int unused = 64 - 8 * static_cast<int>(size_of(t));
    return fmt::format(
        "{}", static_cast<std::int64_t>(static_cast<std::uint64_t>(bits) << unused) >> unused);
  }
  const double value = std::bit_cast<double>(bits);
  if (t == DType::Float16) return fmt::format("0xH{:04X}", f16_from(value));
  return fmt::format("0x{:016X}", float_bits(t, value));
}

}  // namespace

std::string LlvmType::text() const { return vector_text(scalar_text(dtype), lanes); }

std::string LlvmType::memory() const {
  return vector_text(dtype == DType::Bool ? "i8" : scalar_text(dtype), lanes);
}

std::string LlvmType::suffix() const {
  if (lanes == 1) return std::string(scalar_suffix(dtype));
  return fmt::format("v{}{}", lanes, scalar_suffix(dtype));
}

std::string llvm_constant(LlvmType type, std::int64_t bits) {
  const std::string scalar = scalar_constant(type.dtype, bits);
  if (type.lanes == 1) return scalar;
  return fmt::format("splat ({} {})", scalar_text(type.dtype), scalar);
}

LlvmValue llvm_zero(LlvmType type) { return {llvm_constant(type, 0), type}; }

std::string llvm_lanes(LlvmType type, function_ref<std::int64_t(std::int64_t)> number) {
  std::string result;
  for (std::int64_t k = 0; k < type.lanes; k++) {
    result += fmt::format("{}{} {}", k ? ", " : "<", type.scalar().text(),
                          llvm_constant(type.scalar(), number(k)));
  }
  return result + ">";
}

std::string llvm_steps(LlvmType type, std::int64_t start, std::int64_t step) {
  return llvm_lanes(type, [&](std::int64_t k) { return start + k * step; });
}

void LlvmText::label(std::string_view name) {
  pin_addresses();
  body_ += fmt::format("{}:\n", name);
  block_ = name;
  addresses_.clear();
  neighbours_.clear();
  loaded_.clear();
}

void LlvmText::insert(std::size_t at, std::string_view text) {
  body_.insert(at, text);
  for (auto& [what, address] : addresses_) {
    if (address.line >= at) address.line += text.size();
  }
}

std::string LlvmText::address(std::string_view element, std::string_view pointer,
                              std::string_view index) {
  const std::string what = fmt::format("{}, ptr {}, {}", element, pointer, index);
  Address& address = addresses_[what];
  if (address.name.empty()) {
    address = {.name = fresh(), .line = body_.size()};
    line("{} = getelementptr {}", address.name, what);
  }
  return address.name;
}

std::string LlvmText::behind(std::string_view element, const std::string& pointer,
                             std::int64_t offset, bool in_bounds) {
  neighbours_[pointer]++;
  const std::string name = fresh();
  line("{} = getelementptr {}{}, ptr {}, i64 {}", name, in_bounds ? "inbounds " : "", element,
       pointer, offset);
  return name;
}

// How many there are is known at the end of their block.  LLVM would take the sum apart again: the
// empty assembler text hides it.
void LlvmText::pin_addresses() {
  constexpr int least_neighbours = 6;
  if (!forms_.pins_addresses) return;
  std::map<std::size_t, std::string, std::greater<>> pinned;  // by line, the last one first
  for (const auto& [what, address] : addresses_) {
    const auto found = neighbours_.find(address.name);
    if (found != neighbours_.end() && found->second >= least_neighbours)
      pinned.emplace(address.line, address.name);
  }
  for (const auto& [at, name] : pinned) {
    body_.insert(body_.find('\n', at) + 1,
                 fmt::format("  {0} = call ptr asm \"\", \"=r,0\"(ptr {0}.sum)\n", name));
    body_.insert(body_.find(" =", at), ".sum");
  }
}

LlvmValue LlvmText::loaded(LlvmType type, std::string_view element, const std::string& pointer,
                           std::int64_t offset, std::int64_t alignment) {
  LlvmValue& value = loaded_[fmt::format("{}, {}, {} + {}", type.text(), element, pointer, offset)];
  if (!value.name.empty()) return value;
  const std::string from = offset == 0 ? pointer : behind(element, pointer, offset, true);
  value = define(type, "load {}, ptr {}, align {}", type.text(), from, alignment);
  return value;
}

// LLVM takes what it knows of a constant for a number to be spread over a register anew each time:
// it is not told.
LlvmValue LlvmText::loaded_number(LlvmType type, std::int64_t bits) {
  const std::string name =
      fmt::format("number.{}.{}", type.suffix(), scalar_constant(type.dtype, bits));
  if (numbers_.insert(name).second) {
    const std::int64_t bytes = type.lanes * static_cast<std::int64_t>(size_of(type.dtype));
    loads_of_numbers_ +=
        fmt::format("  %{0} = load {1}, ptr @{0}, align {2}\n", name, type.text(), bytes);
    declare(fmt::format("@{} = internal externally_initialized constant {} {}, align {}\n", name,
                        type.text(), llvm_constant(type, bits), bytes));
  }
  return {"%" + name, type};
}

std::string LlvmText::call(std::string_view result, std::string_view name,
                           std::span<const LlvmArgument> arguments) {
  std::string types, values;
  for (const LlvmArgument& a : arguments) {
    const std::string_view comma = types.empty() ? "" : ", ";
    types += fmt::format("{}{}", comma, a.type);
    values += fmt::format("{}{} {}", comma, a.type, a.name);
  }
  declarations_.insert(fmt::format("declare {} @llvm.{}({})\n", result, name, types));
  return fmt::format("call {} @llvm.{}({})", result, name, values);
}

std::string LlvmText::call_own(std::string_view result, std::string_view name,
                               std::span<const LlvmArgument> arguments, std::string definition) {
  std::string values;
  for (const LlvmArgument& a : arguments)
    values += fmt::format("{}{} {}", values.empty() ? "" : ", ", a.type, a.name);
  declarations_.insert(std::move(definition));
  return fmt::format("call {} @{}({})", result, name, values);
}

// ---- elementwise ------------------------------------------------------------------------------

namespace {

class Alu {
 public:
  Alu(LlvmText& text, LlvmType result) : text_(text), result_(result) {}

  LlvmValue emit(Op op, std::span<const LlvmValue> src, bool no_wrap);

 private:
  LlvmValue unary(Op op, const LlvmValue& x);
  LlvmValue binary(Op op, const LlvmValue& a, const LlvmValue& b, bool no_wrap);
  LlvmValue quotient(std::string_view code, const LlvmValue& a, const LlvmValue& b);
  LlvmValue lane_by_lane(std::string_view code, const LlvmValue& a, const LlvmValue& b);
  LlvmValue extremum(Op op, const LlvmValue& a, const LlvmValue& b);
  LlvmValue select(const LlvmValue& condition, const LlvmValue& a, const LlvmValue& b);
  LlvmValue multiply_add(std::span<const LlvmValue> src);
  LlvmValue intrinsic(std::string_view name, std::span<const LlvmValue> src);

  LlvmValue cast(LlvmValue x);
  LlvmValue cast_from_float(const LlvmValue& x);
  LlvmValue widened_half(const LlvmValue& x);
  LlvmValue cast_to_float(const LlvmValue& x);
  LlvmValue bitcast(const LlvmValue& x);
  LlvmValue convert(std::string_view opcode, const LlvmValue& x);
  LlvmValue convert_by_way_of(DType between, const LlvmValue& x);
  LlvmValue nonzero(const LlvmValue& x);

  LlvmText& text_;
  LlvmType result_;
};

// The instruction of a two-operand op by the kind of its operands.
struct Opcodes {
  std::string_view real, signed_integer, unsigned_integer, boolean;
};

// clang-format off
Opcodes opcodes(Op op) {
  switch (op) {
    case Op::Add:  return {"fadd", "add", "add", "or"};
    case Op::Mul:  return {"fmul", "mul", "mul", "and"};
    case Op::Div:  return {"fdiv", {}, {}, {}};
    case Op::CDiv: return {{}, "sdiv", "udiv", {}};
    case Op::CMod: return {{}, "srem", "urem", {}};
    case Op::And:  return {{}, "and", "and", "and"};
    case Op::Or:   return {{}, "or", "or", "or"};
    case Op::Xor:  return {{}, "xor", "xor", "xor"};
    case Op::Shl:  return {{}, "shl", "shl", {}};
    case Op::Shr:  return {{}, "ashr", "lshr", {}};
    case Op::Lt:   return {"fcmp olt", "icmp slt", "icmp ult", "icmp ult"};
    case Op::Le:   return {"fcmp ole", "icmp sle", "icmp ule", "icmp ule"};
    case Op::Eq:   return {"fcmp oeq", "icmp eq", "icmp eq", "icmp eq"};
    case Op::Ne:   return {"fcmp une", "icmp ne", "icmp ne", "icmp ne"};
    default:       return {};
  }
}
// clang-format on

std::string_view opcode(Op op, DType operand) {
  const Opcodes codes = opcodes(op);
  if (is_float(operand)) return codes.real;
  if (operand == DType::Bool) return codes.boolean;
  return is_unsigned(operand) ? codes.unsigned_integer : codes.signed_integer;
}

LlvmValue Alu::emit(Op op, std::span<const LlvmValue> src, bool no_wrap) {
  switch (op) {
    case Op::Cast: return cast(src[0]);
    case Op::Bitcast: return bitcast(src[0]);
    case Op::Max:
    case Op::Min: return extremum(op, src[0], src[1]);
    case Op::Where: return select(src[0], src[1], src[2]);
    case Op::MulAdd: return multiply_add(src);
    case Op::Scale: return llvm_scaled(text_, src[0], src[1]);
    default: return src.size() == 1 ? unary(op, src[0]) : binary(op, src[0], src[1], no_wrap);
  }
}

LlvmValue Alu::unary(Op op, const LlvmValue& x) {
  const bool real = is_float(result_.dtype);
  switch (op) {
    case Op::Neg:
      if (real) return text_.define(result_, "fneg {}", x.text());
      if (result_.dtype == DType::Bool) return x;
      return text_.define(result_, "sub {}, {}", llvm_zero(result_).text(), x.name);
    case Op::Not:
      return text_.define(result_, "xor {}, {}", x.text(),
                          llvm_constant(result_, result_.dtype == DType::Bool ? 1 : -1));
    case Op::Sqrt: return intrinsic("sqrt", {&x, 1});
    case Op::Trunc: return real ? intrinsic("trunc", {&x, 1}) : x;
    case Op::Reciprocal: {
      const auto one = std::bit_cast<std::int64_t>(1.0);
      return text_.define(result_, "fdiv {} {}, {}", result_.text(), llvm_constant(result_, one),
                          x.name);
    }
    default: fail_internal({"llvm", {}}, "{} should have been decomposed", info(op).name);
  }
}

LlvmValue Alu::binary(Op op, const LlvmValue& a, const LlvmValue& b, bool no_wrap) {
  const std::string_view code = opcode(op, a.type.dtype);
  if (code.empty()) {
    fail_internal({"llvm", {}}, "{} on {} should have been decomposed", info(op).name,
                  name_of(a.type.dtype));
  }
  if (op == Op::CDiv || op == Op::CMod)
    return result_.lanes > 1 ? lane_by_lane(code, a, b) : quotient(code, a, b);
  const bool flag = no_wrap && (op == Op::Add || op == Op::Mul) && is_integer(result_.dtype) &&
                    !is_unsigned(result_.dtype);
  return text_.define(result_, "{}{} {}, {}", code, flag ? " nsw" : "", a.text(), b.name);
}

// Or a remainder, of scalars.
LlvmValue Alu::quotient(std::string_view code, const LlvmValue& a, const LlvmValue& b) {
  const LlvmType type = result_.scalar();
  if (!text_.forms().calls_long_divisions || size_of(type.dtype) < 8)
    return text_.define(type, "{} {}, {}", code, a.text(), b.name);
  const std::string name = fmt::format("long.{}", code);
  const LlvmArgument both[] = {a, b};
  return text_.define(
      type, "{}",
      text_.call_own(type.text(), name, both,
                     fmt::format("define internal i64 @{}(i64 %a, i64 %b) noinline nounwind {{\n"
                                 "  %q = {} i64 %a, %b\n  ret i64 %q\n}}\n",
                                 name, code)));
}

// LLVM before 20 is wrong on quotients of vectors: if one lane of a constant k is 0 it takes
// x / select(c, k, y) for x / y in all lanes (llvm-project pull request 114280).  No CPU divides
// vectors of integers, so nothing is lost by quotients of scalars.
LlvmValue Alu::lane_by_lane(std::string_view code, const LlvmValue& a, const LlvmValue& b) {
  LlvmValue quotients{"poison", result_};
  for (std::int64_t k = 0; k < result_.lanes; k++) {
    const LlvmType scalar = result_.scalar();
    const LlvmValue x = text_.define(scalar, "extractelement {}, i64 {}", a.text(), k);
    const LlvmValue y = text_.define(scalar, "extractelement {}, i64 {}", b.text(), k);
    const LlvmValue q = quotient(code, x, y);
    quotients =
        text_.define(result_, "insertelement {}, {}, i64 {}", quotients.text(), q.text(), k);
  }
  return quotients;
}

LlvmValue Alu::extremum(Op op, const LlvmValue& a, const LlvmValue& b) {
  const bool greatest = op == Op::Max;
  if (result_.dtype == DType::Bool) return binary(greatest ? Op::Or : Op::And, a, b, false);
  if (is_float(result_.dtype)) return llvm_float_extremum(text_, op, a, b);
  const LlvmValue both[] = {a, b};
  if (is_unsigned(result_.dtype)) return intrinsic(greatest ? "umax" : "umin", both);
  return intrinsic(greatest ? "smax" : "smin", both);
}

LlvmValue Alu::select(const LlvmValue& condition, const LlvmValue& a, const LlvmValue& b) {
  return text_.define(result_, "select {}, {}, {}", condition.text(), a.text(), b.text());
}

LlvmValue Alu::multiply_add(std::span<const LlvmValue> src) {
  if (is_float(result_.dtype)) return intrinsic("fma", src);
  return binary(Op::Add, binary(Op::Mul, src[0], src[1], false), src[2], false);
}

LlvmValue Alu::intrinsic(std::string_view name, std::span<const LlvmValue> src) {
  const std::vector<LlvmArgument> arguments(src.begin(), src.end());
  const std::string full = fmt::format("{}.{}", name, result_.suffix());
  return text_.define(result_, "{}", text_.call(result_.text(), full, arguments));
}

// ---- casts ------------------------------------------------------------------------------------

LlvmValue Alu::cast(LlvmValue x) {
  const DType from = x.type.dtype, to = result_.dtype;
  if (from == to) return x;
  if (to == DType::Bool) return nonzero(x);
  if (is_float(from)) return cast_from_float(x);
  if (is_float(to)) return cast_to_float(x);
  if (from == DType::Bool || size_of(to) > size_of(from)) {
    return convert(is_unsigned(from) ? "zext" : "sext", x);
  }
  if (size_of(to) < size_of(from)) return convert("trunc", x);
  return {x.name, result_};  // signed and unsigned are one type
}

LlvmValue Alu::cast_from_float(const LlvmValue& x) {
  const DType from = x.type.dtype, to = result_.dtype;
  if (is_float(to) && size_of(to) < size_of(from)) return convert("fptrunc", x);
  if (is_float(to)) return from == DType::Float16 ? widened_half(x) : convert("fpext", x);
  if (from == DType::Float16) return convert_by_way_of(DType::Float32, x);
  return llvm_float_cast(text_, result_, x);
}

// What is written in float stays in float: without the fence LLVM narrows max(cast(x), cast(y)) to
// halfs, and then, on a machine without arithmetic on halfs, makes a long way of it that LLVM 19
// gets wrong on NaN.
LlvmValue Alu::widened_half(const LlvmValue& x) {
  const LlvmValue wide = convert("fpext", x);
  if (!text_.forms().fences_halfs) return wide;
  return intrinsic("arithmetic.fence", {&wide, 1});
}

// Float32 could round an integer that Float16 would round again; Float64 holds all that Float16
// does not send to infinity.
LlvmValue Alu::cast_to_float(const LlvmValue& x) {
  const DType from = x.type.dtype;
  if (result_.dtype == DType::Float16) {
    return convert_by_way_of(size_of(from) <= 2 ? DType::Float32 : DType::Float64, x);
  }
  return convert(is_unsigned(from) ? "uitofp" : "sitofp", x);
}

LlvmValue Alu::bitcast(const LlvmValue& x) {
  if (x.type.dtype == DType::Bool || result_.dtype == DType::Bool) return cast(x);
  if (x.type.text() == result_.text()) return {x.name, result_};
  return convert("bitcast", x);
}

LlvmValue Alu::convert(std::string_view opcode_text, const LlvmValue& x) {
  return text_.define(result_, "{} {} to {}", opcode_text, x.text(), result_.text());
}

LlvmValue Alu::convert_by_way_of(DType between, const LlvmValue& x) {
  return cast(Alu(text_, result_.with(between)).cast(x));
}

LlvmValue Alu::nonzero(const LlvmValue& x) {
  const char* code = is_float(x.type.dtype) ? "fcmp une" : "icmp ne";
  return text_.define(result_, "{} {}, {}", code, x.text(), llvm_zero(x.type).name);
}

}  // namespace

LlvmValue llvm_elementwise(LlvmText& text, Op op, LlvmType result, std::span<const LlvmValue> src,
                           bool no_wrap) {
  return Alu(text, result).emit(op, src, no_wrap);
}

namespace {

LlvmValue element(LlvmText& text, const LlvmValue& vector, std::int64_t lane) {
  return text.define(vector.type.scalar(), "extractelement {}, i64 {}", vector.text(), lane);
}

}  // namespace

LlvmValue llvm_part(LlvmText& text, const LlvmValue& vector, std::int64_t begin,
                    std::int64_t lanes) {
  if (lanes == 1) return element(text, vector, begin);
  const LlvmType type{vector.type.dtype, lanes};
  return text.define(type, "shufflevector {}, {} poison, <{} x i32> {}", vector.text(),
                     vector.type.text(), lanes, llvm_steps({DType::Int32, lanes}, begin, 1));
}

LlvmValue llvm_joined(LlvmText& text, std::span<const LlvmValue> parts) {
  std::vector<LlvmValue> all(parts.begin(), parts.end());
  while (all.size() > 1) {
    std::vector<LlvmValue> pairs;
    for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
      const LlvmType type{all[i].type.dtype, 2 * all[i].type.lanes};
      pairs.push_back(text.define(type, "shufflevector {}, {}, <{} x i32> {}", all[i].text(),
                                  all[i + 1].text(), type.lanes,
                                  llvm_steps({DType::Int32, type.lanes}, 0, 1)));
    }
    all = std::move(pairs);
  }
  return all[0];
}

LlvmValue llvm_any(LlvmText& text, const LlvmValue& mask) {
  const LlvmType one{DType::Bool, 1};
  const LlvmValue bits = text.define(one, "bitcast {} to i{}", mask.text(), mask.type.lanes);
  return text.define(one, "icmp ne i{} {}, 0", mask.type.lanes, bits.name);
}

LlvmValue llvm_reduce(LlvmText& text, Op op, const LlvmValue& vector) {
  LlvmValue result = vector;
  if (op == Op::Or && vector.type.dtype == DType::Bool) return llvm_any(text, vector);
  if (op == Op::Or) {
    const std::string name = fmt::format("vector.reduce.or.{}", vector.type.suffix());
    const LlvmArgument arguments[] = {vector};
    return text.define(vector.type.scalar(), "{}",
                       text.call(vector.type.scalar().text(), name, arguments));
  }
  if (std::has_single_bit(static_cast<std::uint64_t>(vector.type.lanes))) {
    while (result.type.lanes > 1) {
      const std::int64_t half = result.type.lanes / 2;
      const LlvmValue halves[] = {llvm_part(text, result, 0, half),
                                  llvm_part(text, result, half, half)};
      result = llvm_elementwise(text, op, halves[0].type, halves);
    }
    return result;
  }
  result = element(text, vector, 0);
  for (std::int64_t k = 1; k < vector.type.lanes; k++) {
    const LlvmValue pair[] = {result, element(text, vector, k)};
    result = llvm_elementwise(text, op, result.type, pair);
  }
  return result;
}

LlvmValue llvm_repeat(LlvmText& text, const LlvmValue& vector, std::int64_t times) {
  if (times == 1) return vector;
  const LlvmType type{vector.type.dtype, vector.type.lanes * times};
  const std::string mask = llvm_lanes({DType::Int32, type.lanes},
                                      [&](std::int64_t lane) { return lane % vector.type.lanes; });
  return text.define(type, "shufflevector {}, {} poison, <{} x i32> {}", vector.text(),
                     vector.type.text(), type.lanes, mask);
}

LlvmValue llvm_exchange(LlvmText& text, std::int64_t bit, const LlvmValue& x, const LlvmValue& y) {
  const std::int64_t lanes = x.type.lanes;
  std::string mask;
  for (std::int64_t lane = 0; lane < lanes; lane++) {
    const bool has_bit = (lane & std::abs(bit)) != 0;
    const std::int64_t moved = bit > 0 ? lane - bit : lane;  // of y, where the lane has the bit
    const std::int64_t kept = bit > 0 ? lane : lane - bit;   // of x
    mask += fmt::format("{}i32 {}", lane == 0 ? "" : ", ", has_bit ? lanes + moved : kept);
  }
  return text.define(x.type, "shufflevector {}, {}, <{} x i32> <{}>", x.text(), y.text(), lanes,
                     mask);
}

LlvmValue llvm_opaque(LlvmText& text, const LlvmValue& value) {
  const std::int64_t size = size_of(value.type.dtype);
  if (size != 4 && size != 8) return value;
  const LlvmType floats = value.type.with(size == 4 ? DType::Float32 : DType::Float64);
  const auto as = [&](const LlvmValue& v, LlvmType type) {
    if (v.type.dtype == type.dtype) return v;
    return text.define(type, "bitcast {} to {}", v.text(), type.text());
  };
  const LlvmArgument arguments[] = {as(value, floats)};
  const LlvmValue hidden = text.define(
      floats, "{}", text.call(floats.text(), "arithmetic.fence." + floats.suffix(), arguments));
  return as(hidden, value.type);
}

LlvmValue llvm_lookup(LlvmText& text, const LlvmValue& table, const LlvmValue& indices) {
  const LlvmType type = table.type;
  ensure(size_of(type.dtype) == 4 && (type.lanes == 16 || type.lanes == 8),
         "llvm: a lookup of {} lanes of {}", type.lanes, name_of(type.dtype));
  const bool is_float = type.dtype == DType::Float32;
  const std::string_view name =
      type.lanes == 16 ? (is_float ? "x86.avx512.permvar.sf.512" : "x86.avx512.permvar.si.512")
                       : (is_float ? "x86.avx2.permps" : "x86.avx2.permd");
  const LlvmArgument arguments[] = {table, indices};
  return text.define(type, "{}", text.call(type.text(), name, arguments));
}

}  // namespace croze
