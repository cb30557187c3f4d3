// reference.cpp -- one plain loop per op of the tensor stage.
#include "fuzz/reference.h"

#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include "croze/graph/eval.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze::fuzz {
namespace {

using Bits = std::vector<std::int64_t>;
using Values = std::unordered_map<const Node*, HostTensor>;

std::int64_t product(const Dims& shape) {
  std::int64_t n = 1;
  for (std::int64_t size : shape) n *= size;
  return n;
}

// The position of the element at flat position `flat`.
Dims unravel(std::int64_t flat, const Dims& shape) {
  Dims position(shape.size(), 0);
  for (std::int64_t axis = shape.size() - 1; axis >= 0; axis--) {
    position[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return position;
}

// The flat position, or -1 if the position is outside.
std::int64_t ravel(const Dims& position, const Dims& shape) {
  std::int64_t flat = 0;
  for (std::int64_t axis = 0; axis < shape.size(); axis++) {
    if (position[axis] < 0 || position[axis] >= shape[axis]) return -1;
    flat = flat * shape[axis] + position[axis];
  }
  return flat;
}

// ---- movement ---------------------------------------------------------------------------------

// Where in the source the element at position `to` of the result comes from; outside: zero.
Dims source_position(Op op, std::span<const std::int64_t> arg, const Dims& from, const Dims& to) {
  Dims p = to;
  switch (op) {
    case Op::Expand:
      for (std::int64_t i = 0; i < p.size(); i++) p[i] = from[i] == 1 ? 0 : to[i];
      return p;
    case Op::Permute:
      for (std::int64_t i = 0; i < p.size(); i++) p[arg[i]] = to[i];
      return p;
    case Op::Flip:
      for (std::int64_t i = 0; i < p.size(); i++) p[i] = arg[i] ? from[i] - 1 - to[i] : to[i];
      return p;
    case Op::Pad:
      for (std::int64_t i = 0; i < p.size(); i++) p[i] = to[i] - arg[2 * i];
      return p;
    case Op::Shrink:
      for (std::int64_t i = 0; i < p.size(); i++) p[i] = to[i] + arg[2 * i];
      return p;
    case Op::Window:
      p.pop_back();
      p[arg[0]] = to[arg[0]] * arg[2] + to.back() * arg[3];
      return p;
    case Op::Unwindow: {
      const std::int64_t distance = to[arg[0]] - to.back() * arg[3];
      p[arg[0]] = distance % arg[2] == 0 ? distance / arg[2] : -1;
      return p;
    }
    default: throw std::logic_error("no movement");
  }
}

HostTensor moved(Op op, std::span<const std::int64_t> arg, const HostTensor& x,
                 std::span<const std::int64_t> shape) {
  HostTensor result{x.dtype, Dims(shape), {}};
  if (op == Op::Reshape) {
    result.bits = x.bits;
    return result;
  }
  for (std::int64_t i = 0; i < product(result.shape); i++) {
    const Dims from = source_position(op, arg, x.shape, unravel(i, result.shape));
    const std::int64_t flat = ravel(from, x.shape);
    result.bits.push_back(flat < 0 ? 0 : x.bits[static_cast<std::size_t>(flat)]);
  }
  return result;
}

// ---- elementwise and reductions ---------------------------------------------------------------

std::int64_t element(UOp u, std::span<const std::int64_t> operands) {
  const DType from = u.src(u.num_src() - 1).dtype();
  if (u.is(Op::Cast)) return convert(operands[0], from, u.dtype());
  if (u.is(Op::Bitcast)) {
    std::byte memory[8];
    store_bits(operands[0], from, memory);
    return load_bits(memory, u.dtype());
  }
  return eval(u.op(), u.dtype(), from, operands);
}

HostTensor elementwise(UOp u, const Values& values) {
  HostTensor result{u.dtype(), Dims(u.shape()), {}};
  std::vector<const HostTensor*> sources;
  for (UOp s : u.sources()) sources.push_back(&values.at(s.node()));
  Bits operands(sources.size());
  for (std::int64_t i = 0; i < product(result.shape); i++) {
    for (std::size_t k = 0; k < sources.size(); k++) {
      const bool is_number = sources[k]->shape.empty();
      operands[k] = sources[k]->bits[is_number ? 0 : static_cast<std::size_t>(i)];
    }
    result.bits.push_back(element(u, operands));
  }
  return result;
}

std::int64_t identity(Op op, DType t) {
  const bool least = op == Op::Max;
  if (op == Op::Add) return bits_of(std::int64_t{0}, t);
  if (op == Op::Mul) return bits_of(std::int64_t{1}, t);
  if (is_float(t)) return bits_of(least ? -INFINITY : INFINITY, t);
  return least ? min_value(t) : t == DType::UInt64 ? -1 : max_value(t);
}

HostTensor reduced(UOp u, const HostTensor& x) {
  const Op op = u.reduce_op();
  const DType wide = is_float(u.dtype()) ? DType::Float64 : u.dtype();
  HostTensor result{u.dtype(), Dims(u.shape()), {}};
  result.bits.assign(static_cast<std::size_t>(product(result.shape)), identity(op, wide));
  for (std::int64_t i = 0; i < x.size(); i++) {
    Dims to = unravel(i, x.shape);
    for (std::int64_t axis : u.arg().as_ints().subspan(1)) to[axis] = 0;
    std::int64_t& sum = result.bits[static_cast<std::size_t>(ravel(to, result.shape))];
    const std::int64_t operands[] = {sum,
                                     convert(x.bits[static_cast<std::size_t>(i)], x.dtype, wide)};
    sum = eval(op, wide, wide, operands);
  }
  for (std::int64_t& sum : result.bits) sum = convert(sum, wide, u.dtype());
  return result;
}

// ---- places -----------------------------------------------------------------------------------

// The flat position in `shape` that index sources `first`.. of u name for element i, or -1.
std::int64_t named_place(UOp u, int first, const Dims& shape, std::int64_t i,
                         const Values& values) {
  Dims position;
  for (int k = first; k < u.num_src(); k++) {
    const HostTensor& index = values.at(u.src(k).node());
    position.push_back(index.bits[index.shape.empty() ? 0 : static_cast<std::size_t>(i)]);
  }
  return ravel(position, shape);
}

HostTensor gathered(UOp u, const Values& values) {
  const HostTensor& x = values.at(u.src(0).node());
  HostTensor result{u.dtype(), Dims(u.shape()), {}};
  for (std::int64_t i = 0; i < product(result.shape); i++) {
    const std::int64_t flat = named_place(u, 1, x.shape, i, values);
    result.bits.push_back(flat < 0 ? 0 : x.bits[static_cast<std::size_t>(flat)]);
  }
  return result;
}

HostTensor scattered(UOp u, const Values& values) {
  HostTensor result = values.at(u.src(0).node());
  const HostTensor& value = values.at(u.src(1).node());
  for (std::int64_t i = 0; i < value.size(); i++) {
    const std::int64_t flat = named_place(u, 2, result.shape, i, values);
    if (flat < 0) continue;
    std::int64_t& place = result.bits[static_cast<std::size_t>(flat)];
    const std::int64_t operands[] = {place, value.bits[static_cast<std::size_t>(i)]};
    const bool overwrites = u.arg().value == 0;
    place = overwrites ? operands[1] : eval(u.reduce_op(), u.dtype(), u.dtype(), operands);
  }
  return result;
}

// After(x, Store(view of x, value), ..).
HostTensor stored(UOp u, const Values& values) {
  HostTensor result = values.at(u.src(0).node());
  for (int k = 1; k < u.num_src(); k++) {
    const UOp store = u.src(k);
    if (!store.is(Op::Store)) continue;
    std::vector<UOp> path;
    for (UOp v = store.src(0); v != u.src(0); v = v.src(0)) path.push_back(v);
    HostTensor place{DType::Int64, result.shape, {}};
    for (std::int64_t i = 0; i < result.size(); i++) place.bits.push_back(i);
    for (auto v = path.rbegin(); v != path.rend(); ++v) {
      place = moved(v->op(), v->arg().as_ints(), place, v->shape());
    }
    const HostTensor& value = values.at(store.src(1).node());
    for (std::size_t i = 0; i < place.bits.size(); i++) {
      result.bits[static_cast<std::size_t>(place.bits[i])] =
          value.bits[value.shape.empty() ? 0 : i];
    }
  }
  return result;
}

HostTensor iota(UOp u) {
  HostTensor result{u.dtype(), Dims(u.shape()), {}};
  for (std::int64_t i = 0; i < u.arg().value; i++) result.bits.push_back(i);
  return result;
}

HostTensor computed(UOp u, const Values& values) {
  if (u.is_const()) return {u.dtype(), {}, {u.arg().value}};
  if (is_elementwise(u.op())) return elementwise(u, values);
  if (is_movement(u.op())) {
    return moved(u.op(), u.arg().as_ints(), values.at(u.src(0).node()), u.shape());
  }
  switch (u.op()) {
    case Op::Iota: return iota(u);
    case Op::Reduce: return reduced(u, values.at(u.src(0).node()));
    case Op::Gather: return gathered(u, values);
    case Op::Scatter: return scattered(u, values);
    case Op::After: return stored(u, values);
    case Op::Contiguous:
    case Op::ContiguousBackward:
    case Op::Detach:
    case Op::Copy: return values.at(u.src(0).node());
    default: throw std::logic_error("no tensor op: " + std::string(info(u.op()).name));
  }
}

}  // namespace

std::vector<double> HostTensor::numbers() const {
  std::vector<double> result;
  for (std::int64_t b : bits) {
    result.push_back(is_float(dtype)          ? std::bit_cast<double>(b)
                     : dtype == DType::UInt64 ? static_cast<double>(static_cast<std::uint64_t>(b))
                                              : static_cast<double>(b));
  }
  return result;
}

std::vector<std::int64_t> HostTensor::integers() const {
  if (!is_float(dtype)) return bits;
  std::vector<std::int64_t> result;
  for (double v : numbers()) result.push_back(static_cast<std::int64_t>(v));
  return result;
}

void Reference::bind(UOp buffer, const std::vector<double>& numbers) {
  Bits bits;
  for (double v : numbers) bits.push_back(bits_of(v, buffer.dtype()));
  bind_bits(buffer, std::move(bits));
}

void Reference::bind_bits(UOp buffer, Bits bits) {
  if (static_cast<std::int64_t>(bits.size()) != buffer.elements()) {
    throw std::logic_error("wrong number of elements");
  }
  buffers_[buffer.buffer_id()] = std::move(bits);
}

std::vector<HostTensor> Reference::evaluate(std::span<const UOp> roots) const {
  Values values;
  for (UOp u : toposort(roots)) {
    if (u.is(Op::Store)) continue;
    if (u.is(Op::Buffer)) {
      const auto bound = buffers_.find(u.buffer_id());
      if (bound == buffers_.end() && !read) throw std::logic_error("a buffer without contents");
      values[u.node()] = {u.dtype(), Dims(u.shape()),
                          bound != buffers_.end() ? bound->second : read(u)};
    } else {
      values[u.node()] = computed(u, values);
    }
  }
  std::vector<HostTensor> results;
  for (UOp root : roots) results.push_back(values.at(root.node()));
  return results;
}

}  // namespace croze::fuzz
