// lane_form.cpp -- steps of integer arithmetic over the lanes.
#include "croze/render/lane_form.h"

#include <algorithm>
#include <numeric>

#include "croze/base/error.h"
#include "croze/graph/matrix_unit.h"

namespace croze {
namespace {

// Whether the value may have wrapped around its type on the way (see Bounds).
bool may_wrap(UOp u) { return u.lo() <= min_value(u.dtype()) && u.hi() >= max_value(u.dtype()); }

// Truncation commutes with arithmetic; extension only where nothing wrapped.
bool keeps_steps(UOp from, DType to) {
  if (!is_integer(from.dtype()) || !is_integer(to)) return false;
  return size_of(to) <= size_of(from.dtype()) || !may_wrap(from);
}

std::int64_t wrapping(Op op, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  return static_cast<std::int64_t>(op == Op::Add ? x + y : op == Op::Mul ? x * y : x << y);
}

}  // namespace

std::int64_t multiple_in_first_lane(UOp u) {
  if (is_lane(u)) return 0;
  if (u.is(Op::Add) && !u.ranges().empty()) {
    return std::gcd(multiple_in_first_lane(u.src(0)), multiple_in_first_lane(u.src(1)));
  }
  return u.bounds().multiple;
}

LaneForms::LaneForms(const LinearProgram& program) : positions_(program.graph->id_limit(), -1) {
  find_repeats(program);
  forms_.reserve(program.instructions.size());
  for (UOp u : program.instructions) {
    const LaneForm form = derive(u);
    positions_[u.id()] = static_cast<std::int32_t>(forms_.size());
    forms_.push_back(form);
  }
}

LaneForm LaneForms::of(UOp node) const {
  if (node.is(Op::After)) return of(node.src(0));
  if (node.is(Op::Index)) {
    LaneForm form = of(node.src(1));
    if (node.num_src() > 2) form.lanes = std::max(form.lanes, of(node.src(2)).lanes);
    return form;
  }
  const std::int32_t position = positions_[node.id()];
  ensure(position >= 0, "linear program: {} is used before it stands in the list",
         info(node.op()).name);
  return forms_[static_cast<std::size_t>(position)];
}

void LaneForms::find_repeats(const LinearProgram& program) {
  for (UOp u : program.instructions) {
    if (!u.is(Op::Contract)) continue;
    const MatrixUnit& unit = *find_matrix_unit(u.arg().as_text());
    const std::string_view places[] = {unit.places_of_a, unit.places_of_b};
    for (int i : {0, 1}) {
      const std::int64_t all = places_of_thread(unit, places[i]), lanes = u.src(4 + i).range_size();
      if (all > lanes) repeated_.emplace_back(u.src(4 + i), all / lanes);
    }
  }
}

std::int64_t LaneForms::repeats(UOp load) const {
  for (const auto& [lanes, count] : repeated_) {
    if (load.varies_over(lanes)) return count;
  }
  return 1;
}

LaneForm LaneForms::derive(UOp u) const {
  switch (u.op()) {
    case Op::Range:
      if (u.loop_kind() != LoopKind::Lane) return {};
      return {.lanes = u.range_size(), .affine = true, .step = 1};
    case Op::Register: {
      LaneForm form;
      for (UOp s : u.sources()) form.lanes = std::max(form.lanes, of(s).lanes);
      form.affine = form.lanes == 1;
      return form;
    }
    case Op::Load: {
      const std::int64_t lanes = of(u.src(0)).lanes;
      return {.lanes = lanes * repeats(u), .affine = lanes == 1, .step = 0};
    }
    case Op::Contract: return {.lanes = u.src(3).range_size(), .affine = false, .step = 0};
    case Op::LoadMatrix: return {.lanes = u.src(1).range_size(), .affine = false, .step = 0};
    case Op::Shuffle: {
      const std::int64_t lanes = of(u.src(0)).lanes;
      return {.lanes = lanes, .affine = lanes == 1, .step = 0};
    }
    case Op::Lookup:
    case Op::Exchange: return {.lanes = of(u.src(0)).lanes, .affine = false, .step = 0};
    default: return is_elementwise(u.op()) ? elementwise(u) : LaneForm{};
  }
}

LaneForm LaneForms::elementwise(UOp u) const {
  LaneForm result;
  bool uniform = true;
  for (UOp s : u.sources()) {
    const LaneForm form = of(s);
    result.lanes = std::max(result.lanes, form.lanes);
    if (!form.affine || form.step != 0) uniform = false;
    if (!form.affine) result.affine = false;
  }
  if (uniform || !result.affine) return result;

  auto step = [&](int i) { return of(u.src(i)).step; };
  result.affine = is_integer(u.dtype());
  switch (u.op()) {
    case Op::Cast:
      result.affine = keeps_steps(u.src(0), u.dtype());
      result.step = step(0);
      break;
    case Op::Add: result.step = wrapping(Op::Add, step(0), step(1)); break;
    case Op::Neg: result.step = wrapping(Op::Mul, step(0), -1); break;
    case Op::Mul:
    case Op::Shl:
      result.affine = result.affine && u.src(1).is_const();
      if (result.affine) result.step = wrapping(u.op(), step(0), u.src(1).const_int());
      break;
    default: result.affine = false;
  }
  return result;
}

}  // namespace croze
