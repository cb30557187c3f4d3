// rare_work.cpp -- finds what is computed for one side of choices alone, and puts it into a loop
// that turns once or not at all.
//
// The nodes of one side are found from the choices down: a node belongs to it when all its uses
// have been found to.
#include "croze/codegen/lower/rare_work.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/graph/graph.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/program.h"

namespace croze {
namespace {

// Instructions on words of 32 bits that a core could have begun while it makes up for a jump that
// it foresaw wrongly: some twenty cycles of two vector instructions each, and as many again, since
// the jump is also there where it helps nobody.
constexpr std::int64_t least_work = 80;

// One side of all choices by one condition.
struct Side {
  UOp condition;
  int source = 1;              // of the choices: 1 or 2
  std::vector<UOp> choices{};  // in order
  std::vector<UOp> work{};     // users before what they use
  std::int64_t cost = 0;
};

// A vector of wide integers is several.
std::int64_t cost_of(UOp u) { return std::max<std::int64_t>(size_of(u.dtype()) / 4, 1); }

class Finder {
 public:
  explicit Finder(std::span<const UOp> order) : order_(order) {
    for (UOp u : order) {
      bool follows_memory = u.is(Op::Load);
      for (UOp s : u.sources()) {
        follows_memory = follows_memory || loaded_.contains(s.node());
        (*uses_.insert(s.node(), 0).first)++;
      }
      if (follows_memory) loaded_.insert(u.node());
    }
  }

  // All sides that are worth a jump, dearest first.
  std::vector<Side> sides() {
    std::vector<Side> result;
    FlatMap<const Node*, std::size_t> place;
    for (UOp u : order_) {
      if (!u.is(Op::Where) || !loaded_.contains(u.src(0).node())) continue;
      const auto [at, is_new] = place.insert(u.src(0).node(), result.size());
      if (is_new) {
        result.push_back({.condition = u.src(0), .source = 1});
        result.push_back({.condition = u.src(0), .source = 2});
      }
      for (std::size_t side : {*at, *at + 1}) result[side].choices.push_back(u);
    }
    for (Side& side : result) find_work(side);
    std::erase_if(result, [](const Side& side) { return side.cost < least_work; });
    std::ranges::stable_sort(result, std::greater(), &Side::cost);
    return result;
  }

 private:
  void find_work(Side& side) {
    FlatMap<const Node*, std::int64_t> found;
    const auto use = [&](UOp u) {
      const bool is_last = ++*found.insert(u.node(), 0).first == *uses_.find(u.node());
      const bool varies_alike = u.ranges() == side.condition.ranges();
      const bool is_by_lanes = is_elementwise(u.op()) || u.is(Op::Lookup);
      if (is_last && varies_alike && is_by_lanes) side.work.push_back(u);
    };
    for (UOp choice : side.choices) use(choice.src(side.source));
    for (std::size_t i = 0; i < side.work.size(); i++) {
      side.cost += cost_of(side.work[i]);
      for (UOp s : side.work[i].sources()) use(s);
    }
    std::erase_if(side.choices, [&](UOp choice) {
      return std::ranges::find(side.work, choice.src(side.source)) == side.work.end();
    });
  }

  std::span<const UOp> order_;
  FlatMap<const Node*, std::int64_t> uses_;
  NodeSet loaded_;
};

// Rebuilds the kernel, operands first.
class Jumper {
 public:
  Jumper(UOp sink, std::span<const std::int64_t> loops, std::vector<RegisterScope>& registers)
      : graph_(sink.graph()), sink_(sink), order_(toposort(sink)), registers_(registers) {
    for (std::int64_t id : loops) next_range_ = std::max(next_range_, id + 1);
    for (UOp u : order_) {
      if (u.is(Op::Range)) next_range_ = std::max(next_range_, u.range_id() + 1);
      if (is_lane(u)) lanes_.push_back(u);
    }
  }

  UOp run() {
    choose_sides();
    if (jumps_.empty()) return sink_;
    for (UOp u : order_) {
      const std::size_t* jump = jump_of_choice_.find(u.node());
      if (jump) {
        copies_.insert(u.node(), chosen(jumps_[*jump], u));
      } else if (!in_jump_.contains(u.node())) {
        copies_.insert(u.node(), copied(u));
      }
    }
    return *copies_.find(sink_.node());
  }

 private:
  struct Jump {
    Side side;
    UOp wanted, loop;  // once the condition is there
    FlatMap<const Node*, UOp> inside{};
  };

