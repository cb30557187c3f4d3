// recompute.cpp -- large values that blocks of different axes want are made for each.
//
// The gradient of attention wants the probabilities by rows, for the gradient of the queries, and
// by columns, for those of the keys and the values:
//
//     for i, j:  s[i, j] = sum(q[i, d] * k[j, d])
//     for i, j:  p[i, j] = exp(s[i, j] - max(s[i, ..]))
//     for i, d:  o[i, d] = sum(p[i, j] * k[j, d])         rows
//     for j, d:  g[j, d] = sum(p[i, j] * u[i, d])         columns
//
// No block along i holds what a block along j needs, so all of p would be stored.  But it is made
// of little, rows of q and of k.  So the columns get steps of their own that make it once more;
// what a step has reduced outside of its innermost loops (here the maxima, which no column knows)
// is stored by the first, and loaded:
//
//     for i, j:  p'[i, j] = exp(s'[i, j] - m[i])          columns
//
// If each thread has heads of its own, the columns can do with the blocks along i: a sum over i is
// added up block by block (blocks/blocks.cpp), and nothing is made again.
//
// Of long rows a cache has few, and who goes through blocks of them loads all that belongs to the
// columns for each.  Once the maxima are there, readers that add up over rows and over columns can
// have p' in blocks of both.  Others come before: those that want whole rows, and those that make
// what such readers wait for.
//
// Steps are looked at from the last to the first: along which axes a value is wanted depends on the
// axes along which its readers are cut, which depends on theirs.
#include "croze/schedule/recompute.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/blocks/block_cut.h"

namespace croze {
namespace {

// A value is large if it has so many times the bytes of what it is made of.
constexpr std::int64_t least_growth = 4;
// Blocks along the axes of some readers must be so many times smaller than those of all.
constexpr std::int64_t least_gain = 4;
// Values made of more memory than this are not made again: the search would not end.
constexpr std::size_t most_sources = 16;

using AxisMask = std::uint64_t;  // of the layout of a value, a bit for each axis

// The value of a step that may be made again.
struct Value {
  UOp store;  // null: none
  UOp state;
  Layout layout;

  UOp buffer() const { return store.src(0).src(0); }
  std::int64_t elements() const { return buffer().elements(); }
  double bytes() const { return static_cast<double>(elements() * size_of(buffer().dtype())); }
  // How many blocks there are at most along the axes.
  std::int64_t blocks(AxisMask axes) const {
    std::int64_t n = 1;
    for (std::size_t i = 0; i < layout.size(); i++) {
      if (axes >> i & 1) n *= layout[i].loop.range_size();
    }
    return n;
  }
};

struct Step {
  Value value;
  // Of a step that can be joined to others, once they are asked for:
  std::optional<BlockedNest> nest;
  std::vector<UOp> loops;   // along which it is cut
  std::vector<UOp> summed;  // along which it is if blocks are run in order
  // Of one with a value:
  std::map<const Node*, UOp> sources;  // states in memory that the value is made of
  std::set<std::size_t> makers;        // the steps that would make the value again
  bool is_made_again = false;          // the value of a reader is, so this one must be
  bool makes_again = false;            // it has been added to make a value again
};

// Readers of a value that want it along the same axes.
struct Group {
  AxisMask axes;
  std::vector<std::size_t> readers;
};

class Recomputation {
 public:
  Recomputation(std::vector<PendingStep>& steps, std::span<const UOp> results, Schedule& schedule,
                const ScheduleContext& context)
      : steps_(steps), schedule_(schedule), context_(context) {
    for (UOp r : results) results_.insert(r.node());
    for (std::size_t i = 0; i < steps_.size(); i++) {
      for (UOp state : steps_[i].writes) makers_[state.node()].push_back(i);
      for (UOp state : steps_[i].reads) readers_[state.node()].insert(i);
    }
    known_.resize(steps_.size());
  }

