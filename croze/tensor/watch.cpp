// watch.cpp -- looking at indices and at values that are not finite.
//
// What is looked at is computed together with what was asked for, as more roots of the same graph,
// so that stores happen once and in their order.
//
// * Indices: of each Gather and Scatter that a user's call recorded, the least and the greatest
//   position along each axis, unless its bounds say already that it fits.
// * NaN: every node of a float dtype.  As each gets a buffer, each is a kernel of its own.  If a
//   root is not finite, the way back along operands that are not finite either leads to the one
//   that was made of finite numbers.  What is not finite on purpose (a constant, a number of the
//   user's in memory) ends no such way, and neither does an infinity that vanishes again.
#include "croze/tensor/watch.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "croze/base/flat_map.h"
#include "croze/base/options.h"
#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/run/execute.h"
#include "croze/run/notes/call_notes.h"
#include "croze/tensor/record.h"
#include "croze/tensor/storage.h"

namespace croze {
namespace {

thread_local bool out_of_range_on_purpose = false;

std::vector<std::byte> bytes_of(UOp buffer) {
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(buffer.elements() * size_of(buffer.dtype())));
  read_buffer(buffer, bytes);
  return bytes;
}

}  // namespace

bool is_watching() {
  return Options::flag(Option::CheckIndices) || Options::flag(Option::CheckNan);
}

void note_positions(UOp node, Negative negative) {
  if (is_watching() && !out_of_range_on_purpose) note_indices(node, negative);
}

void check_known_indices(const Call& call, const Tensor& index, std::int64_t low, std::int64_t high,
                         std::optional<std::int64_t> ignored) {
  GraphLock lock;
  const UOp buffer = storage_of(index.node());
  if (!buffer || !device(buffer.buffer_device()).host_address(buffer_memory(buffer).view)) return;
  const std::vector<std::byte> bytes = bytes_of(buffer);
  const DType dtype = buffer.dtype();
  const auto width = static_cast<std::size_t>(size_of(dtype));
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    const std::int64_t value = convert(load_bits(&bytes[at], dtype), dtype, DType::Int64);
    call.require((low <= value && value < high) || value == ignored,
                 "index {} at position {} is out of range: there are {}", value, at / width, high);
  }
}

OutOfRangeOnPurpose::OutOfRangeOnPurpose()
    : around_(std::exchange(out_of_range_on_purpose, true)) {}
OutOfRangeOnPurpose::~OutOfRangeOnPurpose() { out_of_range_on_purpose = around_; }

namespace {

// What a value holds beside finite numbers.
struct Flags {
  bool nan = false, infinite = false;
  bool any() const { return nan || infinite; }
};

struct Scan {
  Flags flags;
  std::int64_t first_nan = 0, first_infinite = 0;  // where there is one
};

double element(const std::byte* memory, DType dtype) {
  return std::bit_cast<double>(convert(load_bits(memory, dtype), dtype, DType::Float64));
}

Scan scan_buffer(UOp buffer) {
  const std::vector<std::byte> bytes = bytes_of(buffer);
  const auto width = static_cast<std::size_t>(size_of(buffer.dtype()));
  Scan scan;
  for (std::int64_t i = 0; i < buffer.elements(); i++) {
    const double value = element(&bytes[static_cast<std::size_t>(i) * width], buffer.dtype());
    if (std::isfinite(value)) continue;
    const bool is_nan = std::isnan(value);
    bool& known = is_nan ? scan.flags.nan : scan.flags.infinite;
    if (!known) (is_nan ? scan.first_nan : scan.first_infinite) = i;
    known = true;
  }
  return scan;
}

// The positions along one axis that a Gather or Scatter is given, and what became of them.
struct Positions {
  UOp node;  // the Gather or Scatter
  std::int64_t axis = 0, size = 0;
  Negative negative = Negative::Refused;
  std::size_t low = 0, high = 0;  // the roots that are the least and the greatest
};

// Each node that makes numbers, as opposed to moving them.
bool makes_floats(UOp u) {
  if (!is_float(u.dtype()) || u.elements() == 0 || is_movement(u.op())) return false;
  switch (u.op()) {
    case Op::Const:
    case Op::Buffer:
    case Op::Contiguous:
    case Op::ContiguousBackward:
    case Op::Detach:
    case Op::WithGradient:
    case Op::Copy:
    case Op::After: return false;
    default: return true;
  }
}

}  // namespace

