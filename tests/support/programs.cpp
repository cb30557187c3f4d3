// programs.cpp -- the builder of linear programs.
#include "support/programs.h"

#include <algorithm>

#include "croze/base/error.h"
#include "croze/render/renderer.h"
#include "croze/render/scratch.h"

namespace croze::test {

ProgramBuilder::ProgramBuilder(std::string name) {
  program_.graph = std::make_shared<Graph>();
  program_.info.name = std::move(name);
}

// ---- declarations -----------------------------------------------------------------------------

UOp ProgramBuilder::param(DType t, std::int64_t elements) {
  return emit(graph().param(t, program_.info.num_buffers++, elements));
}

UOp ProgramBuilder::variable(std::int64_t lo, std::int64_t hi, DType t) {
  const std::int64_t arg[] = {program_.info.num_variables++, lo, hi};
  return emit(graph().make(Op::Variable, t, {}, Arg(std::span(arg))));
}

UOp ProgramBuilder::local(DType t, std::int64_t elements, Space space) {
  return emit(graph().local(t, next_id_++, elements, space));
}

UOp ProgramBuilder::mutable_register(DType t) {
  return emit(graph().make(Op::Register, t, {}, Arg(next_id_++)));
}

UOp ProgramBuilder::mutable_register(DType t, UOp lane) {
  return emit(graph().make(Op::Register, t, {lane}, Arg(next_id_++)));
}

UOp ProgramBuilder::lane(std::int64_t lanes) {
  const std::int64_t arg[] = {next_range_++, lanes, static_cast<std::int64_t>(LoopKind::Lane)};
  const UOp range = graph().make(Op::Range, DType::Int32, {}, Arg(std::span(arg)));
  program_.lanes.push_back(range);
  return emit(range);
}

UOp ProgramBuilder::special(std::int64_t axis, std::int64_t size, LoopKind kind) {
  Launch& launch = program_.info.launch;
  switch (kind) {
    case LoopKind::Thread: launch.tasks = size; break;
    case LoopKind::Group: launch.groups[axis] = size; break;
    default: launch.items[axis] = size; break;
  }
  const std::int64_t arg[] = {axis, size, static_cast<std::int64_t>(kind)};
  return emit(graph().make(Op::Special, DType::Int32, {}, Arg(std::span(arg))));
}

UOp ProgramBuilder::integer(std::int64_t value) { return graph().constant(DType::Int32, value); }

// ---- instructions -----------------------------------------------------------------------------

UOp ProgramBuilder::begin_loop(std::int64_t size) {
  const std::int64_t arg[] = {next_range_++, size, static_cast<std::int64_t>(LoopKind::Loop)};
  return begun(graph().make(Op::Range, DType::Int32, {}, Arg(std::span(arg))));
}

UOp ProgramBuilder::begin_loop(UOp turns) {
  const std::int64_t arg[] = {next_range_++, turns.bounds().hi,
                              static_cast<std::int64_t>(LoopKind::Loop)};
  return begun(graph().make(Op::Range, turns.dtype(), {turns}, Arg(std::span(arg))));
}

UOp ProgramBuilder::begun(UOp range) {
  append(graph().make(Op::Loop, DType::Void, {range}));
  append(range);
  return range;
}

UOp ProgramBuilder::end_loop(UOp range) {
  const UOp end = graph().make(Op::EndLoop, DType::Void, {range});
  append(end);
  return end;
}

UOp ProgramBuilder::load(UOp buffer, UOp index, UOp gate, std::initializer_list<UOp> after) {
  const UOp source = graph().after(buffer, std::span(after.begin(), after.size()));
  const UOp place = gate ? graph().place(source, index, gate) : graph().place(source, index);
  return emit(graph().load(place));
}

UOp ProgramBuilder::store(UOp buffer, UOp index, UOp value, UOp gate) {
  const UOp place = gate ? graph().place(buffer, index, gate) : graph().place(buffer, index);
  return emit(graph().store(place, value));
}

UOp ProgramBuilder::read(UOp reg, std::initializer_list<UOp> after) {
  return emit(graph().load(graph().after(reg, std::span(after.begin(), after.size()))));
}

UOp ProgramBuilder::write(UOp reg, UOp value) { return emit(graph().store(reg, value)); }

UOp ProgramBuilder::reduce(Op op, UOp value, UOp lane) {
  return emit(graph().reduce(op, value, std::span(&lane, 1)));
}

UOp ProgramBuilder::exchange(UOp x, UOp y, std::int64_t bit) {
  return emit(graph().make(Op::Exchange, x.dtype(), {x, y}, Arg(bit)));
}

UOp ProgramBuilder::shuffle(UOp value, std::int64_t bit) {
  return emit(graph().make(Op::Shuffle, value.dtype(), {value}, Arg(bit)));
}

UOp ProgramBuilder::ballot(UOp condition, std::int64_t items) {
  const DType t = items > 32 ? DType::UInt64 : DType::UInt32;
  return emit(graph().make(Op::Ballot, t, {condition}, Arg(items)));
}

UOp ProgramBuilder::barrier() {
  const UOp barrier = graph().make(Op::Barrier, DType::Void, {});
  append(barrier);
  return barrier;
}

UOp ProgramBuilder::begin_copy(UOp to, UOp from) { return emit(graph().store(to, from)); }

UOp ProgramBuilder::awaiting_barrier(std::int64_t batches) {
  const UOp barrier = graph().make(Op::Barrier, DType::Void, {}, Arg(batches));
  append(barrier);
  return barrier;
}

bool ProgramBuilder::listed(UOp u) const {
  return std::ranges::find(program_.instructions, u) != program_.instructions.end();
}

void ProgramBuilder::append(UOp u) { program_.instructions.push_back(u); }

UOp ProgramBuilder::emit(UOp u) {
  if (listed(u)) return u;
  if (u.is(Op::After)) return emit(u.src(0));
  for (UOp s : u.sources()) emit(s);
  if (!u.is(Op::Index)) append(u);
  return u;
}

LinearProgram ProgramBuilder::finish() {
  program_.info.launch.scratch_bytes = scratch_layout(program_).bytes;
  return std::move(program_);
}

}  // namespace croze::test
