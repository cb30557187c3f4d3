// group_copies.cpp -- stores of what was just loaded become copies, and barriers await them.
//
// A turn of the loop begins the copies that the turn after so many others reads, and the barrier at
// its head awaits those that it reads itself.  What is begun between two such barriers is a batch,
// and batches come in their order: where tiles are filled n turns ahead those of the last n - 1
// turns may still be on their way.  The copies for the first turns are one batch, which is waited
// for in front of the loop where it is for more than one turn.  Boxes (Op::CopyBox) are copies,
// too; those to a tile that is not filled ahead are awaited by the next barrier.
#include "croze/codegen/group_copies.h"

#include <algorithm>
#include <utility>

#include "croze/base/flat_map.h"
#include "croze/codegen/edits/warps/fill_ahead.h"
#include "croze/graph/graph.h"
#include "croze/render/lane_form.h"

namespace croze {
namespace {

class GroupCopies {
 public:
  GroupCopies(const LinearProgram& program, bool of_items)
      : program_(program), of_items_(of_items), forms_(program) {
    for (UOp u : program.instructions) {
      for (UOp s : u.sources()) users_[s.node()]++;
      if (u.is(Op::Store)) written_.insert(buffer_of(u.src(0)).node());
    }
  }

  std::vector<UOp> run() {
    find_copies();
    if (copied_.empty() && !has_boxes_) return program_.instructions;
    for (UOp u : program_.instructions) add(u);
    return std::move(result_);
  }

 private:
  // ---- what is a copy ----

  void find_copies() {
    for (UOp u : program_.instructions) {
      const bool is_box = u.is(Op::CopyBox);
      has_boxes_ = has_boxes_ || is_box;
      if (!is_box && (!of_items_ || !u.is(Op::Store) || !is_copy_of_row(u))) continue;
      if (!is_box) copied_.insert(u.src(1).node());
      const UOp tile = buffer_of(u.src(0));
      if (slots_of(tile) < 2) continue;
      tiles_.emplace_back(turns_of_slots(tile, program_.instructions), turns_ahead(tile));
    }
  }

  // How many turns of the loop ahead tiles are copied, at least; 0: there are none.
  std::int64_t ahead_in(UOp loop) const {
    std::int64_t ahead = 0;
    for (const auto& [turns, count] : tiles_) {
      if (turns.contains(loop.range_id())) ahead = ahead == 0 ? count : std::min(ahead, count);
    }
    return ahead;
  }

  bool is_copy_of_row(UOp store) const {
    const UOp to = store.src(0), tile = buffer_of(to), value = store.src(1);
    if (!is_group_tile(tile) || slots_of(tile) < 2 || !value.is(Op::Load)) return false;
    const UOp from = value.src(0), buffer = buffer_of(from);
    if (!buffer.is(Op::Param) || written_.contains(buffer.node()) || *users_.find(value.node()) > 1)
      return false;
    const LaneForm at = forms_.of(to.src(1));
    const std::int64_t bytes = at.lanes * size_of(value.dtype());
    const bool is_possible = bytes == 4 || bytes == 8 || bytes == 16;
    return is_possible && forms_.of(from.src(1)).lanes == at.lanes && is_row(to, bytes) &&
           is_row(from, bytes);
  }

  // Whether the lanes are neighbours behind one gate, and the first is a multiple of all of them.
  bool is_row(UOp place, std::int64_t bytes) const {
    const LaneForm at = forms_.of(place.src(1));
    if (place.num_src() > 2 && forms_.of(place.src(2)).lanes > 1) return false;
    if (at.lanes == 1) return true;
    const std::int64_t first = multiple_in_first_lane(place.src(1)) * size_of(place.dtype());
    return at.affine && at.step == 1 && first % bytes == 0;
  }

  // ---- the instructions ----

  void add(UOp u) {
    if (u.is(Op::Loop)) return begin_loop(u);
    if (u.is(Op::EndLoop)) return end_loop(u);
    if (u.is(Op::Barrier) && !waiting_.empty() && waiting_.back() >= 0) {
      await(has_begun_box_ ? 0 : waiting_.back());
      waiting_.back() = none;
      return;
    }
    if (u.is(Op::Barrier) && has_begun_box_) return await(0);
    has_begun_box_ = has_begun_box_ || (u.is(Op::CopyBox) && slots_of(buffer_of(u.src(0))) < 2);
    if (copied_.contains(u.node())) return;  // the load
    const bool copies = u.is(Op::Store) && copied_.contains(u.src(1).node());
    result_.push_back(copies ? begun(u) : u);
  }

  // A store of a place.
  UOp begun(UOp store) const {
    std::vector<UOp> src;
    for (UOp s : store.sources()) src.push_back(s == store.src(1) ? s.src(0) : s);
    return store.graph().with_sources(store, src);
  }

  void begin_loop(UOp u) {
    const std::int64_t ahead = ahead_in(u.src(0));
    if (ahead > 1) await(0);
    result_.push_back(u);
    waiting_.push_back(ahead > 0 ? ahead - 1 : none);
  }

  // One that turns less often than there are slots leaves copies on their way.
  void end_loop(UOp u) {
    result_.push_back(u);
    waiting_.pop_back();
    if (ahead_in(u.src(0)) > 0 && u.src(0).is_open()) await(0);
  }

  void await(std::int64_t batches) {
    if (batches == 0) has_begun_box_ = false;
    result_.push_back(program_.graph->make(Op::Barrier, DType::Void, {}, Arg(batches)));
  }

  static constexpr std::int64_t none = -1;

  const LinearProgram& program_;
  const bool of_items_;  // what they store is copied
  const LaneForms forms_;
  FlatMap<const Node*, int> users_;
  FlatSet<const Node*> written_;
  FlatSet<const Node*> copied_;  // loads
  bool has_boxes_ = false;
  bool has_begun_box_ = false;  // that the next barrier awaits
  // The turns of those they go to, and how many of them ahead.
  std::vector<std::pair<RangeSet, std::int64_t>> tiles_;
  // Of each open loop, how many batches its next barrier leaves on their way.
  std::vector<std::int64_t> waiting_;
  std::vector<UOp> result_;
};

}  // namespace

std::vector<UOp> with_copies_begun(const LinearProgram& program, bool of_items) {
  return GroupCopies(program, of_items).run();
}

}  // namespace croze
