// draft.cpp -- making programs on Tensors step by step.
//
// Each step is evaluated in float64 as soon as it is drawn, from the values of its operands: one
// that overflows, that is mostly too large for the dtypes at hand, or that would take too long is
// dropped.  So programs stay among numbers that can be compared.
#include "fuzz/graphs/draft.h"

#include <algorithm>
#include <cmath>

#include "croze/base/error.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/schedule.h"
#include "fuzz/graphs/check.h"
#include "fuzz/graphs/steps.h"
#include "fuzz/program.h"

namespace croze::fuzz {
namespace {

using Kind = Wanted::Kind;
using Result = GraphStepKind::Result;

// Elements of all nodes of a program: what takes an interpreter a second or less.
constexpr std::int64_t small_work = 600'000, large_work = 10'000'000;
constexpr std::int64_t small_elements = 2'500, large_elements = 400'000;
constexpr std::size_t most_nodes = 2'500;  // of one step
constexpr double largest_number = 2000, largest_half = 200;
// Of whole numbers: float arithmetic on them is exact up to there, partial sums in float32.
constexpr double exact_sum = 0x1p22;

double exact_limit(DType t) {
  switch (t) {
    case DType::Float16: return 0x1p10;
    case DType::BFloat16: return 0x1p7;
    default: return exact_sum;
  }
}

const GraphStepKind& row(int kind) { return graph_steps()[static_cast<std::size_t>(kind)]; }

}  // namespace

GraphDraft::GraphDraft(std::uint64_t seed) : chance(seed) {
  const bool is_large = chance.percent(6);
  is_special_ = chance.percent(6);
  is_mixed_ = chance.percent(25);
  work_left_ = is_large ? large_work : small_work;
  most_elements_ = is_large ? large_elements : small_elements;
  const int dtypes = static_cast<int>(chance.below(100));
  main_dtype_ = dtypes < 70   ? DType::Float32
                : dtypes < 80 ? DType::Float64
                : dtypes < 92 ? DType::Float16
                              : DType::BFloat16;
  const std::int64_t small[] = {1, 2, 3, 4, 5, 6, 7, 8, 9},
                     wide[] = {12, 13, 16, 17, 31, 32, 48, 65};
  const std::int64_t huge[] = {64, 100, 127, 128, 200, 256, 300, 511, 1000};
  for (int i = 0; i < 4; i++) {
    sizes_.push_back(chance.percent(3)                ? 0
                     : is_large && chance.percent(60) ? chance.one_of(huge)
                     : chance.percent(25)             ? chance.one_of(wide)
                                                      : chance.one_of(small));
  }
}

// ---- choices ----------------------------------------------------------------------------------

std::int64_t GraphDraft::size(int i, std::int64_t axis) const {
  return shape(i)[axis < 0 ? axis + rank(i) : axis];
}

bool GraphDraft::fits(int i, const Wanted& wanted) const {
  const Made& m = made(i);
  if (is_wanting_exact_ && !m.is_exact) return false;
  if (rank(i) < wanted.least_rank || rank(i) > wanted.most_rank) return false;
  if (wanted.least_size > 0 && (rank(i) == 0 || size(i, -1) < wanted.least_size)) return false;
  switch (wanted.kind) {
    case Kind::Any: return true;
    case Kind::Float: return is_float(m.dtype);
    case Kind::Integer: return !is_float(m.dtype) && m.dtype != DType::Bool;
    case Kind::Number: return m.dtype != DType::Bool;
    case Kind::Bool: return m.dtype == DType::Bool;
  }
  return false;
}

std::optional<int> GraphDraft::pick(const Wanted& wanted) {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(made_.size()); i++) {
    if (fits(i, wanted)) found.push_back(i);
  }
  if (found.empty()) return {};
  const std::int64_t n = std::ssize(found);
  return found[static_cast<std::size_t>(std::max(chance.below(n), chance.below(n)))];
}

std::vector<std::int64_t> GraphDraft::axes_of(int i) {
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < rank(i); axis++) {
    if (chance.percent(40)) axes.push_back(axis);
  }
  return axes;
}

int GraphDraft::real(const Shape& shape, DType dtype) {
  if (chance.percent(40)) {
    for (int i = 0; i < static_cast<int>(made_.size()); i++) {
      const int kind = program_.steps[static_cast<std::size_t>(i)].kind;
      if ((kind == real_step) && made(i).shape == shape && made(i).dtype == dtype) return i;
    }
  }
  std::vector<std::int64_t> arg{static_cast<std::int64_t>(dtype), seed()};
  arg.insert(arg.end(), shape.begin(), shape.end());
  const bool is_special = is_special_ && chance.percent(40);
  return append_leaf(is_special ? special_step : real_step, std::move(arg));
}

int GraphDraft::whole(const Shape& shape, DType dtype, std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> arg{static_cast<std::int64_t>(dtype), low, high, seed()};
  arg.insert(arg.end(), shape.begin(), shape.end());
  return append_leaf(whole_step, std::move(arg));
}

