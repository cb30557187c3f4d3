// elementwise.cpp -- which instruction an op is, as a table, and the ops that take several.
#include "croze/render/spirv/elementwise.h"

#include <algorithm>

#include "croze/base/error.h"
#include "croze/graph/eval.h"
#include "croze/render/c_family/expressions.h"
#include "croze/render/spirv/cast.h"

namespace croze::spirv {
namespace {

enum class Kind : std::uint8_t { Bool, Signed, Unsigned, Float };

struct Instruction {
  Code code = Code::ExtInst;
  Extended extended = Extended::None;

  constexpr Instruction(Code c) : code(c) {}
  constexpr Instruction(Extended e) : extended(e) {}
};

// An instruction for each kind of operands that the op takes.
struct Row {
  Op op;
  Kind kind;
  Instruction instruction;
  bool may_wrap = false;  // the result may leave a narrow type
};

// clang-format off
constexpr Row table[] = {
    {Op::Neg, Kind::Signed, Code::SNegate, true},
    {Op::Neg, Kind::Unsigned, Code::SNegate, true},
    {Op::Neg, Kind::Float, Code::FNegate},
    {Op::Not, Kind::Bool, Code::LogicalNot},
    {Op::Not, Kind::Signed, Code::Not},
    {Op::Not, Kind::Unsigned, Code::Not, true},
    {Op::Sqrt, Kind::Float, Extended::Sqrt},
    {Op::Reciprocal, Kind::Float, Code::FDiv},  // of one by it
    {Op::Trunc, Kind::Float, Extended::Trunc},

    {Op::Add, Kind::Bool, Code::LogicalOr},
    {Op::Add, Kind::Signed, Code::IAdd, true},
    {Op::Add, Kind::Unsigned, Code::IAdd, true},
    {Op::Add, Kind::Float, Code::FAdd},
    {Op::Mul, Kind::Bool, Code::LogicalAnd},
    {Op::Mul, Kind::Signed, Code::IMul, true},
    {Op::Mul, Kind::Unsigned, Code::IMul, true},
    {Op::Mul, Kind::Float, Code::FMul},
    {Op::Div, Kind::Float, Code::FDiv},
    {Op::CDiv, Kind::Signed, Code::SDiv},
    {Op::CDiv, Kind::Unsigned, Code::UDiv},
    {Op::CMod, Kind::Signed, Code::SRem},
    {Op::CMod, Kind::Unsigned, Code::UMod},
    {Op::Max, Kind::Bool, Code::LogicalOr},
    {Op::Max, Kind::Signed, Extended::SMax},
    {Op::Max, Kind::Unsigned, Extended::UMax},
    {Op::Max, Kind::Float, Code::FOrdGreaterThan},  // which of the two it is
    {Op::Min, Kind::Bool, Code::LogicalAnd},
    {Op::Min, Kind::Signed, Extended::SMin},
    {Op::Min, Kind::Unsigned, Extended::UMin},
    {Op::Min, Kind::Float, Code::FOrdLessThan},

    {Op::Lt, Kind::Signed, Code::SLessThan},
    {Op::Lt, Kind::Unsigned, Code::ULessThan},
    {Op::Lt, Kind::Float, Code::FOrdLessThan},
    {Op::Le, Kind::Signed, Code::SLessThanEqual},
    {Op::Le, Kind::Unsigned, Code::ULessThanEqual},
    {Op::Le, Kind::Float, Code::FOrdLessThanEqual},
    {Op::Eq, Kind::Bool, Code::LogicalEqual},
    {Op::Eq, Kind::Signed, Code::IEqual},
    {Op::Eq, Kind::Unsigned, Code::IEqual},
    {Op::Eq, Kind::Float, Code::FOrdEqual},
    {Op::Ne, Kind::Bool, Code::LogicalNotEqual},
    {Op::Ne, Kind::Signed, Code::INotEqual},
    {Op::Ne, Kind::Unsigned, Code::INotEqual},
    {Op::Ne, Kind::Float, Code::FUnordNotEqual},

    {Op::And, Kind::Bool, Code::LogicalAnd},
    {Op::And, Kind::Signed, Code::BitwiseAnd},
    {Op::And, Kind::Unsigned, Code::BitwiseAnd},
    {Op::Or, Kind::Bool, Code::LogicalOr},
    {Op::Or, Kind::Signed, Code::BitwiseOr},
    {Op::Or, Kind::Unsigned, Code::BitwiseOr},
    {Op::Xor, Kind::Bool, Code::LogicalNotEqual},
    {Op::Xor, Kind::Signed, Code::BitwiseXor},
    {Op::Xor, Kind::Unsigned, Code::BitwiseXor},
    {Op::Shl, Kind::Signed, Code::ShiftLeftLogical, true},
    {Op::Shl, Kind::Unsigned, Code::ShiftLeftLogical, true},
    {Op::Shr, Kind::Signed, Code::ShiftRightArithmetic},
    {Op::Shr, Kind::Unsigned, Code::ShiftRightLogical},
};
// clang-format on

// The dtype that the op works on: of its last value.
DType operand_type(UOp u) { return u.src(u.num_src() - 1).dtype(); }

Kind kind_of(DType t) {
  if (t == DType::Bool) return Kind::Bool;
  return is_float(t) ? Kind::Float : is_unsigned(t) ? Kind::Unsigned : Kind::Signed;
}

Id made(Module& m, const Instruction& instruction, Id type, Id a, Id b) {
  const bool is_extended = instruction.extended != Extended::None;
  if (b == 0) {
    return is_extended ? m.define(instruction.extended, type, {a})
                       : m.define(instruction.code, type, {a});
  }
  return is_extended ? m.define(instruction.extended, type, {a, b})
                     : m.define(instruction.code, type, {a, b});
}

// !a & b, !a | b
Id compare_bools(Module& m, Op op, Id a, Id b) {
  const Id not_a = m.define(Code::LogicalNot, m.type_bool(), {a});
  return m.define(op == Op::Lt ? Code::LogicalAnd : Code::LogicalOr, m.type_bool(), {not_a, b});
}

// NaN wins, and the positive zero is the greater one: where the two are equal they differ in the
// sign at most, which their bits tell.
Id extremum(Module& m, Op op, Code is_first, DType t, Id a, Id b) {
  const Id bools = m.type_bool(), type = m.type_of(t), words = m.type_int(8 * size_of(t));
  const Id first = m.define(is_first, bools, {a, b});
  const Id chosen = m.define(Code::Select, type, {first, a, b});
  const Id bits_a = m.define(Code::Bitcast, words, {a}),
           bits_b = m.define(Code::Bitcast, words, {b});
  const Code join = op == Op::Max ? Code::BitwiseAnd : Code::BitwiseOr;
  const Id both = m.define(Code::Bitcast, type, {m.define(join, words, {bits_a, bits_b})});
  const Id equal = m.define(Code::FOrdEqual, bools, {a, b});
  const Id number = m.define(Code::Select, type, {equal, both, chosen});
  const Id is_nan = m.define(Code::FUnordNotEqual, bools, {a, a});
  return m.define(Code::Select, type, {is_nan, a, number});
}

// Some drivers make 0 of what is between -1 and -0: with its sign.
Id trunc(Module& m, const Instruction& instruction, DType t, Id a) {
  const Id type = m.type_of(t), words = m.type_int(8 * size_of(t));
  const Id sign = m.constant(bits_of(-0.0, t), size_of(t) == 8 ? DType::UInt64 : DType::UInt32);
  const Id bits = m.define(Code::Bitcast, words, {made(m, instruction, type, a, 0)});
  const Id sign_of_a =
      m.define(Code::BitwiseAnd, words, {m.define(Code::Bitcast, words, {a}), sign});
  return m.define(Code::Bitcast, type, {m.define(Code::BitwiseOr, words, {bits, sign_of_a})});
}

bool is_rounded(Code code) {
  return code == Code::FAdd || code == Code::FMul || code == Code::FDiv || code == Code::FNegate;
}

Id of_floats(Module& m, UOp u, const Instruction& instruction, Id a, Id b) {
  const DType t = operand_type(u);
  if (u.is(Op::Max) || u.is(Op::Min)) return extremum(m, u.op(), instruction.code, t, a, b);
  if (u.is(Op::Trunc)) return trunc(m, instruction, t, a);
  if (u.is(Op::Reciprocal)) {
    b = a;
    a = m.constant(bits_of(1.0, t), t);
  }
  const Id result = made(m, instruction, m.type_of(u.dtype()), a, b);
  if (is_rounded(instruction.code)) m.decorate(result, Decoration::NoContraction);
  return result;
}

}  // namespace

Id elementwise(Module& m, UOp u, std::span<const Id> operands) {
  ensure(is_elementwise(u.op()) && u.num_src() >= 1 && u.num_src() <= 3,
         "linear program: {} cannot stand in it", info(u.op()).name);
  const Id a = operands[0], b = operands.size() > 1 ? operands[1] : 0;
  const DType t = operand_type(u);
  switch (u.op()) {
    case Op::Cast: return cast(m, a, t, u.dtype());
    case Op::Bitcast: return bitcast(m, a, t, u.dtype());
    case Op::Where: return m.define(Code::Select, m.type_of(u.dtype()), {a, b, operands[2]});
    case Op::Trunc:
      if (!is_float(t)) return a;
      break;
    case Op::Neg:
      if (t == DType::Bool) return a;
      break;
    case Op::Lt:
    case Op::Le:
      if (t == DType::Bool) return compare_bools(m, u.op(), a, b);
      break;
    default: break;
  }
  const auto row = std::ranges::find_if(
      table, [&](const Row& r) { return r.op == u.op() && r.kind == kind_of(t); });
  ensure(row != std::end(table), "the spirv renderer has no {} of {}", info(u.op()).name,
         name_of(t));
  if (is_float(t)) return of_floats(m, u, row->instruction, a, b);
  const Id result = made(m, row->instruction, m.type_of(u.dtype()), a, b);
  return row->may_wrap && !c_family::cannot_wrap(u) ? wrapped(m, result, u.dtype()) : result;
}

OpSet table_ops() {
  OpSet ops = set_of({Op::Cast, Op::Bitcast, Op::Where});
  for (const Row& row : table) ops |= set_of({row.op});
  return ops;
}

}  // namespace croze::spirv
