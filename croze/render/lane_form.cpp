// lane_form.cpp -- steps of integer arithmetic over the lanes.
#include "croze/render/lane_form.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "croze/base/error.h"
#include "croze/graph/matrix_unit.h"
#include "croze/graph/rewrite/rewrite.h"

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
  if (u.is(Op::Mul) && multiple_in_first_lane(u.src(0)) == 0) return 0;
  return u.bounds().multiple;
}

std::vector<std::int64_t> numbers_of_lanes(UOp u) {
  const std::vector<UOp> order = toposort(u);
  const auto lane = std::ranges::find_if(order, is_lane);
  const bool is_known =
      lane != order.end() && std::ranges::all_of(order, [&](UOp x) {
        return x == *lane || x.is_const() || (is_elementwise(x.op()) && is_integer(x.dtype()));
      });
  if (!is_known) return {};
  std::vector<std::int64_t> numbers;
  for (std::int64_t k = 0; k < lane->range_size(); k++) {
    const std::pair<UOp, UOp> known[] = {{*lane, u.graph().constant(lane->dtype(), k)}};
    numbers.push_back(substitute(u, known).const_int());
  }
  return numbers;
}

LaneForms::LaneForms(const LinearProgram& program, bool with_periods)
    : with_periods_(with_periods), positions_(program.graph->id_limit(), -1) {
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
    case Op::Ballot:
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
    uniform = uniform && form.is_uniform();
    if (!form.affine) result.affine = false;
  }
  if (uniform || !result.affine) return result;

  const LaneForm neither{.lanes = result.lanes, .affine = false, .step = 0};
  const std::optional<std::int64_t> period = period_of_sources(u);
  if (!is_integer(u.dtype()) || !period) return neither;
  const auto source = [&](int i) {
    return *period == 0 || of(u.src(i)).is_uniform() ? of(u.src(i)) : of(u.src(i)).in_runs(*period);
  };
  const auto moved_by = [&](std::int64_t step, std::int64_t jump) {
    return LaneForm{result.lanes, true, step, *period, jump};
  };
  const LaneForm a = source(0);
  switch (u.op()) {
    case Op::Cast: return keeps_steps(u.src(0), u.dtype()) ? moved_by(a.step, a.jump) : neither;
    case Op::Add:
      return moved_by(wrapping(Op::Add, a.step, source(1).step),
                      wrapping(Op::Add, a.jump, source(1).jump));
    case Op::Neg: return moved_by(wrapping(Op::Mul, a.step, -1), wrapping(Op::Mul, a.jump, -1));
    case Op::Mul:
    case Op::Shl: {
      if (!u.src(1).is_const()) return neither;
      const std::int64_t by = u.src(1).const_int();
      return moved_by(wrapping(u.op(), a.step, by), wrapping(u.op(), a.jump, by));
    }
    case Op::And: return remainder(u, result.lanes);
    case Op::Shr: return quotient(u, result.lanes);
    default: return neither;
  }
}

// The lanes of a run of the sources that move, 0 if none has runs; nothing if they differ in it.
std::optional<std::int64_t> LaneForms::period_of_sources(UOp u) const {
  std::int64_t period = 0;
  for (UOp s : u.sources()) {
    const LaneForm form = of(s);
    if (form.is_uniform() || form.period == 0) continue;
    if (period != 0 && form.period != period) return {};
    period = form.period;
  }
  return period;
}

// The low bits of what moves by a power of two, from a multiple of all that they can be on.
LaneForm LaneForms::remainder(UOp u, std::int64_t lanes) const {
  const LaneForm neither{.lanes = lanes, .affine = false, .step = 0};
  const LaneForm dividend = of(u.src(0));
  if (!with_periods_ || !u.src(1).is_const() || dividend.step <= 0 || dividend.period != 0)
    return neither;
  const std::int64_t divisor = u.src(1).const_int() + 1, step = dividend.step;
  const bool is_power = divisor > 0 && std::has_single_bit(static_cast<std::uint64_t>(divisor));
  const bool is_whole = is_power && divisor % step == 0 && lanes % (divisor / step) == 0 &&
                        multiple_in_first_lane(u.src(0)) % divisor == 0;
  if (!is_whole || divisor == step) return neither;
  return {.lanes = lanes, .affine = true, .step = step, .period = divisor / step};
}

// The high bits of it, which are the same in each run of lanes.
LaneForm LaneForms::quotient(UOp u, std::int64_t lanes) const {
  constexpr std::int64_t most_bits = 62;
  const LaneForm neither{.lanes = lanes, .affine = false, .step = 0};
  const LaneForm dividend = of(u.src(0));
  const bool is_known = with_periods_ && u.src(1).is_const() && u.src(1).const_int() >= 0 &&
                        u.src(1).const_int() <= most_bits;
  if (!is_known || dividend.step <= 0 || dividend.period != 0) return neither;
  const std::int64_t divisor = std::int64_t{1} << u.src(1).const_int(), step = dividend.step;
  const bool is_whole = divisor > step && divisor % step == 0 && lanes % (divisor / step) == 0 &&
                        multiple_in_first_lane(u.src(0)) % divisor == 0;
  if (!is_whole || may_wrap(u.src(0))) return neither;
  return {.lanes = lanes, .affine = true, .step = 0, .period = divisor / step, .jump = 1};
}

}  // namespace croze