int GraphDraft::append_leaf(int kind, std::vector<std::int64_t> arg) {
  check(append(kind, {{}, std::move(arg)}), "no room for a tensor");
  return static_cast<int>(made_.size()) - 1;
}

bool GraphDraft::is_broadcast(const Shape& from, const Shape& to) const {
  if (from.size() > to.size()) return false;
  for (int i = 1; i <= from.size(); i++) {
    const std::int64_t a = from[from.size() - i], b = to[to.size() - i];
    if (a != b && a != 1) return false;
  }
  return true;
}

Shape GraphDraft::narrowed(const Shape& shape) {
  Shape result;
  bool has_begun = chance.percent(60);
  for (std::int64_t size : shape) {
    has_begun = has_begun || chance.percent(50);
    if (has_begun) result.push_back(chance.percent(30) ? 1 : size);
  }
  return result;
}

int GraphDraft::partner(int i) {
  std::vector<int> found;
  for (int k = 0; k < static_cast<int>(made_.size()); k++) {
    const bool alike = is_float(made(k).dtype) == is_float(dtype(i)) &&
                       (made(k).dtype == DType::Bool) == (dtype(i) == DType::Bool);
    const bool taken = !is_wanting_exact_ || made(k).is_exact;
    if (alike && taken && (is_broadcast(shape(k), shape(i)) || is_broadcast(shape(i), shape(k))))
      found.push_back(k);
  }
  if (!found.empty() && chance.percent(75)) return chance.one_of(found);
  const Shape shape = narrowed(this->shape(i));
  if (dtype(i) == DType::Bool) return whole(shape, DType::Bool, 0, 1);
  if (!is_float(dtype(i))) return whole(shape, dtype(i), 0, 6);
  return made(i).is_exact ? whole(shape, dtype(i), -4, 4) : real(shape, dtype(i));
}

Shape GraphDraft::any_shape(int rank) {
  Shape shape;
  for (int i = 0; i < rank; i++) shape.push_back(chance.percent(8) ? 1 : chance.one_of(sizes_));
  while (shape.numel() > most_elements_) {
    for (int i = 0; i < rank; i++) {
      if (chance.percent(50)) shape[i] = std::min<std::int64_t>(shape[i], chance.between(1, 9));
    }
  }
  return shape;
}

DType GraphDraft::any_float() {
  constexpr DType floats[] = {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16};
  return is_mixed_ && chance.percent(30) ? chance.one_of(floats) : main_dtype_;
}

int GraphDraft::float_of_rank(int rank, std::int64_t least_size) {
  const auto found = pick({.least_rank = rank, .most_rank = rank, .least_size = least_size});
  if (found && chance.percent(80)) return *found;
  // One without elements may be of billions once its axes have some.
  Shape shape;
  do {
    shape = any_shape(rank);
    for (int i = 0; i < rank; i++) {
      if (i > 1 || i == rank - 1) shape[i] = std::max(shape[i], least_size);
    }
  } while (shape.numel() > most_elements_);
  return real(shape, any_float());
}

std::optional<int> GraphDraft::reader_of(int x) {
  std::vector<int> found;
  for (int i = x + 1; i < static_cast<int>(made_.size()); i++) {
    if (is_float(made(i).dtype) && made(i).leaves[static_cast<std::size_t>(x)]) found.push_back(i);
  }
  if (found.empty()) return {};
  const std::int64_t n = std::ssize(found);
  return found[static_cast<std::size_t>(std::max(chance.below(n), chance.below(n)))];
}

std::optional<int> GraphDraft::of_shape(const Shape& shape, Kind kind) {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(made_.size()); i++) {
    if (made(i).shape == shape && fits(i, {.kind = kind})) found.push_back(i);
  }
  if (found.empty()) return {};
  return chance.one_of(found);
}

std::optional<int> GraphDraft::leaf() {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(made_.size()); i++) {
    const int kind = program_.steps[static_cast<std::size_t>(i)].kind;
    if (kind == real_step && made(i).shape.numel() > 0) found.push_back(i);
  }
  if (found.empty()) return {};
  return chance.one_of(found);
}

// ---- judging ----------------------------------------------------------------------------------

namespace {

std::vector<Tensor> padded(std::vector<Tensor> operands) {
  operands.resize(4);
  return operands;
}

Tensor called(int kind, GraphTrial& in, const std::vector<Tensor>& t,
              std::span<const std::int64_t> arg) {
  return row(kind).call({in, t[0], t[1], t[2], t[3], arg});
}

bool is_whole(const HostTensor& x) {
  return std::ranges::all_of(x.numbers(), [](double v) { return v == std::trunc(v); });
}

double largest_of(const HostTensor& x) {
  double largest = 0;
  for (double v : x.numbers()) {
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  }
  return largest;
}

bool is_finite(const HostTensor& x) {
  return !is_float(x.dtype) ||
         std::ranges::all_of(x.numbers(), [](double v) { return std::isfinite(v); });
}

}  // namespace

