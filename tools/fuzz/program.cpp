// program.cpp -- values, error bounds and graphs of random programs.
//
// Error bounds are uniform per tensor and follow first-order rules; each rounding adds an ulp of
// the largest magnitude.  They are generous, because a wrong compiler is wrong by far more.
#include "fuzz/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "croze/graph/eval.h"

namespace croze::fuzz {
namespace {

// A rounding or a transcendental op of the type is wrong by less, relative to the result.
double relative_error(DType t) {
  switch (t) {
    case DType::Float64: return 0x1p-44;
    case DType::Float32: return 0x1p-20;
    case DType::Float16: return 0x1p-9;
    case DType::BFloat16: return 0x1p-6;
    default: return 0.25;
  }
}

// Sums and products of whole numbers below this are exact in any order.
double exact_limit(DType t) {
  switch (t) {
    case DType::Float64: return 0x1p40;
    case DType::Float32: return 0x1p22;
    case DType::Float16: return 0x1p10;
    case DType::BFloat16: return 0x1p7;
    default: return 8;
  }
}

// Of the finite elements.
struct Extent {
  double largest = 0;   // magnitude
  double smallest = 0;  // magnitude
  double least = 0;
  bool finite = true;  // all of them are
  bool whole = true;
};

Extent extent_of(const HostTensor& x) {
  Extent e;
  bool first = true;
  for (double v : x.numbers()) {
    if (!std::isfinite(v)) {
      e.finite = false;
      continue;
    }
    e.whole = e.whole && v == std::trunc(v);
    e.largest = std::max(e.largest, std::abs(v));
    e.smallest = first ? std::abs(v) : std::min(e.smallest, std::abs(v));
    e.least = first ? v : std::min(e.least, v);
    first = false;
  }
  return e;
}

bool is_small_whole(const Extent& e, DType t) {
  return !is_float(t) || (e.whole && e.largest <= exact_limit(t));
}

UOp broadcastable(Graph& graph, UOp flat, const Dims& shape) {
  return shape.size() == 1 ? flat : graph.movement(Op::Reshape, flat, shape);
}

UOp iota_node(Graph& graph, const Instruction& in) {
  Dims ones(in.shape.size(), 1);
  const std::int64_t axis = in.arg[0];
  ones[axis] = in.shape[axis];
  UOp node = broadcastable(graph, graph.iota(in.shape[axis]), ones);
  if (!std::equal(ones.begin(), ones.end(), in.shape.begin())) {
    node = graph.movement(Op::Expand, node, in.shape);
  }
  return graph.cast(node, in.dtype);
}

UOp assigned_node(Graph& graph, const Instruction& in, UOp state, UOp value) {
  UOp view = state;
  for (const auto& [op, arg] : in.path) view = graph.movement(op, view, arg);
  const UOp effects[] = {graph.store(view, value)};
  return graph.after(state, effects);
}

UOp node_of(Graph& graph, const Instruction& in, const std::vector<UOp>& src) {
  switch (in.op) {
    case Op::Const: return graph.constant_bits(in.dtype, in.arg[0]);
    case Op::Iota: return iota_node(graph, in);
    case Op::Cast: return graph.cast(src[0], in.dtype);
    case Op::Bitcast: return graph.bitcast(src[0], in.dtype);
    case Op::Reduce:
      return graph.reduce_axes(static_cast<Op>(in.arg[0]), src[0], std::span(in.arg).subspan(1));
    case Op::Scatter: return graph.make(Op::Scatter, in.dtype, src, Arg(in.arg[0]));
    case Op::After: return assigned_node(graph, in, src[0], src[1]);
    default: break;
  }
  if (is_movement(in.op)) return graph.movement(in.op, src[0], in.arg);
  if (is_elementwise(in.op)) return graph.alu(in.op, src);
  return graph.make(in.op, in.dtype, src);
}

// ---- values -----------------------------------------------------------------------------------

// The instruction alone in a graph, its sources as buffers.
HostTensor evaluate(const FuzzProgram& program, const Instruction& in) {
  Graph graph;
  Reference reference;
  std::vector<UOp> src;
  for (std::size_t k = 0; k < in.src.size(); k++) {
    const HostTensor& data = program.value(in.src[k]).data;
    if (data.shape.empty() && program.at(in.src[k]).op == Op::Const) {
      src.push_back(graph.constant_bits(data.dtype, data.bits[0]));
      continue;
    }
    const UOp buffer = graph.buffer(data.dtype, static_cast<std::int64_t>(k), data.size(), 0);
    reference.bind_bits(buffer, data.bits);
    src.push_back(broadcastable(graph, buffer, data.shape));
  }
  if (is_elementwise(in.op) && !src.empty()) {
    return reference.evaluate(graph.make(in.op, in.dtype, src));  // as it is: alu() may fold
  }
  return reference.evaluate(node_of(graph, in, src));
}

class ErrorBound {
 public:
  ErrorBound(const FuzzProgram& program, const Instruction& in, const HostTensor& result)
      : program_(program), in_(in), type_(in.dtype), result_(extent_of(result)) {}