  void run() {
    const std::vector<std::size_t> order = makers_first();
    for (std::size_t i : order) find_value(i);
    for (std::size_t i = order.size(); i-- > 0;) {
      if (known_[order[i]].value.store) serve_readers(order[i]);
    }
  }

 private:
  std::vector<std::size_t> makers_first() const {
    std::vector<std::size_t> order, stack;
    std::vector<char> visits(steps_.size(), 0);
    for (std::size_t root = 0; root < steps_.size(); root++) {
      stack.push_back(root);
      while (!stack.empty()) {
        const std::size_t i = stack.back();
        if (visits[i]++ == 0) {
          for (UOp state : steps_[i].reads) {
            const auto makers = makers_.find(state.node());
            if (makers == makers_.end()) continue;
            std::ranges::copy_if(makers->second, std::back_inserter(stack),
                                 [&](std::size_t m) { return visits[m] == 0; });
          }
        } else {
          stack.pop_back();
          if (visits[i] == 2) order.push_back(i);
          visits[i] = 3;
        }
      }
    }
    return order;
  }

  // ---- values that may be made again ----

  bool is_joinable(const PendingStep& step) const {
    const Caps& caps = context_.caps(step.device);
    return step.nests.size() == 1 && !overwrites(step) && !is_snapshot(step) && caps.joins_nests &&
           !caps.has_groups;
  }

  // Whether it overwrites what somebody has made or wants to read, or makes a part of a state.
  bool overwrites(const PendingStep& step) const {
    const UOp before = step.supersedes;
    if (before && (makers_.contains(before.node()) || readers_.contains(before.node())))
      return true;
    return makers_.contains(step.writes[0].node()) && makers_.at(step.writes[0].node()).size() > 1;
  }

  void find_value(std::size_t i) {
    if (!is_joinable(steps_[i])) return;
    const Value value = largest_value(steps_[i]);
    const MachineModel machine(context_.caps(steps_[i].device));
    if (!value.store || machine.fits_caches(value.bytes())) return;
    find_sources(i);
    double bytes = 0;
    for (const auto& [node, state] : known_[i].sources) {
      bytes += static_cast<double>(state.elements() * size_of(state.dtype()));
    }
    const bool is_large = value.bytes() >= least_growth * bytes;
    if (!is_large || known_[i].sources.size() > most_sources) return;
    known_[i].value = value;
    look_at(i);
  }

  // Its nest and loops, if it can be joined to others.
  Step& look_at(std::size_t i) {
    Step& known = known_[i];
    if (known.nest || !is_joinable(steps_[i])) return known;
    known.nest = blocked_nest(steps_[i].nests[0]);
    known.loops = common_loops(steps_[i].nests[0]);
    known.summed = summed_loops(steps_[i].nests[0]);
    return known;
  }

  Value largest_value(const PendingStep& step) const {
    Value largest;
    for (std::size_t o = 0; o < step.outputs.size(); o++) {
      for (UOp store : step.nests[0].sources()) {
        if (store.src(0).src(0) != step.outputs[o]) continue;
        if (largest.store && store.src(0).src(0).elements() <= largest.elements()) continue;
        largest = {store, step.writes[o], layout_of(store)};
      }
    }
    if (!largest.store || largest.layout.empty()) return {};
    const bool is_temporary = !results_.contains(largest.state.node()) &&
                              makers_.at(largest.state.node()).size() == 1 &&
                              readers_.contains(largest.state.node());
    return is_temporary ? largest : Value{};
  }

  void find_sources(std::size_t i) {
    Step& known = known_[i];
    known.makers = {i};
    for (UOp state : steps_[i].reads) {
      const Step* maker = maker_of_value(state);
      if (!maker) {
        known.sources.emplace(state.node(), state);
        continue;
      }
      known.sources.insert(maker->sources.begin(), maker->sources.end());
      known.makers.insert(maker->makers.begin(), maker->makers.end());
    }
  }