// Of operands that are exact.
bool GraphDraft::is_exact(int kind, const std::vector<int>& src, const Made& result) const {
  for (int s : src) {
    if (!made(s).is_exact) return false;
  }
  switch (row(kind).result) {
    case Result::Selects:
    case Result::Jumps: break;
    case Result::Adds: {
      double products = 1, count = 1;
      for (int s : src) {
        products *= std::max(1., made(s).largest);
        count = std::max(count, static_cast<double>(made(s).shape.numel()));
      }
      if (is_float(result.dtype) && products * count > exact_sum) return false;
      break;
    }
    default: return false;
  }
  return !is_float(result.dtype) ||
         (is_whole(result.value) && result.largest <= exact_limit(result.dtype));
}

// The value in float64, from those of the operands.  False: it takes too long.
bool GraphDraft::evaluate(int kind, const DrawnStep& drawn, Made& made) {
  GraphTrial wide = GraphTrial::wide({});
  Tensor result;
  if (row(kind).result == Result::Looks) {
    GraphProgram whole = program_;
    whole.steps.push_back({kind, drawn.src, drawn.arg, true});
    whole.roots = {static_cast<int>(whole.steps.size()) - 1};
    const std::vector<Tensor> roots = function_of(whole)(wide);
    if (roots.empty()) return false;
    result = roots[0];
  } else {
    std::vector<Tensor> operands;
    for (int s : drawn.src) {
      const HostTensor& value = this->made(s).value;
      operands.push_back(Tensor::from_bytes(to_bytes(value), value.dtype, Shape(value.shape),
                                            {.device = "INTERP"}));
    }
    result = called(kind, wide, padded(std::move(operands)), drawn.arg);
  }
  const UOp root = result.contiguous().node();
  const CanonicalGraph graph = canonical_graph(std::span(&root, 1));
  const std::vector<UOp> nodes = toposort(graph.roots);
  std::int64_t work = 0;
  for (UOp u : nodes) {
    if (!u.is(Op::Store)) work += u.elements();
    if (work > work_left_ && !drawn.src.empty()) return false;
  }
  if (nodes.size() > most_nodes) return false;
  made.value = evaluate_graph(graph)[0];
  work_left_ -= work;
  return true;
}

bool GraphDraft::judge(int kind, const DrawnStep& drawn, Made& made) {
  if (made.shape.numel() > most_elements_ || !evaluate(kind, drawn, made)) return false;
  made.largest = largest_of(made.value);
  if (!is_special_ && !is_finite(made.value)) return false;
  if (is_float(made.dtype) && made.largest > (is_half(made.dtype) ? largest_half : largest_number))
    return false;
  made.is_exact = is_exact(kind, drawn.src, made);
  made.leaves.resize(made_.size());
  for (int s : drawn.src) {
    made.leaves[static_cast<std::size_t>(s)] = true;
    for (std::size_t i = 0; i < this->made(s).leaves.size(); i++) {
      if (this->made(s).leaves[i]) made.leaves[i] = true;
    }
  }
  return true;
}

bool GraphDraft::append(int kind, DrawnStep drawn) {
  Made made;
  Tensor tensor;
  try {
    std::vector<Tensor> operands;
    for (int s : drawn.src) operands.push_back(tensors_[static_cast<std::size_t>(s)]);
    GraphTrial in("INTERP");
    tensor = called(kind, in, padded(std::move(operands)), drawn.arg);
    made.shape = tensor.shape();
    made.dtype = tensor.dtype();
    if (row(kind).result != Result::Assigns && !judge(kind, drawn, made)) return false;
  } catch (const Error&) {
    return false;
  }
  for (int s : drawn.src) made_[static_cast<std::size_t>(s)].is_used = true;
  const Result result = row(kind).result;
  const bool selects = result == Result::Selects || result == Result::Jumps;
  const bool is_rounded = !drawn.src.empty() && !made.is_exact && !selects;
  program_.steps.push_back({kind, std::move(drawn.src), std::move(drawn.arg), is_rounded});
  made_.push_back(std::move(made));
  tensors_.push_back(std::move(tensor));
  return true;
}

// What nothing uses, and now and then what something does.
GraphProgram GraphDraft::finished() {
  std::vector<int> roots;
  for (int i = 0; i < static_cast<int>(made_.size()); i++) {
    const GraphStep& step = program_.steps[static_cast<std::size_t>(i)];
    if (step.src.empty()) continue;
    const bool assigns = row(step.kind).result == Result::Assigns;
    if (assigns || chance.percent(made(i).is_used ? 12 : 85)) roots.push_back(i);
  }
  if (roots.empty() && !made_.empty()) roots.push_back(static_cast<int>(made_.size()) - 1);
  program_.roots = std::move(roots);
  return program_;
}

}  // namespace croze::fuzz
