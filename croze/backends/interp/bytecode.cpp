// bytecode.cpp -- from the instruction list to steps and slots.
#include "croze/backends/interp/bytecode.h"

#include <algorithm>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/program.h"

namespace croze::interp {
namespace {

class Decoder {
 public:
  explicit Decoder(std::span<const UOp> instructions) {
    for (UOp u : instructions) {
      if (is_lane(u)) lanes_.push_back(u);
    }
    for (UOp u : instructions) decode(u);
    ensure(loops_.empty(), "linear program: a loop is not closed");
  }

  Code take() { return std::move(code_); }

 private:
  void decode(UOp u) {
    switch (u.op()) {
      case Op::Const: code_.frame[slot(u)] = u.arg().value; return;
      case Op::Param: return add_memory(u, MemoryInfo::Kind::Param);
      case Op::Local: return add_local(u);
      case Op::Variable: return add_input(u, u.arg().ints[0], LoopKind::Loop);
      case Op::Special: return add_input(u, u.arg().ints[0], u.loop_kind());
      case Op::Register: slot(u); return;
      case Op::Range: return range(u);
      case Op::Loop: return loop(u.src(0));
      case Op::EndLoop: return end_loop(u.src(0));
      case Op::Load: return load(u);
      case Op::Store: return store(u);
      case Op::Reduce: return reduce(u);
      case Op::Exchange: return of_two_vectors(u, Step::Kind::Exchange, u.arg().value);
      case Op::Lookup: return of_two_vectors(u, Step::Kind::Lookup, 0);
      case Op::Contract: return contract(u);
      case Op::Shuffle: return of_warp(u, Step::Kind::Shuffle);
      case Op::Ballot: return of_warp(u, Step::Kind::Ballot);
      case Op::LoadMatrix: return load_matrix(u);
      case Op::CopyBox: return copy_box(u);
      case Op::AwaitProducts: return;  // products are there at once
      case Op::Barrier: code_.steps.push_back({.kind = Step::Kind::Barrier}); return;
      default: return elementwise(u);
    }
  }

  // ---- values ----

  std::int32_t lanes(UOp u) const {
    for (UOp lane : lanes_) {
      if (u.varies_over(lane)) return static_cast<std::int32_t>(lane.range_size());
    }
    return 1;
  }

  // The first slot of the node, made if it has none.
  std::int32_t slot(UOp u) {
    if (const std::int32_t* known = slots_.find(u.node())) return *known;
    const auto first = static_cast<std::int32_t>(code_.frame.size());
    code_.frame.resize(code_.frame.size() + static_cast<std::size_t>(lanes(u)), 0);
    slots_.insert(u.node(), first);
    return first;
  }

  Operand operand(UOp u) {
    while (u.is(Op::After)) u = u.src(0);
    const std::int32_t* known = slots_.find(u.node());
    ensure(known != nullptr, "linear program: {} is used before it stands in the list",
           info(u.op()).name);
    return {.slot = *known, .stride = lanes(u) == 1 ? 0 : 1};
  }

  void elementwise(UOp u) {
    ensure(is_elementwise(u.op()) && u.num_src() >= 1 && u.num_src() <= 3,
           "linear program: {} cannot stand in it", info(u.op()).name);
    Step step{.kind = Step::Kind::Elementwise, .op = u.op(), .dtype = u.dtype(), .lanes = lanes(u)};
    step.operand = u.src(u.num_src() - 1).dtype();
    step.operands = static_cast<std::uint8_t>(u.num_src());
    for (int i = 0; i < u.num_src(); i++) step.in[i] = operand(u.src(i));
    step.result = slot(u);
    code_.steps.push_back(step);
  }

  void reduce(UOp u) {
    const UOp value = u.src(0);
    Step step{.kind = Step::Kind::Reduce, .op = u.reduce_op(), .dtype = u.dtype()};
    ensure(info(step.op).arity == 2, "linear program: reduction by {}", info(step.op).name);
    step.operand = value.dtype();
    step.lanes = static_cast<std::int32_t>(u.src(1).range_size());
    step.in[0] = operand(value);
    step.result = slot(u);
    code_.steps.push_back(step);
  }

  void of_two_vectors(UOp u, Step::Kind kind, std::int64_t size) {
    Step step{.kind = kind, .lanes = lanes(u), .size = size};
    for (int i = 0; i < 2; i++) step.in[i] = operand(u.src(i));
    step.result = slot(u);
    code_.steps.push_back(step);
  }

  void of_warp(UOp u, Step::Kind kind) {
    Step step{.kind = kind, .dtype = u.dtype(), .lanes = lanes(u), .size = u.arg().value};
    step.in[0] = operand(u.src(0));
    step.result = slot(u);
    code_.steps.push_back(step);
  }

  void contract(UOp u) {
    const MatrixUnit* unit = find_matrix_unit(u.arg().as_text());
    ensure(unit != nullptr, "linear program: there is no unit {}", u.arg().as_text());
    Step step{.kind = Step::Kind::Contract,
              .dtype = u.src(1).dtype(),
              .operand = u.src(2).dtype(),
              .lanes = static_cast<std::int32_t>(u.src(3).range_size()),
              .size = unit - matrix_units().data()};
    for (int i = 0; i < 3; i++) step.in[i] = operand(u.src(i));
    step.result = slot(u);
    code_.steps.push_back(step);
  }