  // The step whose value the state is, if that may be made again.
  const Step* maker_of_value(UOp state) const {
    const auto makers = makers_.find(state.node());
    if (makers == makers_.end()) return nullptr;
    const Step& maker = known_[makers->second[0]];
    return maker.value.store && maker.value.state == state ? &maker : nullptr;
  }

  // ---- what its readers want ----

  void serve_readers(std::size_t i) {
    if (const auto groups = groups_by_rows(i); !groups.empty()) {
      serve_apart(i, groups, 0);
      return;
    }
    const std::vector<Group> groups = groups_of_readers(i);
    AxisMask common = ~AxisMask{0};
    for (const Group& g : groups) common &= g.axes;
    const std::size_t first = group_served_first(i, groups);
    if (first == groups.size() || !pays(i, groups, common)) {
      keep_loops(known_[i], known_[i].value, common);
      return;
    }
    serve_apart(i, groups, first);
  }

  void serve_apart(std::size_t i, std::span<const Group> groups, std::size_t first) {
    for (std::size_t m : known_[i].makers) known_[m].is_made_again = true;
    for (std::size_t g = 0; g < groups.size(); g++) {
      if (g != first) make_again(i, groups[g]);
    }
    keep_loops(known_[i], known_[i].value, groups[first].axes);
  }

  // Of a value whose maker reduces along rows first: readers that want whole rows or come before
  // others, and those that can be cut along all axes; none if it is as well to have whole rows.
  std::vector<Group> groups_by_rows(std::size_t i) {
    const Value& value = known_[i].value;
    const AxisMask all = (AxisMask{1} << value.layout.size()) - 1;
    const AxisMask possible = axes_possible(value);
    if (possible == all || !is_storable(value) || !can_be_in_order(i)) return {};
    Group whole{possible, {}}, cut{all, {}};
    AxisMask common = all;
    for (std::size_t r : readers_.at(value.state.node())) {
      const Step& reader = look_at(r);
      const AxisMask free = axes_wanted(reader, value, reader.loops);
      const AxisMask axes = free | axes_summed(reader, value);
      common &= free;
      if (axes == all && (free == all || !is_before_another(i, r))) {
        cut.readers.push_back(r);
      } else {
        whole.axes &= axes;
        whole.readers.push_back(r);
      }
    }
    if (whole.readers.empty() || cut.readers.empty() || !pays_by_rows(i, common)) return {};
    return {whole, cut};
  }

  // Whether another reader of the value waits for what this one makes.
  bool is_before_another(std::size_t i, std::size_t reader) const {
    std::set<std::size_t> seen{reader};
    std::vector<std::size_t> pending{reader};
    while (!pending.empty()) {
      const std::size_t step = pending.back();
      pending.pop_back();
      for (UOp state : steps_[step].writes) {
        const auto readers = readers_.find(state.node());
        if (readers == readers_.end()) continue;
        for (std::size_t r : readers->second) {
          if (readers_.at(known_[i].value.state.node()).contains(r)) return true;
          if (seen.insert(r).second) pending.push_back(r);
        }
      }
    }
    return false;
  }

  // Whether blocks of whole rows that a cache holds, together with what is made of them, load so
  // much again that it costs more than making the value again: what it is made of along the
  // columns, and as much that readers have along them.
  bool pays_by_rows(std::size_t i, AxisMask common) const {
    const Value& value = known_[i].value;
    const MachineModel machine(context_.caps(steps_[i].device));
    const double in_cache = 2 * value.bytes() / static_cast<double>(machine.tile_bytes);
    const double again = in_cache / static_cast<double>(value.blocks(common)) - 1;
    double loaded = 0, cycles = 0;
    for (std::size_t m : known_[i].makers) {
      for (const BlockedNest::LoadFacts& load : known_[m].nest->loads) {
        if (load.packed) loaded += static_cast<double>(load.elements) * machine.copy_element;
      }
      cycles += known_[m].nest->cycles;
    }
    return loaded * again > cycles;
  }

