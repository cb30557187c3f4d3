// expression.cpp -- values, graphs and source text of expressions.
#include "fuzz/expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/graph/eval.h"
#include "fuzz/spelling.h"

namespace croze::fuzz {
namespace {

constexpr std::int64_t most_points = 400;  // of a domain that is walked whole
constexpr int random_points = 48;

UOp leaf_node(const Step& s, int number, Graph& graph) {
  switch (s.op) {
    case Op::Variable: return graph.variable(number, s.lo, s.hi);
    case Op::Range: return graph.range(number, s.hi + 1, LoopKind::Parallel);
    case Op::Load: return graph.load(graph.place(graph.param(s.dtype, number, 1), graph.index(0)));
    default: return graph.constant_bits(s.dtype, s.lo);
  }
}

// Number of values that the free leaves can take together; 0: too many.
std::int64_t domain_of(const Expression& e) {
  std::int64_t size = 1;
  for (const Step& s : e.steps) {
    if (!s.is_free()) continue;
    if (s.op == Op::Load && size_of(s.dtype) > 1) return 0;
    const std::int64_t count = s.op != Op::Load         ? s.hi - s.lo + 1
                               : s.dtype == DType::Bool ? 2
                                                        : 256;
    if (count > most_points || (size *= count) > most_points) return 0;
  }
  return size;
}

std::int64_t least(const Step& s) {
  if (s.op != Op::Load) return s.lo;
  return s.dtype == DType::Bool ? 0 : min_value(s.dtype);
}
std::int64_t greatest(const Step& s) { return s.op == Op::Load ? max_value(s.dtype) : s.hi; }

std::int64_t random_value(const Step& s, Chance& chance) {
  if (s.op != Op::Load) {
    if (chance.percent(40)) return chance.percent(50) ? s.lo : s.hi;
    return chance.between(s.lo, s.hi);
  }
  const auto bits = static_cast<std::int64_t>(chance.bits());
  switch (chance.below(6)) {
    case 0: return least(s);
    case 1: return bits_of(max_value(s.dtype) - chance.below(2), s.dtype);
    case 2: return bits_of(chance.between(-3, 3), s.dtype);
    case 3: return bits_of(std::int64_t{1} << chance.below(63), s.dtype);
    case 4: return bits_of(chance.between(-100, 100), s.dtype);
    default: return bits_of(bits, s.dtype);
  }
}

}  // namespace

std::vector<UOp> build(const Expression& e, Graph& graph, bool as_written) {
  std::vector<UOp> nodes;
  for (const Step& s : e.steps) {
    const int number = static_cast<int>(nodes.size());
    std::vector<UOp> src;
    for (int i : s.src) src.push_back(nodes[static_cast<std::size_t>(i)]);
    if (s.is_leaf()) {
      nodes.push_back(leaf_node(s, number, graph));
    } else if (as_written) {
      nodes.push_back(graph.make(s.op, s.dtype, src));
    } else {
      nodes.push_back(s.op == Op::Cast ? graph.cast(src[0], s.dtype) : graph.alu(s.op, src));
    }
  }
  return nodes;
}

void evaluate(const Expression& e, std::span<std::int64_t> values) {
  for (std::size_t i = 0; i < e.steps.size(); i++) {
    const Step& s = e.steps[i];
    if (s.op == Op::Const) values[i] = s.lo;
    if (s.is_leaf()) continue;
    std::int64_t operands[3] = {};
    std::size_t count = 0;
    for (int k : s.src) operands[count++] = values[static_cast<std::size_t>(k)];
    values[i] = eval(s.op, s.dtype, e.at(s.src.back()).dtype, std::span(operands, count));
  }
}

std::vector<std::vector<std::int64_t>> points_of(const Expression& e, std::uint64_t seed) {
  Chance chance(seed);
  std::vector<std::vector<std::int64_t>> points;
  std::vector<std::int64_t> point(e.steps.size(), 0);
  if (domain_of(e) == 0) {
    for (int n = 0; n < random_points; n++) {
      for (std::size_t i = 0; i < point.size(); i++) {
        if (e.steps[i].is_free()) point[i] = random_value(e.steps[i], chance);
      }
      points.push_back(point);
    }
    return points;
  }
  for (std::size_t i = 0; i < point.size(); i++) {
    if (e.steps[i].is_free()) point[i] = least(e.steps[i]);
  }
  for (std::size_t i = 0; i < point.size();) {  // an odometer
    if (i == 0) points.push_back(point);
    if (!e.steps[i].is_free() || point[i] == greatest(e.steps[i])) {
      if (e.steps[i].is_free()) point[i] = least(e.steps[i]);
      i++;
    } else {
      point[i]++;
      i = 0;
    }
  }
  return points;
}

Expression pruned(const Expression& e) {
  std::vector<bool> needed(e.steps.size(), false);
  for (int i : {e.root, e.gate}) needed[static_cast<std::size_t>(i)] = true;
  for (std::size_t i = e.steps.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (int s : e.steps[i].src) needed[static_cast<std::size_t>(s)] = true;
  }
  Expression result;
  std::vector<int> number(e.steps.size(), -1);
  for (std::size_t i = 0; i < e.steps.size(); i++) {
    if (!needed[i]) continue;
    number[i] = static_cast<int>(result.steps.size());
    result.steps.push_back(e.steps[i]);
    for (int& s : result.steps.back().src) s = number[static_cast<std::size_t>(s)];
  }
  result.root = number[static_cast<std::size_t>(e.root)];
  result.gate = number[static_cast<std::size_t>(e.gate)];
  return result;
}

Expression redirected(Expression e, int i, int j) {
  for (Step& s : e.steps) std::ranges::replace(s.src, i, j);
  if (e.root == i) e.root = j;
  if (e.gate == i) e.gate = j;
  return e;
}

Expression with_constant(Expression e, int i, std::int64_t bits) {
  Step& step = e.steps[static_cast<std::size_t>(i)];
  step = {Op::Const, step.dtype, {}, bits, 0};
  return e;
}

std::string cpp_of(const Expression& e) {
  std::string text = "Graph g;\n";
  for (std::size_t i = 0; i < e.steps.size(); i++) {
    const Step& s = e.steps[i];
    text += fmt::format("const UOp v{} = ", i);
    std::string operands;
    for (int k : s.src) operands += fmt::format("{}v{}", operands.empty() ? "" : ", ", k);
    const std::string_view type = spelled(s.dtype);
    switch (s.op) {
      case Op::Variable: text += fmt::format("g.variable({}, {}, {})", i, s.lo, s.hi); break;
      case Op::Range:
        text += fmt::format("g.range({}, {}, LoopKind::Parallel)", i, s.hi + 1);
        break;
      case Op::Load:
        text += fmt::format("g.load(g.place(g.param(DType::{}, {}, 1), g.index(0)))", type, i);
        break;
      case Op::Const: text += fmt::format("g.constant_bits(DType::{}, {})", type, s.lo); break;
      case Op::Cast: text += fmt::format("g.cast({}, DType::{})", operands, type); break;
      default: text += fmt::format("g.alu(Op::{}, {{{}}})", spelled(s.op), operands);
    }
    text += ";\n";
  }
  return text + fmt::format("const UOp x = v{}, gate = v{};\n", e.root, e.gate);
}

}  // namespace croze::fuzz