  void add_input(UOp u, std::int64_t id, LoopKind kind) {
    code_.inputs.push_back({.slot = slot(u), .op = u.op(), .id = id, .kind = kind});
  }

  // ---- memory ----

  void add_memory(UOp u, MemoryInfo::Kind kind) {
    if (memories_.find(u.node())) return;
    memories_.insert(u.node(), static_cast<std::int32_t>(code_.memories.size()));
    code_.memories.push_back({.kind = kind, .dtype = u.dtype(), .slot = u.slot()});
  }

  void add_local(UOp u) {
    if (memories_.find(u.node())) return;
    const bool shared = is_group_tile(u);
    std::int64_t& end = shared ? code_.group_bytes : code_.thread_bytes;
    add_memory(u, shared ? MemoryInfo::Kind::Group : MemoryInfo::Kind::Thread);
    MemoryInfo& memory = code_.memories.back();
    memory.bytes = u.buffer_elements() * size_of(u.dtype());
    memory.slot = end;
    end += (memory.bytes + 63) / 64 * 64;
  }

  // The common part of Load and Store of memory.
  Step access(UOp place) {
    ensure(place.is(Op::Index), "linear program: {} is no place", info(place.op()).name);
    const std::int32_t* memory = memories_.find(buffer_of(place).node());
    ensure(memory != nullptr, "linear program: a buffer is used before it is declared");
    Step step{.kind = Step::Kind::Load, .dtype = place.dtype(), .lanes = lanes(place)};
    step.memory = *memory;
    step.in[0] = operand(place.src(1));
    if (place.num_src() > 2) step.in[1] = operand(place.src(2));
    return step;
  }

  void load(UOp u) {
    if (buffer_of(u.src(0)).is(Op::Register)) return move(u.src(0), u, u);
    load_place(u.src(0), u);
  }

  void load_place(UOp place, UOp result) {
    Step step = access(place);
    step.result = slot(result);
    code_.steps.push_back(step);
  }

  void load_matrix(UOp u) {
    Step step = access(u.src(0));
    step.kind = Step::Kind::LoadMatrix;
    step.lanes = lanes(u);
    step.size = u.arg().value;
    step.result = slot(u);
    code_.steps.push_back(step);
  }

  void store(UOp u) {
    const UOp target = buffer_of(u.src(0));
    if (target.is(Op::Register)) return move(u.src(1), target, target);
    if (is_copy(u)) load_place(u.src(1), u.src(1));  // copies have come as soon as they begin
    Step step = access(u.src(0));
    step.kind = Step::Kind::Store;
    step.in[2] = operand(u.src(1));
    step.lanes = std::max(step.lanes, lanes(u.src(1)));
    code_.steps.push_back(step);
  }

  void copy_box(UOp u) {
    Step step = access(u.src(0));
    step.kind = Step::Kind::CopyBox;
    step.size = std::ssize(code_.boxes);
    BoxCopy copy{.box = box_of(u), .memory = *memories_.find(u.src(1).node()), .coordinates = {}};
    for (int i = 2; i < u.first_closed(); i++) copy.coordinates.push_back(operand(u.src(i)));
    code_.boxes.push_back(std::move(copy));
    code_.steps.push_back(step);
  }

  void move(UOp from, UOp to, UOp shape) {
    Step step{.kind = Step::Kind::Move, .lanes = lanes(shape)};
    step.in[0] = operand(from);
    step.result = slot(to);
    code_.steps.push_back(step);
  }

  // ---- loops ----

  void range(UOp u) {
    const std::int32_t first = slot(u);
    if (u.loop_kind() != LoopKind::Lane) return;  // its Loop counts
    for (std::int32_t k = 0; k < u.range_size(); k++) code_.frame[first + k] = k;
  }

  void loop(UOp range) {
    loops_.push_back({range, static_cast<std::int32_t>(code_.steps.size())});
    code_.steps.push_back(counting(Step::Kind::Loop, range));
  }

  Step counting(Step::Kind kind, UOp range) {
    Step step{.kind = kind, .result = slot(range), .size = range.range_size()};
    if (range.is_open()) step.in[0] = operand(range.src(0));
    return step;
  }

  void end_loop(UOp range) {
    ensure(!loops_.empty() && loops_.back().range == range, "linear program: loops are not nested");
    const std::int32_t start = loops_.back().start;
    loops_.pop_back();
    Step step = counting(Step::Kind::EndLoop, range);
    step.target = start + 1;
    code_.steps.push_back(step);
    code_.steps[start].target = static_cast<std::int32_t>(code_.steps.size());
  }

  struct OpenLoop {
    UOp range;
    std::int32_t start;
  };

  Code code_;
  std::vector<UOp> lanes_;
  std::vector<OpenLoop> loops_;
  FlatMap<const Node*, std::int32_t> slots_;
  FlatMap<const Node*, std::int32_t> memories_;
};

}  // namespace

Code decode(std::span<const UOp> instructions) { return Decoder(instructions).take(); }

}  // namespace croze::interp
