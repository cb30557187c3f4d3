// paste.cpp -- random programs as C++.
#include "fuzz/paste.h"

#include <fmt/format.h>

#include <cmath>

#include "fuzz/spelling.h"

namespace croze::fuzz {
namespace {

std::string number(double v, DType t) {
  if (std::isnan(v)) return "NAN";
  if (std::isinf(v)) return v < 0 ? "-INFINITY" : "INFINITY";
  return t == DType::Float32 ? fmt::format("{}", static_cast<float>(v)) : fmt::format("{}", v);
}

std::string buffer_text(const Instruction& in, const Value& value) {
  std::string numbers;
  for (double v : value.data.numbers())
    numbers += (numbers.empty() ? "" : ", ") + number(v, in.dtype);
  return fmt::format("s.buffer({{{}}}, {{{}}}, DType::{})", numbers, fmt::join(in.shape, ", "),
                     spelled(in.dtype));
}

std::string iota_text(const Instruction& in) {
  Dims ones(in.shape.size(), 1);
  ones[in.arg[0]] = in.shape[in.arg[0]];
  return fmt::format("g.cast(s.expand(s.reshape(g.iota({}), {{{}}}), {{{}}}), DType::{})",
                     ones[in.arg[0]], fmt::join(ones, ", "), fmt::join(in.shape, ", "),
                     spelled(in.dtype));
}

std::string moved_text(Op op, const std::string& x, const std::vector<std::int64_t>& arg) {
  return fmt::format("s.move(Op::{}, {}, {{{}}})", spelled(op), x, fmt::join(arg, ", "));
}

std::string assigned_text(const Instruction& in) {
  const std::string state = fmt::format("v{}", in.src[0]);
  std::string view = state;
  for (const auto& [op, arg] : in.path) view = moved_text(op, view, arg);
  return fmt::format("s.assign({}, {}, v{})", state, view, in.src[1]);
}

std::string instruction_text(const Instruction& in, const Value& value) {
  std::string src;
  for (int s : in.src) src += fmt::format("{}v{}", src.empty() ? "" : ", ", s);
  const std::string_view op = spelled(in.op), type = spelled(in.dtype);
  switch (in.op) {
    case Op::Buffer: return buffer_text(in, value);
    case Op::Const: return fmt::format("g.constant_bits(DType::{}, {})", type, in.arg[0]);
    case Op::Iota: return iota_text(in);
    case Op::Cast: return fmt::format("g.cast({}, DType::{})", src, type);
    case Op::Bitcast: return fmt::format("g.bitcast({}, DType::{})", src, type);
    case Op::After: return assigned_text(in);
    case Op::Reduce:
      return fmt::format("s.reduce(Op::{}, {}, {{{}}})", spelled(static_cast<Op>(in.arg[0])), src,
                         fmt::join(in.arg.begin() + 1, in.arg.end(), ", "));
    case Op::Scatter:
      return fmt::format("g.make(Op::Scatter, DType::{}, {{{}}}, Arg(std::int64_t{{{}}}))", type,
                         src, in.arg[0]);
    default: break;
  }
  if (is_movement(in.op)) return moved_text(in.op, src, in.arg);
  if (is_elementwise(in.op)) return fmt::format("g.alu(Op::{}, {{{}}})", op, src);
  return fmt::format("g.make(Op::{}, DType::{}, {{{}}})", op, type, src);
}

}  // namespace

std::string cpp_of(const FuzzProgram& program) {
  std::vector<bool> needed(program.code.size(), false);
  for (int root : program.roots) needed[static_cast<std::size_t>(root)] = true;
  for (std::size_t i = program.code.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (int s : program.code[i].src) needed[static_cast<std::size_t>(s)] = true;
  }
  std::string text = "Scheduled s;\nGraph& g = s.graph;\n", roots;
  for (std::size_t i = 0; i < program.code.size(); i++) {
    if (!needed[i]) continue;
    text += fmt::format("const UOp v{} = {};\n", i,
                        instruction_text(program.code[i], program.values[i]));
  }
  for (int root : program.roots) roots += fmt::format("{}v{}", roots.empty() ? "" : ", ", root);
  return text + fmt::format("s.expect_right({{{}}});\n", roots);
}

}  // namespace croze::fuzz