  std::vector<Group> groups_of_readers(std::size_t i) {
    const Value& value = known_[i].value;
    const bool in_order = can_be_in_order(i);
    std::vector<std::pair<AxisMask, std::size_t>> wanted;
    for (std::size_t r : readers_.at(value.state.node())) {
      AxisMask axes = axes_wanted(look_at(r), value, look_at(r).loops);
      if (in_order) axes |= axes_summed(look_at(r), value);
      wanted.emplace_back(axes, r);
    }
    // Those that can be cut along few axes first: others go with them.
    std::ranges::stable_sort(wanted, {}, [](const auto& w) { return std::popcount(w.first); });
    std::vector<Group> groups;
    for (const auto& [axes, reader] : wanted) {
      // What is made again for some readers is so all the way.
      const bool again = known_[reader].makes_again;
      const auto group = std::ranges::find_if(groups, [&](const Group& g) {
        return (g.axes & axes) == g.axes && known_[g.readers[0]].makes_again == again;
      });
      if (group != groups.end())
        group->readers.push_back(reader);
      else
        groups.push_back({axes, {reader}});
    }
    return groups;
  }

  // Whether each thread has its blocks along axes that all readers are cut along in any order, so
  // that others may be in order.
  bool can_be_in_order(std::size_t i) {
    const Value& value = known_[i].value;
    AxisMask common = ~AxisMask{0};
    for (std::size_t r : readers_.at(value.state.node()))
      common &= axes_wanted(look_at(r), value, look_at(r).loops);
    return value.blocks(common) >= MachineModel(context_.caps(steps_[i].device)).wanted_blocks();
  }

  // The axes of the value along which the reader has one of the loops.
  static AxisMask axes_wanted(const Step& reader, const Value& value, std::span<const UOp> loops) {
    AxisMask axes = 0;
    for (std::size_t a = 0; reader.nest && a < value.layout.size(); a++) {
      const UOp loop = loop_along(reader.nest->places, value.buffer(), value.layout[a]);
      if (loop && std::ranges::find(loops, loop) != loops.end()) axes |= AxisMask{1} << a;
    }
    return axes;
  }

  // Those along which it adds up; none if what it makes is a value that others are to have block by
  // block.
  static AxisMask axes_summed(const Step& reader, const Value& value) {
    return reader.value.store ? 0 : axes_wanted(reader, value, reader.summed);
  }

  // A step that reduces along an axis outside of its innermost loops cannot be cut along it: it
  // serves readers that want none.  The number of groups if there are no such readers, or if what
  // it reduces has no dtype of memory.
  std::size_t group_served_first(std::size_t i, std::span<const Group> groups) const {
    const Value& value = known_[i].value;
    const AxisMask possible = axes_possible(value);
    const bool storable = is_storable(value);
    const auto first = std::ranges::find_if(
        groups, [&](const Group& g) { return storable && (g.axes & ~possible) == 0; });
    return static_cast<std::size_t>(first - groups.begin());
  }

  // Those along which the step that makes it does not reduce outside of its innermost loops.
  static AxisMask axes_possible(const Value& value) {
    const std::vector<UOp> outer = hoisted(value.store);
    AxisMask possible = 0;
    for (std::size_t a = 0; a < value.layout.size(); a++) {
      const bool varies = std::ranges::all_of(
          outer, [&](UOp reduce) { return reduce.varies_over(value.layout[a].loop); });
      if (varies) possible |= AxisMask{1} << a;
    }
    return possible;
  }

  // Whether what it reduces there has a dtype of memory.
  static bool is_storable(const Value& value) {
    return std::ranges::none_of(hoisted(value.store),
                                [](UOp reduce) { return reduce.dtype() == DType::Index; });
  }