  // The bound, or infinity if there is none to speak of.
  double operator()() const {
    double worst = 0;
    for (std::size_t k = 0; k < in_.src.size(); k++) worst = std::max(worst, error(k));
    if (is_exact()) return 0;
    if (is_comparison(in_.op) || !is_float(type_)) return worst == 0 ? 0 : INFINITY;
    if (is_movement(in_.op)) return worst;
    if (!is_elementwise(in_.op)) return structural(worst);
    if (!result_.finite) return INFINITY;
    const double rounding = relative_error(type_) * result_.largest;
    return propagated(worst) + rounding;
  }

 private:
  double error(std::size_t k) const { return program_.value(in_.src[k]).error; }
  Extent source(std::size_t k) const { return extent_of(program_.value(in_.src[k]).data); }
  double size(std::size_t k) const {
    return static_cast<double>(program_.value(in_.src[k]).data.size());
  }

  // Whole numbers in, whole numbers out, and nothing on the way that would round.
  bool is_exact() const {
    for (int s : in_.src) {
      if (!program_.value(s).integral) return false;
    }
    if (!is_small_whole(result_, type_)) return false;
    switch (in_.op) {
      case Op::Exp:
      case Op::Exp2:
      case Op::Log:
      case Op::Log2:
      case Op::Sin:
      case Op::Cos:
      case Op::Sqrt:
      case Op::Pow:
      case Op::Reciprocal:
      case Op::Div: return !is_float(type_);
      case Op::Reduce: return !is_float(type_) || partial_results() <= exact_limit(type_);
      case Op::Scatter:
        return !is_float(type_) ||
               source(0).largest + size(1) * source(1).largest <= exact_limit(type_);
      default: return true;
    }
  }

  double turns() const { return size(0) / std::max<double>(1, elements()); }
  double elements() const {
    double n = 1;
    for (std::int64_t size : in_.shape) n *= static_cast<double>(size);
    return n;
  }

  double partial_results() const {
    const double largest = source(0).largest;
    switch (static_cast<Op>(in_.arg[0])) {
      case Op::Add: return turns() * largest;
      case Op::Mul: return std::pow(std::max(1.0, largest), turns());
      default: return largest;
    }
  }

  double structural(double worst) const {
    if (!result_.finite && worst > 0) return INFINITY;
    if (in_.op == Op::Scatter && in_.arg[0] == static_cast<std::int64_t>(Op::Add)) {
      const double sum = source(0).largest + size(1) * source(1).largest;
      return error(0) + size(1) * error(1) + size(1) * relative_error(type_) * sum;
    }
    if (in_.op != Op::Reduce) return worst;
    // Half types accumulate in f32 and round once.
    const double step = relative_error(is_half(type_) ? DType::Float32 : type_);
    const double rounding = relative_error(type_) * result_.largest;
    switch (static_cast<Op>(in_.arg[0])) {
      case Op::Add:
        if (!result_.finite) return INFINITY;
        return turns() * (worst + step * partial_results()) + rounding;
      case Op::Mul:
        if (!result_.finite) return INFINITY;
        return turns() * partial_results() * (worst / std::max(1e-9, source(0).smallest) + step) +
               rounding;
      default: return worst;
    }
  }

  double propagated(double worst) const {
    const double x = in_.src.empty() ? 0 : source(0).largest;
    switch (in_.op) {
      case Op::Add: return error(0) + error(1);
      case Op::Mul: return error(0) * source(1).largest + error(1) * x + error(0) * error(1);
      case Op::Div: {
        const double d = source(1).smallest;
        return d <= 2 * error(1) || d < 0.01 ? INFINITY : error(0) / d + error(1) * x / (d * d) * 2;
      }
      case Op::Reciprocal: {
        const double d = source(0).smallest;
        return d <= 2 * worst || d < 0.01 ? INFINITY : 2 * worst / (d * d);
      }
      case Op::Exp:
      case Op::Exp2: return x > 10 ? INFINITY : 2 * worst * result_.largest;
      case Op::Log:
      case Op::Log2: {
        const double d = source(0).least;
        return d <= 2 * worst || d < 0.01 ? INFINITY : 3 * worst / d;
      }
      case Op::Sqrt: {
        const double d = source(0).least;
        return d <= 2 * worst || d < 0.01 ? (worst == 0 && d >= 0 ? 0 : INFINITY)
                                          : worst / std::sqrt(d);
      }
      case Op::Sin:
      case Op::Cos: return x > 100 ? INFINITY : worst + relative_error(type_);
      case Op::Trunc: return worst == 0 ? 0 : INFINITY;
      case Op::Pow: return INFINITY;
      case Op::Cast: return worst;
      default: return worst;  // Neg, Max, Min, Where
    }
  }

