// sums_in_lanes.cpp -- sums over lanes that are stored side by side.
//
//     y[0] = b[0] + sum of the lanes of s0;  ..  y[15] = b[15] + sum of the lanes of s15
//
// takes a shuffle and an addition for each bit of a lane's number, sixteen times, and then goes on
// with scalars.  Of two vectors one addition makes one in which lanes of the one sum and of the
// other take turns, if lanes whose numbers differ in a bit are exchanged first: with half as many
// vectors for each bit, fifteen additions make one vector of the sixteen sums, one in each lane.
// What is computed of them and stored is a vector, too.  So ends a tile whose reduction has the
// lanes, like that of a product of a few rows by a matrix that lies transposed.
#include "croze/codegen/lower/sums_in_lanes.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/lower/transpose.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/program.h"

namespace croze {
namespace {

constexpr std::int64_t least_lanes = 4;

bool is_over_lanes(UOp u) { return u.is(Op::Reduce) && u.num_src() == 2 && is_lane(u.src(1)); }

// The lanes that are summed up on the way to a scalar; null if none are, or others, too.
UOp summed_lanes(UOp value) {
  UOp lane;
  for (UOp u : toposort(value)) {
    if (!is_over_lanes(u)) continue;
    if (lane && lane != u.src(1)) return UOp();
    lane = u.src(1);
  }
  return lane;
}

// Reductions of one value that follow each other, as the maximum of a row and the sum of its
// exponentials, have lanes of their own.  The same serve all of as many, where nothing has both.
UOp with_shared_lanes(UOp sink) {
  const std::vector<UOp> all = toposort(sink);
  std::vector<UOp> lanes;
  for (UOp u : all) {
    if (is_over_lanes(u) && std::ranges::find(lanes, u.src(1)) == lanes.end()) {
      lanes.push_back(u.src(1));
    }
  }
  std::vector<std::pair<UOp, UOp>> shared;
  for (std::size_t i = 1; i < lanes.size(); i++) {
    const UOp first = lanes[0], lane = lanes[i];
    if (lane.range_size() != first.range_size()) return sink;
    if (std::ranges::any_of(all,
                            [&](UOp u) { return u.varies_over(lane) && u.varies_over(first); })) {
      return sink;
    }
    shared.emplace_back(lane, first);
  }
  return shared.empty() ? sink : substitute(sink, shared);
}

// Places by their constant, which differ in it alone.
struct Family {
  UOp lane;
  std::map<std::int64_t, UOp> stores;
};
using Key = std::vector<std::int64_t>;  // in the order of the ids of nodes: the same in every run

class SumsInLanes {
 public:
  SumsInLanes(UOp sink, const Caps& caps) : sink_(sink), graph_(sink.graph()), caps_(caps) {
    for (UOp u : toposort(sink)) {
      if (is_write(u)) stored_.insert(buffer_of(u.src(0)).node());
    }
  }

  UOp kept() {
    std::map<Key, Family> families;
    for (UOp u : sink_.sources()) {
      if (u.is(Op::Store)) add_to(families, u);
    }
    for (const auto& [key, family] : families) make_vectors(family);
    if (replaced_.empty()) return sink_;
    std::vector<UOp> effects;
    for (UOp u : sink_.sources()) {
      const auto with = replaced_.find(u.id());
      const UOp effect = with == replaced_.end() ? u : with->second;
      if (std::ranges::find(effects, effect) == effects.end()) effects.push_back(effect);
    }
    return graph_.with_sources(sink_, effects);
  }

 private:
  void add_to(std::map<Key, Family>& families, UOp store) const {
    const UOp place = store.src(0), value = store.src(1);
    if (!place.is(Op::Index) || place.num_src() != 2 || !place.src(0).is(Op::Param)) return;
    const UOp lane = summed_lanes(value);
    if (!lane || value.varies_over(lane) || place.varies_over(lane) || !has_lanes(value, lane))
      return;
    LinearForm form = LinearForm::of(place.src(1));
    const std::int64_t constant = std::exchange(form.constant, 0);
    Key key{place.src(0).id(), form.build(graph_).id(), lane.id()};
    for (UOp r : closed_ranges(store)) key.push_back(r.id());
    families.try_emplace(key, Family{lane, {}}).first->second.stores.emplace(constant, store);
  }

  bool has_lanes(UOp value, UOp lane) const {
    const std::int64_t lanes = lane.range_size();
    return lanes >= least_lanes && std::has_single_bit(static_cast<std::uint64_t>(lanes)) &&
           can_exchange(value.dtype(), caps_) && caps_.has_dtype(value.dtype());
  }

  void make_vectors(const Family& family) {
    const auto lanes = static_cast<std::size_t>(family.lane.range_size());
    std::vector<UOp> stores;
    for (const auto& [constant, store] : family.stores) stores.push_back(store);
    for (std::size_t i = 0; i + lanes <= stores.size(); i += lanes) {
      make_vector(std::span(stores).subspan(i, lanes), family.lane);
    }
  }

  void make_vector(std::span<const UOp> stores, UOp lane) {
    lane_ = lane;
    run_ = run_length(stores);
    if (run_ < 2) return;
    const UOp place = side_by_side(sources(stores, 0));
    const UOp value = place ? vector_of(sources(stores, 1)) : UOp();
    if (!value) return;
    std::vector<UOp> closed = closed_ranges(stores[0]);
    closed.push_back(lane);
    const UOp vector = graph_.store(place, value, closed);
    for (UOp store : stores) replaced_.emplace(store.id(), vector);
  }

