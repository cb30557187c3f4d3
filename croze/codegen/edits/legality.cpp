// legality.cpp -- one function for each kind of edit.
#include "croze/codegen/edits/legality.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ranges>

#include "croze/base/error.h"
#include "croze/codegen/decompose/words.h"
#include "croze/codegen/edits/accumulate.h"
#include "croze/codegen/edits/contract.h"
#include "croze/codegen/edits/item_axes.h"
#include "croze/codegen/edits/keep.h"
#include "croze/codegen/edits/one_pass.h"
#include "croze/codegen/edits/panel.h"
#include "croze/codegen/edits/share.h"
#include "croze/codegen/edits/stage.h"
#include "croze/codegen/edits/tabulate.h"
#include "croze/codegen/edits/warps/contract_wave.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/scratch.h"

namespace croze {
namespace {

constexpr std::int64_t largest_multiple = 4096;  // that a loop is padded to: more is a mistake
constexpr std::int64_t most_copies = 4096;       // of one node, by unrolled loops
constexpr std::int64_t most_axes = 3;            // of a launch, for groups and for items

bool contains(const std::vector<UOp>& list, UOp u) {
  return std::ranges::find(list, u) != list.end();
}

// A loop that nothing has been decided about.
bool is_free(UOp range) {
  const LoopKind kind = range.loop_kind();
  return kind == LoopKind::Parallel || kind == LoopKind::Reduce || kind == LoopKind::Serial;
}

// "a loop of 12", "a loop of a multiple of 4".
std::string length_of(UOp range) {
  if (!range.is_open()) return fmt::format("a loop of {}", range.range_size());
  return fmt::format("a loop of a multiple of {}", range.trip_divisor());
}

// Whether the reduction, once `range` is lanes too, would combine those of another range: lanes are
// combined of the vector that the value is, whichever ranges the reduction closes.
bool combines_other_lanes(UOp reduce, UOp range, RangeSet lanes) {
  const RangeSet of_value = reduce.src(0).ranges();
  RangeSet closed;
  for (UOp r : closed_ranges(reduce)) closed = closed | r.ranges();
  if (closes(reduce, range)) return (of_value | closed).intersects(lanes);
  return of_value.contains(range.range_id()) && closed.intersects(lanes);
}

}  // namespace

std::int64_t most_lanes(const Caps& caps) { return caps.vector_bytes / 4; }

Legality::Legality(const KernelState& k) : k_(k), order_(toposort(k.sink)), ranges_(k.loops) {
  for (UOp u : order_) {
    if (u.is(Op::Range) && !contains(k.loops, u)) ranges_.push_back(u);
    if (u.is(Op::Load)) loads_.push_back(u);
    if (is_write(u) || u.is(Op::Reduce) || u.is(Op::TupleReduce)) closers_.push_back(u);
    const UOp tile = is_write(u) ? tile_of(u) : UOp();
    if (tile && !contains(tiles_, tile)) tiles_.push_back(tile);
  }
}

UOp Legality::range(std::int64_t id) const {
  const auto it = std::ranges::find(ranges_, id, &UOp::range_id);
  return it == ranges_.end() ? UOp() : *it;
}

std::vector<UOp> Legality::named(const Edit& e) const {
  std::vector<UOp> result;
  for (std::int64_t id : e.ranges) result.push_back(range(id));
  return result;
}

bool Legality::is_output_loop(UOp range) const { return contains(k_.loops, range); }

std::string Legality::refusal(const Edit& e) const {
  if (std::string why = refuse_names(e); !why.empty()) return why;
  if (std::string why = refuse_turns(e); !why.empty()) return why;
  if (!leaves_contractions(k_.sink, e.kind, e.ranges.empty() ? UOp() : range(e.ranges[0])))
    return "a matrix unit adds up products of the kernel";
  switch (e.kind) {
    case EditKind::Split:
    case EditKind::SplitReduction: return refuse_split(e);
    case EditKind::SplitOverlapping: return refuse_split_overlapping(e);
    case EditKind::Merge: return refuse_merge(e);
    case EditKind::Pad: return refuse_pad(e);
    case EditKind::Bind: return refuse_bind(e);
    case EditKind::Reorder: return refuse_reorder(e);
    case EditKind::Share: return refuse_share(e);
    case EditKind::OnePass: return refuse_one_pass(e);
    case EditKind::Keep: return refuse_keep(e);
    case EditKind::Tabulate: return refuse_tabulate(e);
    case EditKind::Panel: return refuse_panel(e);
    case EditKind::Accumulate: return refuse_accumulate(e);
    case EditKind::Contract: return refuse_contract(e);
    case EditKind::Stage: return refuse_stage(e);
    case EditKind::Simplify: return {};
    case EditKind::FillAhead: return refuse_fill_ahead(e);
  }
  return "there is no such edit";
}

// Every range that the edit names is there, and but for the two sides of Share it is named once.
std::string Legality::refuse_names(const Edit& e) const {
  const bool is_list = e.kind == EditKind::Reorder || e.kind == EditKind::Share ||
                       e.kind == EditKind::Accumulate || e.kind == EditKind::Stage ||
                       e.kind == EditKind::Tabulate || e.kind == EditKind::Panel ||
                       e.kind == EditKind::OnePass || e.kind == EditKind::Contract;
  const bool is_pair = e.kind == EditKind::Merge || e.kind == EditKind::Keep;
  const std::size_t count = e.kind == EditKind::Simplify ? 0 : is_pair ? 2 : 1;
  if (!is_list && e.ranges.size() != count) {
    return fmt::format("it names {} loops", e.ranges.size());
  }
  for (auto it = e.ranges.begin(); it != e.ranges.end(); ++it) {
    if (!range(*it)) return fmt::format("there is no loop r{}", *it);
    if (e.kind != EditKind::Share && std::find(e.ranges.begin(), it, *it) != it) {
      return fmt::format("loop r{} is named twice", *it);
    }
  }
  return {};
}

std::string Legality::refuse_new_ranges(std::int64_t count) const {
  const std::int64_t kept = ranges_for_contractions(k_.sink);
  if (k_.next_range + count + (kept > 0 ? kept + count : 0) <= RangeSet::capacity) return {};
  return fmt::format("a kernel has at most {} ranges", static_cast<int>(RangeSet::capacity));
}

std::string Legality::refuse_split(const Edit& e) const {
  const UOp r = range(e.ranges[0]);
  const bool reduction = e.kind == EditKind::SplitReduction;
  if (reduction ? r.loop_kind() != LoopKind::Reduce : !is_free(r)) {
    return fmt::format("loop r{} is of kind {}", r.range_id(), name_of(r.loop_kind()));
  }
  if (reduction && is_in_tuple(r)) return "a tuple has no partial results";
  const bool is_whole = e.size == r.range_size() && !r.is_open();
  if (e.size < 2 || r.trip_divisor() % e.size != 0 || (is_whole && !reduction)) {
    return fmt::format("{} cannot be split by {}", length_of(r), e.size);
  }
  return refuse_new_ranges(2);
}

// Some iterations are run twice, perhaps at once by two tasks: each must store the same both times.
// Items may share the words that they store parts of.
std::string Legality::refuse_split_overlapping(const Edit& e) const {
  if (k_.caps().packs_words) return "two items would store to one word";
  const UOp r = range(e.ranges[0]);
  if (!is_parallel(r) || !is_output_loop(r)) {
    return fmt::format("loop r{} is of kind {}", r.range_id(), name_of(r.loop_kind()));
  }
  if (r.is_open())
    return fmt::format("how often loop r{} turns is known at launch only", r.range_id());
  if (e.size < 2 || e.size >= r.range_size() || r.range_size() % e.size == 0) {
    return fmt::format("{} is not split with a rest by {}", length_of(r), e.size);
  }
  for (UOp u : order_) {
    if (is_write(u) && tile_of(u) && u.varies_over(r)) {
      return fmt::format("a tile is filled inside of loop r{}", r.range_id());
    }
    if (u.is(Op::Load) && is_written(u.src(0).src(0))) return "the kernel writes what it loads";
  }
  return refuse_new_ranges(2);
}

// The iterations of a tuple reduction are counted, and run one after the other.
bool Legality::is_in_tuple(UOp range) const {
  return std::ranges::any_of(closers_,
                             [&](UOp u) { return u.is(Op::TupleReduce) && closes(u, range); });
}

bool Legality::are_closed_together(UOp a, UOp b) const {
  return std::ranges::all_of(closers_, [&](UOp u) {
    const std::vector<UOp> closed = closed_ranges(u);
    return contains(closed, a) == contains(closed, b);
  });
}

std::string Legality::refuse_merge(const Edit& e) const {
  const UOp outer = range(e.ranges[0]), inner = range(e.ranges[1]);
  if (!is_free(outer) || outer.loop_kind() != inner.loop_kind()) {
    return fmt::format("loops of kind {} and {} cannot become one", name_of(outer.loop_kind()),
                       name_of(inner.loop_kind()));
  }
  if (!are_closed_together(outer, inner)) return "the loops do not always stand together";
  if (is_serial(outer)) {
    auto serial = k_.loops | std::views::filter(is_serial);
    const auto at = std::ranges::find(serial, outer);
    if (at == serial.end() || std::ranges::next(at, 1, serial.end()) == serial.end() ||
        *std::ranges::next(at) != inner) {
      return "loops whose iterations must stay in order are not next to each other";
    }
  }
  if (outer.range_size() > std::numeric_limits<std::int64_t>::max() / inner.range_size()) {
    return "the loop would be too long to count";
  }
  return refuse_new_ranges(1);
}

std::string Legality::refuse_pad(const Edit& e) const {
  const UOp r = range(e.ranges[0]);
  if (!is_free(r)) {
    return fmt::format("loop r{} is of kind {}", r.range_id(), name_of(r.loop_kind()));
  }
  if (is_in_tuple(r)) return fmt::format("a tuple is reduced over loop r{}", r.range_id());
  if (e.size < 2 || e.size > largest_multiple) {
    return fmt::format("a loop is padded to a multiple of 2 to {}", largest_multiple);
  }
  if (r.trip_divisor() % e.size == 0) return "the size is such a multiple already";
  if (r.range_size() > std::numeric_limits<std::int64_t>::max() - e.size) {
    return "the loop would be too long to count";
  }
  return refuse_new_ranges(1);
}

std::string Legality::refuse_bind(const Edit& e) const {
  const UOp r = range(e.ranges[0]);
  const bool reduced = r.loop_kind() == LoopKind::Reduce;
  const bool reduces =
      e.loop == LoopKind::Lane || e.loop == LoopKind::Unroll || e.loop == LoopKind::Item;
  if (!is_parallel(r) && !(reduced && reduces)) {
    return fmt::format("a loop of kind {} cannot become one of kind {}", name_of(r.loop_kind()),
                       name_of(e.loop));
  }
  if (is_in_tuple(r)) return fmt::format("a tuple is reduced over loop r{}", r.range_id());
  if (r.is_open() && e.loop != LoopKind::Thread && e.loop != LoopKind::Group) {
    return fmt::format("how often loop r{} turns is known at launch only", r.range_id());
  }
  for (UOp u : closers_) {
    const UOp tile = is_write(u) && u.varies_over(r) ? tile_of(u) : UOp();
    if (tile && !can_stand_around_tile(e.loop, space_of_tile(tile))) {
      return fmt::format("a tile is filled inside of loop r{}", r.range_id());
    }
  }
  switch (e.loop) {
    case LoopKind::Lane: return refuse_lanes(r);
    case LoopKind::Unroll: return refuse_copies(r);
    case LoopKind::Thread:
    case LoopKind::Group:
    case LoopKind::Item: return reduced ? refuse_combining(r) : refuse_parallel(r, e.loop);
    default: return fmt::format("no loop is made of kind {}", name_of(e.loop));
  }
}

// Tasks, groups and items run the whole kernel, so every store must be theirs.
std::string Legality::refuse_parallel(UOp r, LoopKind kind) const {
  for (UOp store : k_.sink.sources()) {
    if (!contains(closed_ranges(store), r)) {
      return fmt::format("not every result is stored inside of loop r{}", r.range_id());
    }
  }
  if (kind == LoopKind::Item && std::ranges::any_of(tiles_, [](UOp tile) {
        return space_of_tile(tile) == Space::Thread && bytes_of_tile(tile) > most_private_bytes;
      })) {
    return "an item has no room for its tiles";
  }
  std::vector<UOp> loops = k_.loops;
  std::ranges::replace(loops, r, k_.graph().range_of_kind(r, kind));
  return refuse_launch(loops);
}

// Items combine what each of them has come to.
std::string Legality::refuse_combining(UOp r) const {
  if (std::string why = refuse_launch(k_.loops, r); !why.empty()) return why;
  const std::int64_t tiles = bytes_of_tiles(Space::Group);
  std::int64_t bytes = tiles;
  for (UOp u : closers_) {
    if (!u.is(Op::Reduce)) continue;
    bytes += combining_bytes(u, ranges_, r);
  }
  if (bytes > k_.caps().group_memory) {
    return fmt::format("combining takes {} bytes, beside {} of tiles", bytes - tiles, tiles);
  }
  return {};
}

// Whether a launch with these output loops is one that the device can make (launch_of).
std::string Legality::refuse_launch(std::span<const UOp> loops, UOp combining) const {
  const Caps& caps = k_.caps();
  int tasks = 0, groups = 0;
  for (UOp r : loops) {
    const std::int64_t size = r.range_size();
    switch (r.loop_kind()) {
      case LoopKind::Thread:
        if (caps.has_groups || caps.threads <= 1) return "the device has no tasks";
        if (tasks++ == 1) return "one loop becomes tasks";
        break;
      case LoopKind::Group:
        if (!caps.has_groups) return "the device has no groups";
        if (groups == most_axes) return fmt::format("a launch has {} axes", most_axes);
        if (size > caps.max_groups_axis[groups++]) return "the launch has no room for the groups";
        break;
      default: break;
    }
  }
  return refuse_items(loops, combining);
}

std::string Legality::refuse_items(std::span<const UOp> loops, UOp combining) const {
  const Caps& caps = k_.caps();
  const std::optional<ItemAxes> items = item_axes(k_.sink, loops, combining);
  if (!items) return "reductions over items stand one inside of the other";
  if (items->axes.empty()) return {};
  if (!caps.has_groups) return "the device has no groups";
  if (std::ssize(items->axes) > most_axes) return fmt::format("a group has {} axes", most_axes);
  // Which axis is which may still change.
  const auto longest =
      *std::min_element(caps.max_group_axis, caps.max_group_axis + items->axes.size());
  std::int64_t items_of_group = 1;
  for (UOp axis : items->axes) {
    const std::int64_t size = axis.range_size();
    if (size > longest || size > caps.max_items / items_of_group) {
      return "a group has no room for the items";
    }
    items_of_group *= size;
  }
  return {};
}

// A value has at most one vector of lanes, no longer than a register.
std::string Legality::refuse_lanes(UOp r) const {
  const std::int64_t most = most_lanes(k_.caps());
  if (r.range_size() > most) return fmt::format("a vector of the device has {} lanes", most);
  RangeSet lanes;
  for (UOp other : ranges_) {
    if (other.loop_kind() == LoopKind::Lane) lanes = lanes | other.ranges();
  }
  for (UOp u : order_) {
    if (u.varies_over(r) && u.ranges().intersects(lanes)) {
      return fmt::format("a value that varies over loop r{} has lanes already", r.range_id());
    }
    if (u.is(Op::Reduce) && combines_other_lanes(u, r, lanes)) {
      return fmt::format("a reduction over loop r{} or inside of it has other lanes", r.range_id());
    }
    if (u.is(Op::Reduce) && contains(closed_ranges(u), r) &&
        !combines_lanes(u.reduce_op(), u.dtype(), k_.caps())) {
      return fmt::format("the device cannot combine lanes of {}", name_of(u.dtype()));
    }
  }
  return {};
}

std::string Legality::refuse_copies(UOp r) const {
  std::vector<UOp> unrolled;
  for (UOp other : ranges_) {
    if (other.loop_kind() == LoopKind::Unroll) unrolled.push_back(other);
  }
  for (UOp u : order_) {
    if (!u.varies_over(r)) continue;
    std::int64_t copies = 1;
    for (UOp other : unrolled) copies *= u.varies_over(other) ? other.range_size() : 1;
    if (r.range_size() > most_copies / copies) {
      return fmt::format("the code would be copied more than {} times", most_copies);
    }
  }
  return {};
}

std::string Legality::refuse_reorder(const Edit& e) const {
  const std::vector<UOp> order = named(e);
  if (order == k_.loops) return "the loops stand so already";
  if (order.size() != k_.loops.size() ||
      !std::is_permutation(order.begin(), order.end(), k_.loops.begin())) {
    return "a new order of the output loops must name each of them";
  }
  auto serial = std::views::filter(is_serial);
  if (!std::ranges::equal(order | serial, k_.loops | serial)) {
    return "loops whose iterations must stay in order cannot change places";
  }
  return refuse_launch(order);
}

std::string Legality::refuse_share(const Edit& e) const {
  const std::vector<UOp> all = named(e);
  if (all.empty() || all.size() % 2 != 0) return "it names an odd number of loops, or none";
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  return refuse_sharing(order_, {all.begin(), half}, {half, all.end()});
}

std::string Legality::refuse_one_pass(const Edit& e) const {
  const std::vector<UOp> loops = named(e);
  if (loops.size() < 2) return fmt::format("it names {} loops", loops.size());
  const UOp first = loops[0];
  for (UOp r : loops) {
    if (r.loop_kind() != LoopKind::Reduce || is_in_tuple(r)) {
      return "something has been decided about the loops";
    }
    if (!turn_alike(first, r)) return "the loops have other sizes";
  }
  if (e.size < 1 || e.size >= first.range_size() || first.trip_divisor() % e.size != 0) {
    return fmt::format("{} cannot be cut in blocks of {}", length_of(first), e.size);
  }
  // The results of two passes over nothing are identities; those of one are moved by a law, too.
  if (first.trip_count().lo() < 1) return "the loops may not turn at all";
  OnePassPlan plan;
  if (std::string why = plan_one_pass(k_.sink, loops, &plan); !why.empty()) return why;
  return refuse_new_ranges(1 + std::ssize(loops));
}

std::string Legality::refuse_keep(const Edit& e) const {
  const UOp first = range(e.ranges[0]), second = range(e.ranges[1]);
  if (first.loop_kind() != LoopKind::Reduce || is_in_tuple(first) || is_in_tuple(second) ||
      (second.loop_kind() != LoopKind::Reduce && !is_parallel(second))) {
    return "something has been decided about the loops";
  }
  if (!turn_alike(first, second)) return "the loops have other sizes";
  if (e.size < 1 || e.size > std::max<std::int64_t>(1, most_lanes(k_.caps()))) {
    return fmt::format("{} is no number of lanes", e.size);
  }
  const std::vector<SharedValue> values = shared_values(k_.sink, first, second, k_.loops);
  if (values.empty()) return "the loops compute nothing alike";
  const std::int64_t bytes = kept_bytes(values, first.range_size() + e.size);
  const std::int64_t room = room_of_tile();
  if (bytes > room) return fmt::format("tiles of {} bytes do not fit in {}", bytes, room);
  for (const SharedValue& v : values) {
    for (UOp r : ranges_) {
      const bool has_rows = r.loop_kind() == LoopKind::Unroll;  // one for each copy
      if (v.over_first.varies_over(r) && r != first && !has_rows &&
          !can_stand_around_tile(r.loop_kind(), Space::Thread)) {
        return fmt::format("loop r{} is of kind {}", r.range_id(), name_of(r.loop_kind()));
      }
    }
    for (UOp u : toposort(v.over_first)) {
      if (u.is(Op::Param) && is_written(u)) return "the kernel writes what it loads";
    }
  }
  return refuse_new_ranges(2 * std::ssize(values));
}

std::string Legality::refuse_tabulate(const Edit& e) const {
  const std::vector<UOp> loops = named(e);
  for (UOp r : loops) {
    const bool is_reduced = r.loop_kind() == LoopKind::Reduce || r.loop_kind() == LoopKind::Unroll;
    if (!is_reduced || is_output_loop(r) || is_in_tuple(r)) {
      return fmt::format("loop r{} is of kind {}", r.range_id(), name_of(r.loop_kind()));
    }
    if (r.is_open() || !are_closed_together(r, loops[0])) return "the loops are not of one tile";
  }
  const std::int64_t most = std::max<std::int64_t>(1, most_lanes(k_.caps()));
  if (e.size < 1 || e.size > most || iterations(loops) % e.size != 0) {
    return fmt::format("{} is no number of lanes", e.size);
  }
  const std::vector<UOp> values = values_of_vectors(k_.sink, loops);
  if (values.empty()) return "nothing is computed for all lanes";
  const std::int64_t bytes = tabulated_bytes(values, loops);
  const std::int64_t room = room_of_tile();
  if (bytes > room) return fmt::format("tiles of {} bytes do not fit in {}", bytes, room);
  for (UOp value : values) {
    for (UOp r : ranges_) {
      const bool is_around = value.varies_over(r) && !contains(loops, r);
      if (is_around && r.loop_kind() != LoopKind::Unroll &&
          !can_stand_around_tile(r.loop_kind(), Space::Thread)) {
        return fmt::format("loop r{} is of kind {}", r.range_id(), name_of(r.loop_kind()));
      }
    }
    for (UOp u : toposort(value)) {
      if (u.is(Op::Param) && is_written(u)) return "the kernel writes what it loads";
    }
  }
  return refuse_new_ranges(2 * std::ssize(values));
}

std::string Legality::refuse_panel(const Edit& e) const {
  const std::vector<UOp> loops = named(e);
  UOp lanes;
  for (UOp r : loops) {
    const LoopKind kind = r.loop_kind();
    const bool is_reduced =
        (kind == LoopKind::Reduce || kind == LoopKind::Unroll) && !is_output_loop(r);
    if (kind == LoopKind::Lane ? static_cast<bool>(lanes) : !is_reduced) {
      return fmt::format("loop r{} is of kind {}", r.range_id(), name_of(kind));
    }
    if (kind == LoopKind::Lane) lanes = r;
    if (r.is_open() || is_in_tuple(r)) return "the loops are not of one tile";
  }
  if (!lanes) return "none of the loops is lanes";
  const std::vector<UOp> values = values_of_lanes(k_.sink, lanes);
  if (values.empty()) return "nothing is computed for all rows";
  const std::int64_t bytes = panel_bytes(values, loops);
  const std::int64_t room = room_of_tile();
  if (bytes > room) return fmt::format("tiles of {} bytes do not fit in {}", bytes, room);
  for (UOp value : values) {
    for (UOp r : ranges_) {
      const bool is_around = value.varies_over(r) && !contains(loops, r);
      if (is_around && !can_stand_around_tile(r.loop_kind(), Space::Thread)) {
        return fmt::format("loop r{} is of kind {}", r.range_id(), name_of(r.loop_kind()));
      }
    }
    for (UOp u : toposort(value)) {
      if (u.is(Op::Param) && is_written(u)) return "the kernel writes what it loads";
    }
  }
  return refuse_new_ranges(std::ssize(values) * (std::ssize(loops) + 1));
}

std::string Legality::refuse_accumulate(const Edit& e) const {
  const std::vector<UOp> all = named(e);
  if (all.size() < 2) return fmt::format("it names {} loops", all.size());
  const UOp r = all[0];
  const std::span<const UOp> over = std::span(all).subspan(1);
  if (r.loop_kind() != LoopKind::Reduce || is_in_tuple(r)) {
    return fmt::format("loop r{} is of kind {}", r.range_id(), name_of(r.loop_kind()));
  }
  if (r.is_open() || e.size < 1 || e.size >= r.range_size() || r.range_size() % e.size != 0) {
    return fmt::format("{} does not go in turns of {}", length_of(r), e.size);
  }
  UOp reduce;
  for (UOp u : closers_) {
    if (!closes(u, r)) continue;
    if (reduce || !u.is(Op::Reduce)) return "the loop is not that of one reduction alone";
    reduce = u;
  }
  for (UOp u : over) {
    if (!is_output_loop(u)) return fmt::format("loop r{} is none of the output", u.range_id());
  }
  const std::int64_t room = room_of_tile();
  if (std::string why = refuse_accumulation(reduce, over, room); !why.empty()) return why;
  for (UOp load : croze::loads(reduce)) {
    if (is_written(load.src(0).src(0))) return "the kernel writes what it loads";
  }
  return refuse_new_ranges(2 + std::ssize(over));
}

std::string Legality::refuse_contract(const Edit& e) const {
  const bool is_wave = is_of_wave(k_.caps(), e.size);
  if (is_wave ? e.ranges.size() != 3 : e.ranges.size() < 2)
    return fmt::format("it names {} loops", e.ranges.size());
  if (is_wave) {
    std::string why =
        refuse_wave(k_, range(e.ranges[0]), range(e.ranges[1]), range(e.ranges[2]), e.size);
    if (why.empty()) why = refuse_group_factors(e);
    return why.empty() ? refuse_new_ranges(12) : why;
  }
  std::vector<UOp> depth;
  for (std::int64_t id : std::span(e.ranges).subspan(1)) depth.push_back(range(id));
  if (std::string why = refuse_contraction(k_, range(e.ranges[0]), depth, e.size); !why.empty())
    return why;
  return refuse_new_ranges(8 + ranges_for_contractions(k_.sink));
}

bool Legality::is_written(UOp param) const {
  return std::ranges::any_of(closers_,
                             [&](UOp u) { return u.is(Op::Store) && u.src(0).src(0) == param; });
}

std::string refusal(const KernelState& k, const Edit& edit) { return Legality(k).refusal(edit); }

}  // namespace croze
