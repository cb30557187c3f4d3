// host_evaluate.cpp -- one plain loop per op.
#include "croze/run/host_evaluate.h"

#include <cstddef>
#include <span>
#include <utility>

#include "croze/base/flat_map.h"
#include "croze/graph/eval.h"
#include "croze/run/buffers.h"

namespace croze {
namespace {

using Values = FlatMap<const Node*, HostArray>;

std::size_t product(std::span<const std::int64_t> shape) {
  std::int64_t n = 1;
  for (std::int64_t size : shape) n *= size;
  return static_cast<std::size_t>(n);
}

// Counts through the positions of a shape in row order.
void advance(Dims& position, std::span<const std::int64_t> shape) {
  for (std::int64_t axis = position.size() - 1; axis >= 0; axis--) {
    if (++position[axis] < shape[static_cast<std::size_t>(axis)]) return;
    position[axis] = 0;
  }
}

// The place of a position in row order; -1 if it is outside.
std::int64_t flat(const Dims& position, std::span<const std::int64_t> shape) {
  std::int64_t place = 0;
  for (std::int64_t axis = 0; axis < position.size(); axis++) {
    const std::int64_t size = shape[static_cast<std::size_t>(axis)];
    if (position[axis] < 0 || position[axis] >= size) return -1;
    place = place * size + position[axis];
  }
  return place;
}

std::int64_t element(const HostArray& x, std::size_t i) { return x.bits[x.shape.empty() ? 0 : i]; }

// Where in its source the element of a movement at `to` comes from.
Dims source_position(UOp u, std::span<const std::int64_t> from, const Dims& to) {
  const auto arg = [&](std::int64_t i) { return u.arg().as_ints()[static_cast<std::size_t>(i)]; };
  const auto size = [&](std::int64_t i) { return from[static_cast<std::size_t>(i)]; };
  Dims p = to;
  for (std::int64_t i = 0; i < to.size(); i++) {
    switch (u.op()) {
      case Op::Expand: p[i] = size(i) == 1 ? 0 : to[i]; break;
      case Op::Permute: p[arg(i)] = to[i]; break;
      case Op::Flip: p[i] = arg(i) ? size(i) - 1 - to[i] : to[i]; break;
      case Op::Pad: p[i] = to[i] - arg(2 * i); break;
      default: p[i] = to[i] + arg(2 * i); break;  // Shrink
    }
  }
  return p;
}

void move(UOp u, const HostArray& x, HostArray& result) {
  if (u.is(Op::Reshape)) {
    result.bits = x.bits;
    return;
  }
  Dims to(result.shape.size(), 0);
  for (std::int64_t& bits : result.bits) {
    const std::int64_t place = flat(source_position(u, x.shape, to), x.shape);
    bits = place < 0 ? 0 : x.bits[static_cast<std::size_t>(place)];
    advance(to, result.shape);
  }
}

void compute_elements(UOp u, const Values& values, HostArray& result) {
  const DType from = u.src(u.num_src() - 1).dtype();
  std::vector<std::int64_t> operands(static_cast<std::size_t>(u.num_src()));
  for (std::size_t i = 0; i < result.bits.size(); i++) {
    for (std::size_t k = 0; k < operands.size(); k++) {
      operands[k] = element(*values.find(u.src(static_cast<int>(k)).node()), i);
    }
    result.bits[i] = u.is(Op::Cast) ? convert(operands[0], from, u.dtype())
                                    : eval(u.op(), u.dtype(), from, operands);
  }
}

void reduce(UOp u, const HostArray& x, HostArray& result) {
  for (std::int64_t& bits : result.bits) bits = identity_of(u.reduce_op(), u.dtype());
  Dims from(x.shape.size(), 0);
  for (std::int64_t bits : x.bits) {
    Dims to = from;
    for (std::int64_t axis : u.arg().as_ints().subspan(1)) to[axis] = 0;
    std::int64_t& sum = result.bits[static_cast<std::size_t>(flat(to, result.shape))];
    const std::int64_t operands[] = {sum, bits};
    sum = eval(u.reduce_op(), u.dtype(), u.dtype(), operands);
    advance(from, x.shape);
  }
}

void gather(UOp u, const Values& values, HostArray& result) {
  const HostArray& x = *values.find(u.src(0).node());
  for (std::size_t i = 0; i < result.bits.size(); i++) {
    Dims position;
    for (int k = 1; k < u.num_src(); k++) {
      position.push_back(element(*values.find(u.src(k).node()), i));
    }
    const std::int64_t place = flat(position, x.shape);
    result.bits[i] = place < 0 ? 0 : x.bits[static_cast<std::size_t>(place)];
  }
}

void load(UOp buffer, HostArray& result) {
  const auto width = static_cast<std::size_t>(size_of(buffer.dtype()));
  std::vector<std::byte> memory(result.bits.size() * width);
  read_buffer(buffer, memory);
  for (std::size_t i = 0; i < result.bits.size(); i++) {
    result.bits[i] = load_bits(&memory[i * width], buffer.dtype());
  }
}

bool can_evaluate(UOp u) {
  switch (u.op()) {
    case Op::Buffer: return !is_stand_in(u.buffer_id());
    case Op::Const:
    case Op::Iota:
    case Op::Gather:
    case Op::Contiguous:
    case Op::Detach:
    case Op::Copy: return true;
    case Op::Reduce: return is_integral(u.dtype());
    case Op::Window:
    case Op::Unwindow: return false;
    default: return (is_elementwise(u.op()) && !u.is(Op::Bitcast)) || is_movement(u.op());
  }
}

HostArray compute(UOp u, const Values& values) {
  HostArray result{u.dtype(), Dims(u.shape()), {}};
  result.bits.resize(product(u.shape()));
  const auto source = [&]() -> const HostArray& { return *values.find(u.src(0).node()); };
  switch (u.op()) {
    case Op::Const: result.bits[0] = u.arg().value; break;
    case Op::Buffer: load(u, result); break;
    case Op::Iota:
      for (std::size_t i = 0; i < result.bits.size(); i++) {
        result.bits[i] = static_cast<std::int64_t>(i);
      }
      break;
    case Op::Gather: gather(u, values, result); break;
    case Op::Reduce: reduce(u, source(), result); break;
    case Op::Contiguous:
    case Op::Detach:
    case Op::Copy: result.bits = source().bits; break;
    default:
      if (is_movement(u.op())) {
        move(u, source(), result);
      } else {
        compute_elements(u, values, result);
      }
  }
  return result;
}

}  // namespace

std::optional<HostArray> evaluate_on_host(UOp root, std::int64_t max_elements,
                                          std::int64_t max_nodes) {
  Values values;
  std::vector<std::pair<UOp, int>> stack{{root, 0}};  // with the next source to visit
  std::int64_t visited = 0;
  while (!stack.empty()) {
    auto& [u, next] = stack.back();
    if (next == 0) {
      if (values.find(u.node())) {
        stack.pop_back();
        continue;
      }
      if (++visited > max_nodes || u.elements() > max_elements || !can_evaluate(u)) return {};
    }
    if (next < u.num_src()) {
      const UOp source = u.src(next++);
      stack.emplace_back(source, 0);
      continue;
    }
    HostArray value = compute(u, values);
    values[u.node()] = std::move(value);
    stack.pop_back();
  }
  return std::move(*values.find(root.node()));
}

}  // namespace croze
