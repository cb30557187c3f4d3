// op.cpp -- the table of operations.
#include "croze/graph/op.h"

#include <array>

namespace croze {
namespace {

constexpr std::uint16_t ew = trait_elementwise;
constexpr std::uint16_t comm = trait_elementwise | trait_commutative;
constexpr std::uint16_t assoc = comm | trait_associative;
constexpr std::uint16_t ints = trait_elementwise | trait_integer_only;
constexpr std::uint16_t real = trait_elementwise | trait_float_only;
constexpr std::uint16_t dear = real | trait_transcendental;
constexpr std::uint16_t open = trait_optional_source;

// clang-format off
constexpr std::array<OpInfo, num_ops> table = {{
    {Op::Const, "const", 0, ew},          {Op::Buffer, "buffer", 0, open},
    {Op::Param, "param", 0, open},        {Op::Variable, "variable", 0, 0},
    {Op::Invalid, "invalid", 0, ew},      {Op::Range, "range", 0, open},
    {Op::Iota, "iota", 0, open},

    {Op::Reshape, "reshape", 1, trait_movement},   {Op::Expand, "expand", 1, trait_movement},
    {Op::Permute, "permute", 1, trait_movement},   {Op::Flip, "flip", 1, trait_movement},
    {Op::Pad, "pad", 1, trait_movement},           {Op::Shrink, "shrink", 1, trait_movement},
    {Op::Window, "window", 1, trait_movement},     {Op::Unwindow, "unwindow", 1, trait_movement},

    {Op::Gather, "gather", -1, 0},        {Op::Scatter, "scatter", -1, 0},
    {Op::Contiguous, "contiguous", 1, 0}, {Op::ContiguousBackward, "contiguous_backward", 1, 0},
    {Op::Detach, "detach", 1, 0},         {Op::WithGradient, "with_gradient", -1, 0},
    {Op::Copy, "copy", 1, 0},

    {Op::Cast, "cast", 1, ew},            {Op::Bitcast, "bitcast", 1, ew},
    {Op::Neg, "neg", 1, ew},              {Op::Not, "not", 1, ints},
    {Op::Exp, "exp", 1, dear},            {Op::Exp2, "exp2", 1, dear},
    {Op::Log, "log", 1, dear},            {Op::Log2, "log2", 1, dear},
    {Op::Sin, "sin", 1, dear},            {Op::Cos, "cos", 1, dear},
    {Op::Sqrt, "sqrt", 1, real},          {Op::Reciprocal, "reciprocal", 1, real},
    {Op::Trunc, "trunc", 1, ew},

    {Op::Add, "add", 2, assoc},           {Op::Mul, "mul", 2, assoc},
    {Op::Div, "div", 2, real},            {Op::IDiv, "idiv", 2, ints},
    {Op::Mod, "mod", 2, ints},            {Op::CDiv, "cdiv", 2, ints},
    {Op::CMod, "cmod", 2, ints},          {Op::Max, "max", 2, assoc},
    {Op::Min, "min", 2, assoc},           {Op::Pow, "pow", 2, dear},
    {Op::Lt, "lt", 2, ew | trait_comparison},  {Op::Le, "le", 2, ew | trait_comparison},
    {Op::Eq, "eq", 2, comm | trait_comparison}, {Op::Ne, "ne", 2, comm | trait_comparison},
    {Op::And, "and", 2, assoc | trait_integer_only}, {Op::Or, "or", 2, assoc | trait_integer_only},
    {Op::Xor, "xor", 2, assoc | trait_integer_only}, {Op::Shl, "shl", 2, ints},
    {Op::Shr, "shr", 2, ints},            {Op::Threefry, "threefry", 2, ints},
    {Op::Where, "where", 3, ew},          {Op::MulAdd, "muladd", 3, ew},

    {Op::Reduce, "reduce", -1, 0},

    {Op::Index, "index", -1, 0},          {Op::Load, "load", 1, 0},
    {Op::Store, "store", -1, trait_effect}, {Op::After, "after", -1, 0},
    {Op::Sink, "sink", -1, trait_effect},

    {Op::Local, "local", 0, 0},           {Op::Register, "register", -1, 0},
    {Op::Loop, "loop", 1, trait_effect},  {Op::EndLoop, "end_loop", 1, trait_effect},
    {Op::Barrier, "barrier", 0, trait_effect}, {Op::Special, "special", 0, 0},

    {Op::TupleReduce, "tuple_reduce", -1, 0}, {Op::Part, "part", 1, 0},

    {Op::Exchange, "exchange", 2, 0}, {Op::Prefetch, "prefetch", 1, trait_effect},
    {Op::Lookup, "lookup", 2, 0},
    {Op::Contract, "contract", 6, 0}, {Op::Shuffle, "shuffle", 1, 0},
    {Op::LoadMatrix, "load_matrix", 2, 0}, {Op::AwaitProducts, "await_products", -1, trait_effect},
    {Op::Ballot, "ballot", 1, 0}, {Op::CopyBox, "copy_box", -1, trait_effect},
    {Op::Scale, "scale", 2, real},
}};
// clang-format on

constexpr bool in_enum_order() {
  for (int i = 0; i < num_ops; i++) {
    if (static_cast<int>(table[i].op) != i) return false;
  }
  return true;
}
static_assert(in_enum_order(), "the op table must list every op in the order of the enum");

}  // namespace

std::string_view infix(Op op) {
  switch (op) {
    case Op::Add: return "+";
    case Op::Mul: return "*";
    case Op::Div:
    case Op::IDiv: return "/";
    case Op::Mod: return "%";
    case Op::Lt: return "<";
    case Op::Le: return "<=";
    case Op::Eq: return "==";
    case Op::Ne: return "!=";
    case Op::And: return "&";
    case Op::Or: return "|";
    case Op::Xor: return "^";
    case Op::Shl: return "<<";
    case Op::Shr: return ">>";
    default: return "";
  }
}

std::string_view name_of(LoopKind kind) {
  constexpr std::string_view names[] = {"parallel", "reduce", "serial", "thread", "group",
                                        "item",     "lane",   "unroll", "loop",   "depth"};
  return names[static_cast<int>(kind)];
}

OpSet set_of(std::initializer_list<Op> ops) {
  OpSet set;
  for (Op op : ops) set.set(static_cast<std::size_t>(op));
  return set;
}

const OpInfo& info(Op op) { return table[static_cast<int>(op)]; }

}  // namespace croze