  // Whether making the value for each group costs less than blocks along the axes of all.
  bool pays(std::size_t i, std::span<const Group> groups, AxisMask common) const {
    const Value& value = known_[i].value;
    const MachineModel machine(context_.caps(steps_[i].device));
    const auto threads = static_cast<double>(machine.threads);
    const std::int64_t blocks = value.blocks(common);
    const double of_block = value.bytes() / static_cast<double>(blocks);
    if (groups.size() == 1) return false;
    const bool is_apart = std::ranges::any_of(
        groups, [&](const Group& g) { return known_[g.readers[0]].makes_again; });
    if (known_[i].is_made_again && is_apart) return true;
    if (of_block <= static_cast<double>(machine.tile_bytes)) return false;
    for (const Group& g : groups) {
      if (value.blocks(g.axes) < least_gain * blocks) return false;
    }
    if (known_[i].is_made_again) return true;
    double bytes = 0, cycles = 0;
    for (std::size_t m : known_[i].makers) {
      bytes += known_[m].value.bytes();
      cycles += known_[m].nest->cycles / threads;
    }
    const double at_work = bytes * std::min(1.0, threads / static_cast<double>(blocks));
    const double traffic = machine.cycles_per_byte(at_work) - machine.cycles_per_byte(0);
    const double touched = machine.fits_caches(at_work) ? 0 : at_work;
    const double accesses = machine.write_accesses + static_cast<double>(groups.size());
    const double saved = bytes * accesses * traffic + touched * machine.touch_byte;
    return saved > cycles * static_cast<double>(groups.size() - 1);
  }

  static void keep_loops(Step& step, const Value& value, AxisMask axes) {
    std::erase_if(step.loops, [&](UOp loop) {
      const auto axis = std::ranges::find(value.layout, loop, &LayoutAxis::loop);
      return axis == value.layout.end() || !(axes >> (axis - value.layout.begin()) & 1);
    });
  }

  // ---- making it again ----

  // Reductions of a store that vary over some of its loops only, the outermost of each value.
  static std::vector<UOp> hoisted(UOp store) {
    RangeSet loops;
    for (UOp r : closed_ranges(store)) loops = loops | r.ranges();
    std::vector<UOp> result, pending{store.src(1)};
    std::unordered_set<const Node*> seen;
    while (!pending.empty()) {
      const UOp u = pending.back();
      pending.pop_back();
      if (!seen.insert(u.node()).second) continue;
      if (u.is(Op::Reduce) && !u.ranges().contains_all(loops)) {
        result.push_back(u);
      } else {
        for (UOp source : u.sources()) pending.push_back(source);
      }
    }
    return result;
  }

  // A step that makes the value for the group.
  void make_again(std::size_t i, const Group& group) {
    const Value value = known_[i].value;
    Graph& g = value.store.graph();
    const UOp buffer = add_temporary(schedule_, g, value.buffer().dtype(), value.elements(),
                                     steps_[i].device, {BufferCause::MadeAgain});
    std::vector<std::pair<UOp, UOp>> loaded;
    for (UOp reduce : hoisted(value.store)) loaded.emplace_back(reduce, g.load(kept(i, reduce)));
    const UOp place = g.place(buffer, value.store.src(0).src(1));
    const UOp store =
        g.store(place, substitute(value.store.src(1), loaded), closed_ranges(value.store));
    PendingStep step;
    step.device = steps_[i].device;
    step.nests = {g.sink(std::span(&store, 1))};
    step.writes = {g.make(Op::Contiguous, buffer.dtype(), {buffer})};
    step.outputs = {buffer};
    step.reads = reads_of(step.nests[0], i);
    for (std::size_t r : group.readers) read_instead(r, value, step);
    add(std::move(step), value, group.axes);
  }

  void add(PendingStep step, const Value& value, AxisMask axes) {
    Step known;
    known.makes_again = true;
    known.nest = blocked_nest(step.nests[0]);
    known.loops = common_loops(step.nests[0]);
    keep_loops(known, value, axes);
    known_.push_back(std::move(known));
    for (UOp state : step.reads) readers_[state.node()].insert(steps_.size());
    steps_.push_back(std::move(step));
  }

