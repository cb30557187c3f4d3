// parts.cpp -- what cutting a reduction gains.
//
// A thread, or the items of a group, make a result; where results are few, most of the device is
// idle.  In parts, the reduction has more results, which another kernel makes one of.
//
// Of threads there are some dozens, so the parts depend on the shape alone: sums are the same on
// every processor.  Where items run in warps there are thousands, and what a cut gains is weighed
// by the model of such a device: how many groups run at once, what passes through each, and what
// another launch and the results of the parts take.
#include "croze/schedule/parts/parts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/codegen/choose/warps/warp_model.h"
#include "croze/graph/matrix_unit.h"
#include "croze/schedule/fuse.h"
#include "croze/schedule/nest_facts.h"

namespace croze {
namespace {

// ---- threads ----------------------------------------------------------------------------------

// So many threads and more are fed by parts.
constexpr std::int64_t least_parts = 8, most_parts = 64;

// Of more results tasks are made.
constexpr std::int64_t most_results = 4;

// Elements that take longer to reduce than another launch takes.
constexpr std::int64_t least_elements = 1 << 18;

// Of rows that are added up to one, threads share the columns, if there are enough: of shorter rows
// each would read pieces that lie apart, and most threads nothing ...
constexpr std::int64_t most_columns = 256;
// ... but rows that the caches hold come from there as fast.
constexpr std::int64_t least_elements_of_rows = 1 << 22;

// What is in memory, or will be, of what a value is made of.
struct Stored {
  double elements = 0, bytes = 0;
};

Stored stored_below(UOp x) {
  FlatSet<const Node*> seen;
  std::vector<UOp> pending{x};
  Stored result;
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    if (!seen.insert(u.node())) continue;
    const bool is_stored =
        is_state(u) || u.is(Op::Contiguous) || u.is(Op::Reduce) || u.is(Op::Scatter);
    if (!is_stored) {
      for (UOp s : u.sources()) pending.push_back(s);
      continue;
    }
    if (u.has_open_shape()) continue;
    result.elements += static_cast<double>(u.elements());
    result.bytes += static_cast<double>(u.elements() * size_of(u.dtype()));
  }
  return result;
}

// Whether a reduction uses what is stored many times.
bool is_contraction(double visits, const Stored& stored) {
  return stored.elements > 0 && visits > contraction_reuse * stored.elements;
}

// The last axis along which there is more than one element.
std::int64_t last_axis(UOp x) {
  std::int64_t axis = x.rank() - 1;
  while (axis > 0 && x.shape()[static_cast<std::size_t>(axis)] == 1) axis--;
  return axis;
}

bool adds_up_rows(UOp reduce) { return reduce.arg().as_ints().back() != last_axis(reduce.src(0)); }

Parts parts_by_shape(UOp u) {
  const UOp x = u.src(0);
  const bool are_few = u.elements() <= most_results && x.elements() >= least_elements;
  const bool are_short_rows = u.elements() <= most_columns &&
                              x.elements() >= least_elements_of_rows && adds_up_rows(u) &&
                              !is_contraction(static_cast<double>(x.elements()), stored_below(x));
  if (!are_few && !are_short_rows) return {};
  return {least_parts, most_parts, false};
}

// ---- groups -----------------------------------------------------------------------------------

class GroupParts {
 public:
  GroupParts(UOp reduce, const Caps& caps) : model_(caps) {
    const UOp x = reduce.src(0);
    results_ = static_cast<double>(reduce.elements());
    visits_ = static_cast<double>(x.elements());
    const Stored stored = stored_below(x);
    if (stored.elements > 0) element_bytes_ = stored.bytes / stored.elements;
    find_unit(caps);
    is_contraction_ = is_contraction(visits_, stored);
    if (adds_up_rows(reduce)) results_of_group_ = static_cast<double>(model_.warp);
  }

  Parts best() const {
    std::int64_t parts = 1;
    double least = cycles(1);
    const double most = std::min(visits_ / results_ / least_length, 1.0 * most_group_parts);
    for (std::int64_t p = 2; static_cast<double>(p) <= most; p *= 2) {
      const double c = cycles(static_cast<double>(p));
      if (c * least_gain > least) continue;
      least = c;
      parts = p;
    }
    return {parts / 2 + 1, parts, true};
  }

