// await_products.cpp -- where items wait for units that read their factors by themselves.
//
// What such a unit reads is filled anew behind the next barrier, so items wait for it in front of
// that: for all of it, or, in a loop whose tiles have slots enough (edits/warps/fill_ahead.h), for
// all but what the last turns have begun.  Sums that turns add to are wanted when the loop is over,
// others behind the units that make them.
#include "croze/codegen/await_products.h"

#include <algorithm>
#include <span>

#include "croze/base/flat_map.h"
#include "croze/codegen/edits/warps/fill_ahead.h"
#include "croze/graph/graph.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/program.h"

namespace croze {
namespace {

bool goes_on_behind(UOp u) {
  return u.is(Op::Contract) && find_matrix_unit(u.arg().as_text())->reads_group_memory;
}

// How many turns of the loop a unit may be behind that reads the place.
std::int64_t turns_behind(UOp place) {
  const UOp tile = buffer_of(place);
  return slots_of(tile) - 1 - turns_ahead(tile);
}

class Awaiting {
 public:
  explicit Awaiting(const std::vector<UOp>& instructions) : instructions_(instructions) {}

  std::vector<UOp> run() {
    find_loops();
    for (UOp u : instructions_) add(u);
    await_pending();
    return std::move(result_);
  }

 private:
  // A loop in whose turns units multiply.
  struct Turns {
    std::int64_t products = 0;  // in each
    std::int64_t behind = 0;    // turns that units may be
    std::vector<UOp> sums;
  };

  // A store of what turns have added to, for later ones.
  static bool is_update(UOp u) {
    return u.is(Op::Store) && goes_on_behind(u.src(1)) && buffer_of(u.src(0)).is(Op::Register);
  }

  void find_loops() {
    std::vector<UOp> open;
    for (UOp u : instructions_) {
      if (u.is(Op::Loop)) open.push_back(u.src(0));
      if (u.is(Op::EndLoop)) open.pop_back();
      if (is_update(u)) {
        added_to_.insert(u.src(1).node());
        loops_[open.back().node()].sums.push_back(buffer_of(u.src(0)));
      }
      if (!goes_on_behind(u)) continue;
      added_to_.insert(u.src(0).node());
      if (open.empty()) continue;
      Turns& turns = loops_[open.back().node()];
      const std::int64_t behind =
          std::min(turns_behind(u.src(1).src(0)), turns_behind(u.src(2).src(0)));
      turns.behind = turns.products++ == 0 ? behind : std::min(turns.behind, behind);
    }
  }

  void add(UOp u) {
    if (!goes_on_behind(u) && !is_read_by_unit(u)) await_pending();
    const Turns* turns = open_.empty() ? nullptr : loops_.find(open_.back().node());
    if (u.is(Op::Barrier) && turns) await(turns->products * turns->behind, {});
    result_.push_back(u);
    if (u.is(Op::Loop)) open_.push_back(u.src(0));
    if (goes_on_behind(u) && !added_to_.contains(u.node())) pending_.push_back(u);
    if (!u.is(Op::EndLoop)) return;
    if (turns) await(0, turns->sums);
    open_.pop_back();
  }

  void await_pending() {
    if (!pending_.empty()) await(0, pending_);
    pending_.clear();
  }

  void await(std::int64_t left, std::span<const UOp> sums) {
    Graph& g = instructions_.front().graph();
    result_.push_back(g.make(Op::AwaitProducts, DType::Void, sums, Arg(left)));
  }

  const std::vector<UOp>& instructions_;
  FlatMap<const Node*, Turns> loops_;
  FlatSet<const Node*> added_to_;  // sums that are not looked at before units have added more
  std::vector<UOp> open_;          // loops
  std::vector<UOp> pending_;       // sums that are
  std::vector<UOp> result_;
};

}  // namespace

std::vector<UOp> with_products_awaited(std::vector<UOp> instructions) {
  if (std::ranges::none_of(instructions, goes_on_behind)) return instructions;
  return Awaiting(instructions).run();
}

}  // namespace croze