struct Watch::State {
  explicit State(std::span<const UOp> roots);

  void look_at(std::span<const UOp> values);
  std::optional<Error> wrong() const;

  std::size_t add_root(UOp node);
  void add_positions(UOp node);
  std::optional<Error> wrong_index(const Positions& p) const;
  std::optional<Error> not_finite() const;
  Flags flags_of(UOp node) const;
  UOp origin(UOp from, bool Flags::*kind) const;
  Error error_of(UOp node, const std::string& message) const;

  std::size_t count_;       // of roots that were asked for
  std::vector<UOp> roots_;  // those, and what is looked at
  std::vector<UOp> order_;  // all nodes below, sources first
  std::vector<Positions> positions_;
  FlatMap<const Node*, std::size_t> places_;  // of roots that are looked at
  FlatMap<const Node*, Scan> scans_;          // of roots and of Buffers that are read
  FlatMap<const Node*, Flags> flags_;
  std::vector<std::int64_t> extremes_;  // by root
};

Watch::State::State(std::span<const UOp> roots)
    : count_(roots.size()), roots_(roots.begin(), roots.end()), order_(toposort(roots)) {
  const bool nan = Options::flag(Option::CheckNan), indices = Options::flag(Option::CheckIndices);
  for (std::size_t i = 0; i < count_; i++) places_.insert(roots_[i].node(), i);
  for (UOp u : order_) {
    if (nan && u.is(Op::Buffer) && is_float(u.dtype())) scans_.insert(u.node(), scan_buffer(u));
    if (nan && makes_floats(u)) add_root(u);
    if (indices && (u.is(Op::Gather) || u.is(Op::Scatter))) add_positions(u);
  }
}

std::size_t Watch::State::add_root(UOp node) {
  if (const std::size_t* place = places_.find(node.node())) return *place;
  places_.insert(node.node(), roots_.size());
  roots_.push_back(node);
  return roots_.size() - 1;
}

void Watch::State::add_positions(UOp node) {
  const std::optional<CallNote> note = find_note(node);
  if (!note || note->indices == Negative::Unknown) return;
  const UOp x = node.src(0);
  const int first = node.is(Op::Gather) ? 1 : 2;
  for (int axis = 0; axis < x.rank(); axis++) {
    UOp position = node.src(first + axis);
    const std::int64_t size = x.shape()[static_cast<std::size_t>(axis)];
    if (position.lo() >= 0 && position.hi() < size) continue;
    while (position.is(Op::Reshape) || position.is(Op::Expand)) position = position.src(0);
    Graph& graph = node.graph();
    const std::int64_t flat[] = {position.elements()}, all[] = {0};
    const UOp line = graph.movement(Op::Reshape, graph.cast(position, DType::Int64), flat);
    positions_.push_back({node, axis, size, note->indices,
                          add_root(graph.reduce_axes(Op::Min, line, all)),
                          add_root(graph.reduce_axes(Op::Max, line, all))});
  }
}

void Watch::State::look_at(std::span<const UOp> values) {
  extremes_.resize(values.size());
  for (const Positions& p : positions_) {
    for (std::size_t i : {p.low, p.high}) {
      std::memcpy(&extremes_[i], bytes_of(values[i]).data(), sizeof(std::int64_t));
    }
  }
  if (Options::flag(Option::CheckNan)) {
    for (UOp u : order_) {
      const std::size_t* place = places_.find(u.node());
      if (place && makes_floats(u)) scans_.insert(u.node(), scan_buffer(values[*place]));
      flags_.insert(u.node(), flags_of(u));
    }
  }
  for (UOp value : values.subspan(count_)) release_buffer(value.buffer_id());
}

