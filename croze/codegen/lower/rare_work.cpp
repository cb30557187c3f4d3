// rare_work.cpp -- puts what is computed for one side of choices alone into a loop that turns once
// or not at all.
#include "croze/codegen/lower/rare_work.h"

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/codegen/lower/rare_sides.h"
#include "croze/graph/graph.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/program.h"

namespace croze {
namespace {

// Rebuilds the kernel, operands first.
class Jumper {
 public:
  Jumper(UOp sink, std::span<const std::int64_t> loops, std::vector<RegisterScope>& registers)
      : graph_(sink.graph()), sink_(sink), order_(toposort(sink)), registers_(registers) {
    // A register also names loops that have become copies of the code.
    for (const RegisterScope& scope : registers) used_ids_ = used_ids_ | scope.outer;
    for (std::int64_t id : loops) used_ids_ = used_ids_ | RangeSet::of(id);
    for (UOp u : order_) {
      if (u.is(Op::Range)) used_ids_ = used_ids_ | RangeSet::of(u.range_id());
      if (is_lane(u)) lanes_.push_back(u);
    }
    choose_sides(loops);
  }

  UOp run() {
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
    RareSide side;
    UOp wanted, loop;  // once the condition is there
    FlatMap<const Node*, UOp> inside{};
  };

  void choose_sides(std::span<const std::int64_t> loops) {
    for (RareSide& side : rare_sides(order_, loops)) {
      if (used_ids_.count() + std::ssize(jumps_) >= RangeSet::capacity) break;
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
    const UOp reg = new_register(choice, common.dtype());
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
        const bool is_free = !outside || s.is_const() || s.is(Op::Param) || is_lane(s);
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
    const std::int64_t arg[] = {new_range_id(), 1, static_cast<std::int64_t>(LoopKind::Loop)};
    return graph_.make(Op::Range, DType::Int32, {graph_.cast(any, DType::Int32)},
                       Arg(std::span(arg)));
  }

  std::int64_t new_range_id() {
    std::int64_t id = 0;
    while (used_ids_.contains(id)) id++;
    used_ids_ = used_ids_ | RangeSet::of(id);
    return id;
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
  RangeSet used_ids_;
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