 private:
  // Of a part: shorter ones are combined for as long as they are reduced.
  static constexpr double least_length = 64;
  static constexpr std::int64_t most_group_parts = 1024;
  // Twice as many parts are to take so much less time, or they are not worth their memory.
  static constexpr double least_gain = 1.15;
  // Sides of the tiles that groups make of a contraction.
  static constexpr double tiles[] = {16, 32, 64, 128};

  // A unit that multiplies elements of so many bytes.
  void find_unit(const Caps& caps) {
    for (const MatrixUnit* unit : caps.matrix_units) {
      const auto bytes = static_cast<double>(size_of(unit->a));
      if (unit->threads != model_.warp || bytes != element_bytes_ || !is_allowed(*unit)) continue;
      products_ = std::max(products_, model_.unit_multiply_adds(*unit));
    }
  }

  double cycles(double parts) const {
    const double made = is_contraction_ ? cycles_of_tiles(parts) : cycles_of_rows(parts);
    if (parts == 1) return made;
    const double passed = 2 * parts * results_ * 4;  // written and read again
    return made + model_.launch + passed / (units() * model_.far_bytes);
  }

  // A group for each result, or for as many as a warp reads side by side.
  double cycles_of_rows(double parts) const {
    const double items =
        static_cast<double>(std::min(model_.most_items, WarpModel::most_items_of_row));
    const double at_once = std::max(1.0, WarpModel::resident_items / items);  // in a unit
    const double groups = std::ceil(results_ / results_of_group_) * parts;
    const double bytes = std::max(1.0, element_bytes_) * visits_ / groups;
    const double rounds = std::ceil(groups / (units() * at_once));
    return rounds * bytes / (model_.far_bytes / at_once);
  }

  // The fastest of some tiles.
  double cycles_of_tiles(double parts) const {
    const double steps = visits_ / results_ / parts;
    double least = 0;
    for (double side : tiles) {
      const double rounds = std::ceil(std::ceil(results_ / (side * side)) * parts / units());
      const double step =
          std::max(side * side / products_, 2 * side * element_bytes_ / model_.far_bytes);
      const double c = rounds * steps * step;
      if (least == 0 || c < least) least = c;
    }
    return least;
  }

  double units() const { return static_cast<double>(model_.units); }

  const WarpModel model_;
  double results_ = 1, visits_ = 1, element_bytes_ = 4;
  double results_of_group_ = 1;
  double products_ = WarpModel::multiply_adds;  // of a unit of the device in a cycle
  bool is_contraction_ = false;
};

// ---- scatters ---------------------------------------------------------------------------------

// Of so much more memory than the values have parts may make use.
constexpr std::int64_t most_copies_of_values = 4;

}  // namespace

Parts parts_of(UOp reduce, const Caps& caps) {
  const UOp x = reduce.src(0);
  if (x.has_open_shape() || x.elements() == 0 || reduce.elements() == 0) return {};
  return caps.runs_warps() ? GroupParts(reduce, caps).best() : parts_by_shape(reduce);
}

std::int64_t parts_of_scatter(UOp scatter, std::int64_t serial, std::int64_t parallel,
                              const Caps& caps) {
  if (!caps.runs_warps()) return 1;
  const WarpModel model(caps);
  const auto places = static_cast<double>(scatter.elements());
  const auto units = static_cast<double>(model.units);
  const auto bytes = static_cast<double>(size_of(scatter.dtype()));
  const auto cycles = [&](std::int64_t parts) {
    const double values = static_cast<double>(serial) / static_cast<double>(parts);
    const double rounds =
        std::max(1.0, static_cast<double>(parallel * parts) / (units * model.resident_items));
    const double alone = rounds * values * model.far_latency;
    if (parts == 1) return std::min(alone, values * model.near_latency);  // in slices (scatter.h)
    const double passed = 3 * static_cast<double>(parts) * places * bytes;
    return alone + 2 * model.launch + passed / (units * model.far_bytes);
  };
  const double most = most_copies_of_values * static_cast<double>(scatter.src(1).elements());
  std::int64_t best = 1;
  for (std::int64_t parts = 2; 2 * parts <= serial && static_cast<double>(parts) * places <= most;
       parts *= 2) {
    if (cycles(parts) < cycles(best)) best = parts;
  }
  return best;
}

}  // namespace croze