  // A side inside of another one stays there.
  void choose_sides() {
    for (Side& side : Finder(order_).sides()) {
      if (next_range_ + std::ssize(jumps_) >= RangeSet::capacity) break;
      const auto is_taken = [&](UOp u) {
        return in_jump_.contains(u.node()) || jump_of_choice_.contains(u.node());
      };
      if (std::ranges::any_of(side.work, is_taken) || std::ranges::any_of(side.choices, is_taken))
        continue;
      for (UOp u : side.work) in_jump_.insert(u.node());
      for (UOp u : side.choices) jump_of_choice_.insert(u.node(), jumps_.size());
      jumps_.push_back({.side = std::move(side), .wanted = {}, .loop = {}});
    }
  }

  UOp copied(UOp u) {
    std::vector<UOp> sources;
    bool same = true;
    for (UOp s : u.sources()) {
      sources.push_back(*copies_.find(s.node()));
      same = same && sources.back() == s;
    }
    return same ? u : graph_.make(u.op(), u.dtype(), sources, u.arg());
  }

  UOp chosen(Jump& jump, UOp choice) {
    if (!jump.loop) {
      const UOp condition = *copies_.find(jump.side.condition.node());
      jump.wanted = jump.side.source == 1 ? condition : logical_not(condition);
      jump.loop = loop_where(jump.wanted);
    }
    make_inside(jump);
    const UOp rare = *jump.inside.find(choice.src(jump.side.source).node());
    const UOp common = *copies_.find(choice.src(3 - jump.side.source).node());
    const UOp reg = new_register(jump.wanted, common.dtype());
    const UOp start = graph_.store(reg, common);
    const UOp before = graph_.load(graph_.after(reg, std::span(&start, 1)));
    const UOp update =
        graph_.store(reg, where(jump.wanted, rare, before), std::span(&jump.loop, 1));
    return graph_.load(graph_.after(reg, std::span(&update, 1)));
  }

  // As much of the work as follows from what is there already.
  void make_inside(Jump& jump) {
    for (UOp u : std::views::reverse(jump.side.work)) {
      if (jump.inside.contains(u.node())) continue;
      std::vector<UOp> sources;
      for (UOp s : u.sources()) {
        const UOp* outside = copies_.find(s.node());
        const UOp* made = outside ? outside : jump.inside.find(s.node());
        if (!made) break;
        const bool is_free = !outside || s.is_const();
        sources.push_back(is_free ? *made : graph_.after(*made, std::span(&jump.loop, 1)));
      }
      if (std::ssize(sources) == u.num_src())
        jump.inside.insert(u.node(), graph_.make(u.op(), u.dtype(), sources, u.arg()));
    }
  }

  // Turns once where any lane wants it.
  UOp loop_where(UOp wanted) {
    const UOp lane = lane_of(wanted);
    const UOp any = lane ? graph_.reduce(Op::Or, wanted, std::span(&lane, 1)) : wanted;
    const std::int64_t arg[] = {next_range_++, 1, static_cast<std::int64_t>(LoopKind::Loop)};
    return graph_.make(Op::Range, DType::Int32, {graph_.cast(any, DType::Int32)},
                       Arg(std::span(arg)));
  }

  UOp new_register(UOp like, DType t) {
    std::vector<UOp> lanes;
    if (const UOp lane = lane_of(like)) lanes.push_back(lane);
    const auto id = static_cast<std::int64_t>(registers_.size());
    registers_.push_back({like.ranges()});
    return graph_.make(Op::Register, t, lanes, Arg(id));
  }

  UOp lane_of(UOp u) const {
    const auto lane = std::ranges::find_if(lanes_, [&](UOp l) { return u.varies_over(l); });
    return lane == lanes_.end() ? UOp() : *lane;
  }

  Graph& graph_;
  UOp sink_;
  std::vector<UOp> order_, lanes_;
  std::vector<RegisterScope>& registers_;
  std::int64_t next_range_ = 0;
  std::vector<Jump> jumps_;
  NodeSet in_jump_;
  FlatMap<const Node*, std::size_t> jump_of_choice_;
  FlatMap<const Node*, UOp> copies_;
};

}  // namespace

UOp jump_over_rare_work(UOp sink, std::span<const std::int64_t> loops,
                        std::vector<RegisterScope>& registers) {
  return Jumper(sink, loops, registers).run();
}

}  // namespace croze