  static std::vector<UOp> sources(std::span<const UOp> nodes, int i) {
    std::vector<UOp> result;
    for (UOp u : nodes) result.push_back(u.src(i));
    return result;
  }

  static std::int64_t constant_of(UOp place) { return LinearForm::of(place.src(1)).constant; }

  // How many of the places follow each other, over and over, a power of two.
  static std::int64_t run_length(std::span<const UOp> stores) {
    std::size_t run = 1;
    const std::int64_t first = constant_of(stores[0].src(0));
    while (run < stores.size() &&
           constant_of(stores[run].src(0)) == first + static_cast<std::int64_t>(run))
      run++;
    return std::has_single_bit(run) ? static_cast<std::int64_t>(run) : 1;
  }

  // One place for all lanes; null if they are not in runs like those that are stored.
  UOp side_by_side(const std::vector<UOp>& places) const {
    LinearForm form = LinearForm::of(places[0].src(1));
    std::vector<std::int64_t> apart;
    for (UOp place : places) {
      if (!place.is(Op::Index) || place.num_src() != 2 || place.src(0) != places[0].src(0))
        return {};
      LinearForm rest = LinearForm::of(place.src(1));
      apart.push_back(rest.constant - form.constant);
      rest.constant = form.constant;
      if (rest.build(graph_) != places[0].src(1)) return {};
    }
    const auto run = static_cast<std::size_t>(run_);
    const std::int64_t step = apart[1], jump = run < apart.size() ? apart[run] : 0;
    for (std::size_t i = 0; i < apart.size(); i++) {
      if (apart[i] !=
          static_cast<std::int64_t>(i % run) * step + static_cast<std::int64_t>(i / run) * jump)
        return {};
    }
    UOp index = places[0].src(1) + lane_ % run_ * step;
    if (jump != 0) index = index + lane_ / run_ * jump;
    return graph_.place(places[0].src(0), index);
  }

  // The values, one in each lane, or what all of them are; null if they are computed otherwise.
  UOp vector_of(const std::vector<UOp>& values) const {
    const UOp first = values[0];
    if (std::ranges::all_of(values, [&](UOp v) { return v == first; })) return first;
    const bool alike = std::ranges::all_of(values, [&](UOp v) {
      return v.op() == first.op() && v.dtype() == first.dtype() && v.num_src() == first.num_src() &&
             v.arg() == first.arg();
    });
    if (!alike) return {};
    if (is_over_lanes(first)) return combined(values);
    if (first.is(Op::Load)) {
      const UOp buffer = first.src(0).src(0);
      if (first.num_src() != 1 || !buffer.is(Op::Param) || stored_.contains(buffer.node()))
        return {};
      const UOp place = side_by_side(sources(values, 0));
      return place ? graph_.load(place) : UOp();
    }
    if (!is_elementwise(first.op()) || first.num_src() == 0) return {};
    std::vector<UOp> operands;
    for (int i = 0; i < first.num_src(); i++) {
      operands.push_back(
          vector_of(is_commutative(first.op()) ? like_operands(values, i) : sources(values, i)));
      if (!operands.back()) return {};
    }
    return graph_.with_sources(first, operands);
  }

  // Of an operation whose operands are in an order of their own in each value.
  static std::vector<UOp> like_operands(const std::vector<UOp>& values, int i) {
    const auto are_alike = [](UOp x, UOp y) {
      return x == y ||
             (x.op() == y.op() && (!x.is(Op::Load) || x.src(0).src(0) == y.src(0).src(0)));
    };
    const UOp first = values[0];
    std::vector<UOp> result;
    for (UOp v : values) {
      const bool in_order = are_alike(v.src(0), first.src(0)) && are_alike(v.src(1), first.src(1));
      result.push_back(v.src(in_order ? i : 1 - i));
    }
    return result;
  }

  // Bit by bit from the lowest, which numbers neighbours.
  UOp combined(const std::vector<UOp>& sums) const {
    std::vector<UOp> vectors = sources(sums, 0);
    for (UOp s : sums) {
      if (s.src(1) != lane_ || !s.src(0).varies_over(lane_)) return {};
    }
    const auto exchange = [&](UOp x, UOp y, std::int64_t bit) {
      return graph_.make(Op::Exchange, x.dtype(), {x, y}, Arg(bit));
    };
    for (std::int64_t bit = 1; vectors.size() > 1; bit *= 2) {
      std::vector<UOp> halves;
      for (std::size_t i = 0; i < vectors.size(); i += 2) {
        const UOp x = vectors[i], y = vectors[i + 1];
        halves.push_back(
            graph_.alu(sums[0].reduce_op(), {exchange(x, y, bit), exchange(x, y, -bit)}));
      }
      vectors = std::move(halves);
    }
    return vectors[0];
  }

  UOp sink_;
  Graph& graph_;
  const Caps& caps_;
  NodeSet stored_;  // buffers
  std::map<std::uint32_t, UOp> replaced_;
  UOp lane_;              // of the vector that is made
  std::int64_t run_ = 1;  // lanes that are stored side by side
};

}  // namespace

UOp keep_sums_in_lanes(UOp sink, const Caps& caps) {
  if (!caps.exchanges_lanes) return sink;
  const UOp shared = with_shared_lanes(sink), kept = SumsInLanes(shared, caps).kept();
  return kept == shared ? sink : kept;
}

}  // namespace croze