  // The place of a hoisted reduction in memory, which the step stores from now on.
  UOp kept(std::size_t i, UOp reduce) {
    PendingStep& step = steps_[i];
    for (UOp store : step.nests[0].sources()) {
      if (store.src(1) == reduce && store.src(0).num_src() == 2) return store.src(0);
    }
    Graph& g = reduce.graph();
    std::vector<UOp> loops = closed_ranges(known_[i].value.store);
    std::erase_if(loops, [&](UOp loop) { return !reduce.varies_over(loop); });
    UOp at = g.index(0);
    std::int64_t elements = 1;
    for (std::size_t l = loops.size(); l-- > 0;) {
      at = at + loops[l] * elements;
      elements *= loops[l].range_size();
    }
    const UOp buffer = add_temporary(schedule_, g, reduce.dtype(), elements, step.device,
                                     {BufferCause::KeptReduction});
    std::vector<UOp> stores{g.store(g.place(buffer, at), reduce, loops)};
    for (UOp store : step.nests[0].sources()) stores.push_back(store);
    step.nests = {g.sink(stores)};
    step.outputs.push_back(buffer);
    step.writes.push_back(g.make(Op::Contiguous, buffer.dtype(), {buffer}));
    makers_[step.writes.back().node()] = {i};
    known_[i].nest = blocked_nest(step.nests[0]);
    return stores[0].src(0);
  }

  // What of the reads and writes of step `i` the nest loads.
  std::vector<UOp> reads_of(UOp nest, std::size_t i) const {
    std::unordered_set<const Node*> loaded;
    for (UOp load : loads(nest)) loaded.insert(load.src(0).src(0).node());
    std::vector<UOp> reads = steps_[i].reads;
    reads.insert(reads.end(), steps_[i].writes.begin(), steps_[i].writes.end());
    std::erase_if(reads, [&](UOp state) {
      const UOp buffer = output_of(state);
      return buffer && !loaded.contains(buffer.node());
    });
    return reads;
  }

  // The buffer that a nest writes for the state; null if none does.
  UOp output_of(UOp state) const {
    const auto makers = makers_.find(state.node());
    if (makers == makers_.end()) return UOp();
    const PendingStep& maker = steps_[makers->second[0]];
    const auto at = std::ranges::find(maker.writes, state) - maker.writes.begin();
    return maker.nests.empty() ? UOp() : maker.outputs[static_cast<std::size_t>(at)];
  }

  void read_instead(std::size_t reader, const Value& value, const PendingStep& maker) {
    PendingStep& step = steps_[reader];
    const std::pair<UOp, UOp> memory{value.buffer(), maker.outputs[0]};
    step.nests = {substitute(step.nests[0], std::span(&memory, 1))};
    std::ranges::replace(step.reads, value.state, maker.writes[0]);
    readers_.at(value.state.node()).erase(reader);
    readers_[maker.writes[0].node()].insert(reader);
    known_[reader].nest = blocked_nest(step.nests[0]);
    Value& own = known_[reader].value;
    if (own.store) own.store = store_to(step.nests[0], own.buffer());
  }

  static UOp store_to(UOp nest, UOp buffer) {
    for (UOp store : nest.sources()) {
      if (store.src(0).src(0) == buffer) return store;
    }
    return UOp();
  }

  std::vector<PendingStep>& steps_;
  Schedule& schedule_;
  const ScheduleContext& context_;
  std::unordered_set<const Node*> results_;
  std::unordered_map<const Node*, std::vector<std::size_t>> makers_;  // by state
  std::unordered_map<const Node*, std::set<std::size_t>> readers_;    // by state
  std::vector<Step> known_;                                           // by step
};

}  // namespace

void recompute_by_blocks(std::vector<PendingStep>& steps, std::span<const UOp> results,
                         Schedule& schedule, const ScheduleContext& context) {
  Recomputation(steps, results, schedule, context).run();
}

}  // namespace croze