// Of what moves or stores numbers: those of its operands.
Flags Watch::State::flags_of(UOp node) const {
  if (const Scan* scan = scans_.find(node.node())) return scan->flags;
  if (!is_float(node.dtype()) && node.dtype() != DType::Void) return {};
  if (node.is_const()) {
    const double value = node.const_double();
    return {std::isnan(value), std::isinf(value)};
  }
  Flags flags;
  for (UOp s : node.sources()) {
    if (const Flags* of = flags_.find(s.node())) {
      flags = {flags.nan || of->nan, flags.infinite || of->infinite};
    }
  }
  return flags;
}

std::optional<Error> Watch::State::wrong() const {
  for (const Positions& p : positions_) {
    if (auto error = wrong_index(p)) return error;
  }
  return flags_.empty() ? std::nullopt : not_finite();
}

std::optional<Error> Watch::State::wrong_index(const Positions& p) const {
  const bool from_the_end = p.negative == Negative::FromTheEnd;
  std::int64_t value = extremes_[p.low];
  if (value >= 0) value = extremes_[p.high];
  if (0 <= value && value < p.size) return {};
  if (value < 0 && from_the_end) value -= p.size;
  return error_of(p.node, fmt::format("index {} is out of range for axis {} of size {}", value,
                                      p.axis, p.size));
}

// Where the first operand on the way back has `kind` and none of its own operands does.
UOp Watch::State::origin(UOp from, bool Flags::*kind) const {
  for (;;) {
    UOp next;
    for (UOp s : from.sources()) {
      const Flags* flags = flags_.find(s.node());
      if (!next && flags && flags->*kind) next = s;
    }
    if (!next) return from;
    from = next;
  }
}

std::optional<Error> Watch::State::not_finite() const {
  for (std::size_t i = 0; i < count_; i++) {
    const Flags flags = *flags_.find(roots_[i].node());
    if (!flags.any()) continue;
    UOp node = origin(roots_[i], flags.nan ? &Flags::nan : &Flags::infinite);
    if (!makes_floats(node)) continue;
    // A NaN of infinities: what made those, unless they are there on purpose.
    if (const UOp earlier = origin(node, &Flags::infinite); makes_floats(earlier)) node = earlier;
    const Scan& scan = *scans_.find(node.node());
    std::string position;
    std::int64_t rest = scan.flags.nan ? scan.first_nan : scan.first_infinite;
    for (int axis = node.rank(); axis-- > 0;) {
      const std::int64_t size = node.shape()[static_cast<std::size_t>(axis)];
      position = fmt::format("{}{}{}", rest % size, position.empty() ? "" : ", ", position);
      rest /= size;
    }
    const std::size_t place = *places_.find(node.node());
    return error_of(
        node, fmt::format("{} made of finite numbers, first at ({}), by {} in kernel {}",
                          scan.flags.nan ? "NaN" : "an infinity", position, info(node.op()).name,
                          kernels_of(*prepare(roots_))[place]));
  }
  return {};
}

Error Watch::State::error_of(UOp node, const std::string& message) const {
  ErrorDetails details;
  details.shapes.push_back(to_text(Shape(node.shape())));
  details.dtypes.emplace_back(name_of(node.dtype()));
  if (const std::optional<CallNote> note = find_note_around(node, order_)) {
    details.op = note->function;
    details.where = note->where;
  }
  return Error(message, std::move(details));
}

Watch::Watch(std::span<const UOp> roots) : state_(std::make_unique<State>(roots)) {}
Watch::~Watch() = default;

std::span<const UOp> Watch::roots() const { return state_->roots_; }

std::optional<Error> Watch::found(std::span<const UOp> values) {
  state_->look_at(values);
  return state_->wrong();
}

}  // namespace croze