  const FuzzProgram& program_;
  const Instruction& in_;
  DType type_;
  Extent result_;
};

}  // namespace

bool FuzzProgram::append(Instruction in) {
  Value v;
  if (in.op == Op::Buffer) {
    v.data = {in.dtype, in.shape, in.bits};
  } else if (in.op == Op::Const) {
    v.data = {in.dtype, {}, {in.arg[0]}};
  } else {
    v.data = evaluate(*this, in);
    v.error = ErrorBound(*this, in, v.data)();
    const bool sums = in.op == Op::Reduce && static_cast<Op>(in.arg[0]) == Op::Add;
    v.signed_zeros =
        !sums && std::ranges::all_of(in.src, [&](int s) { return value(s).signed_zeros; });
  }
  const Extent e = extent_of(v.data);
  v.integral = is_small_whole(e, in.dtype) && v.error == 0;
  if (!std::isfinite(v.error) || v.error > 0.01 * std::max(1.0, e.largest)) return false;
  in.shape = v.data.shape;
  code.push_back(std::move(in));
  values.push_back(std::move(v));
  return true;
}

// ---- graphs -----------------------------------------------------------------------------------

std::vector<UOp> build(const FuzzProgram& program, Graph& graph,
                       const std::function<UOp(int)>& buffer) {
  std::vector<UOp> nodes;
  for (std::size_t i = 0; i < program.code.size(); i++) {
    const Instruction& in = program.code[i];
    if (in.op == Op::Buffer) {
      nodes.push_back(broadcastable(graph, buffer(static_cast<int>(i)), in.shape));
      continue;
    }
    std::vector<UOp> src;
    for (int s : in.src) src.push_back(nodes[static_cast<std::size_t>(s)]);
    nodes.push_back(node_of(graph, in, src));
  }
  return nodes;
}

std::vector<UOp> roots_of(const FuzzProgram& program, const std::vector<UOp>& nodes) {
  std::vector<UOp> roots;
  for (int i : program.roots) {
    const UOp node = nodes[static_cast<std::size_t>(i)];
    UOp base = node;
    while (is_movement(base.op())) base = base.src(0);
    const bool is_view = base.is(Op::Buffer) || (base.is(Op::After) && base != node);
    roots.push_back(is_view ? node.graph().make(Op::Contiguous, node.dtype(), {node}) : node);
  }
  return roots;
}

std::vector<std::byte> to_bytes(const HostTensor& tensor) {
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype));
  std::vector<std::byte> bytes(size * tensor.bits.size());
  for (std::size_t i = 0; i < tensor.bits.size(); i++) {
    store_bits(tensor.bits[i], tensor.dtype, &bytes[i * size]);
  }
  return bytes;
}

HostTensor from_bytes(std::span<const std::byte> bytes, DType dtype, const Dims& shape) {
  HostTensor result{dtype, shape, {}};
  const auto size = static_cast<std::size_t>(size_of(dtype));
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    result.bits.push_back(load_bits(&bytes[i], dtype));
  }
  return result;
}

std::string difference(const Value& expected, const HostTensor& got) {
  const HostTensor& want = expected.data;
  if (want.size() != got.size()) {
    return fmt::format("{} elements instead of {}", got.size(), want.size());
  }
  const std::vector<double> a = want.numbers(), b = got.numbers();
  for (std::size_t i = 0; i < a.size(); i++) {
    const bool same = want.bits[i] == got.bits[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    const bool zeros = !expected.signed_zeros && a[i] == 0 && b[i] == 0;
    const bool near = expected.error > 0 && std::abs(a[i] - b[i]) <= 2 * expected.error;
    if (!same && !zeros && !near) {
      return fmt::format("element {} of ({}): {} instead of {} (error bound {})", i,
                         fmt::join(want.shape, ", "), b[i], a[i], expected.error);
    }
  }
  return {};
}

}  // namespace croze::fuzz
