// enumerate.cpp -- candidates of each kind, sifted by what is legal.
#include "croze/codegen/edits/enumerate.h"

#include <algorithm>

#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/share.h"

namespace croze {
namespace {

constexpr std::int64_t largest_inner = 4096;
constexpr std::int64_t largest_multiple = 64;
// Of tiles that overlap: rows of registers, and vectors.
constexpr std::int64_t overlapping[] = {5, 6, 7, 9, 12, 13, 14, 16, 32, 48, 64};

constexpr std::int64_t most_usual_slots = 4;  // of a tile: more only take room

constexpr EditKind kinds[] = {EditKind::Split,          EditKind::SplitOverlapping,
                              EditKind::Merge,          EditKind::Pad,
                              EditKind::SplitReduction, EditKind::Bind,
                              EditKind::Reorder,        EditKind::Share,
                              EditKind::OnePass,        EditKind::Keep,
                              EditKind::Tabulate,       EditKind::Accumulate,
                              EditKind::Contract,       EditKind::Stage,
                              EditKind::Panel,          EditKind::Simplify,
                              EditKind::FillAhead};

class Enumerator {
 public:
  explicit Enumerator(const KernelState& k) : k_(k), legality_(k) {}

  void add(EditKind kind) {
    switch (kind) {
      case EditKind::Split:
      case EditKind::SplitReduction: return add_splits(kind);
      case EditKind::SplitOverlapping: return add_overlapping_splits();
      case EditKind::Merge: return add_merges();
      case EditKind::Pad: return add_pads();
      case EditKind::Bind: return add_binds();
      case EditKind::Reorder: return add_orders();
      case EditKind::Share: return add_shares();
      case EditKind::OnePass: return add_passes();
      case EditKind::Keep: return add_keeps();
      case EditKind::Tabulate: return add_tables();
      case EditKind::Panel: return add_panels();
      case EditKind::Accumulate: return add_turns();
      case EditKind::Contract: return add_contractions();
      case EditKind::Stage: return add_tiles();
      case EditKind::Simplify: return add_if_legal({.kind = kind});
      case EditKind::FillAhead: return add_fills_ahead();
    }
  }

  std::vector<Edit> legal;

 private:
  void add_if_legal(Edit edit) {
    if (legality_.refusal(edit).empty()) legal.push_back(std::move(edit));
  }

  void add_splits(EditKind kind) {
    for (UOp r : legality_.ranges()) {
      for (std::int64_t n = 2; n <= std::min(r.range_size(), largest_inner); n++) {
        if (r.trip_divisor() % n != 0) continue;
        add_if_legal({.kind = kind, .ranges = {r.range_id()}, .size = n});
      }
    }
  }

  void add_overlapping_splits() {
    for (UOp r : legality_.ranges()) {
      for (std::int64_t n : overlapping) {
        add_if_legal({.kind = EditKind::SplitOverlapping, .ranges = {r.range_id()}, .size = n});
      }
    }
  }

  void add_merges() {
    for (UOp outer : legality_.ranges()) {
      for (UOp inner : legality_.ranges()) {
        if (outer == inner) continue;
        add_if_legal({.kind = EditKind::Merge, .ranges = {outer.range_id(), inner.range_id()}});
      }
    }
  }

  void add_pads() {
    for (UOp r : legality_.ranges()) {
      for (std::int64_t n = 2; n <= largest_multiple; n *= 2) {
        add_if_legal({.kind = EditKind::Pad, .ranges = {r.range_id()}, .size = n});
      }
    }
  }

  void add_binds() {
    constexpr LoopKind bound[] = {LoopKind::Thread, LoopKind::Group, LoopKind::Item, LoopKind::Lane,
                                  LoopKind::Unroll};
    for (UOp r : legality_.ranges()) {
      for (LoopKind loop : bound) {
        add_if_legal({.kind = EditKind::Bind, .ranges = {r.range_id()}, .loop = loop});
      }
    }
  }

  void add_orders() {
    std::vector<std::int64_t> ids;
    for (UOp r : k_.loops) ids.push_back(r.range_id());
    for (std::size_t from = 0; from < ids.size(); from++) {
      for (std::size_t to = 0; to < ids.size(); to++) {
        if (to == from || to + 1 == from) continue;  // neighbours change places once
        Edit edit{.kind = EditKind::Reorder, .ranges = ids};
        edit.ranges.erase(edit.ranges.begin() + static_cast<std::ptrdiff_t>(from));
        edit.ranges.insert(edit.ranges.begin() + static_cast<std::ptrdiff_t>(to), ids[from]);
        add_if_legal(std::move(edit));
      }
    }
  }

  void add_shares() {
    const std::vector<UOp> all = reduces(k_.sink);
    for (UOp kept : all) {
      for (UOp dropped : all) {
        Edit edit{.kind = EditKind::Share};
        for (UOp r : turning_ranges(kept)) edit.ranges.push_back(r.range_id());
        for (UOp r : turning_ranges(dropped)) edit.ranges.push_back(r.range_id());
        add_if_legal(std::move(edit));
      }
    }
  }

  void add_passes() {
    for (UOp first : legality_.ranges()) {
      for (UOp second : legality_.ranges()) {
        if (first == second || !turn_alike(first, second)) continue;
        for (std::int64_t n = 1; n < std::min(first.range_size(), largest_inner); n++) {
          add_if_legal({.kind = EditKind::OnePass,
                        .ranges = {first.range_id(), second.range_id()},
                        .size = n});
        }
      }
    }
  }

  void add_keeps() {
    for (UOp first : legality_.ranges()) {
      for (UOp second : legality_.ranges()) {
        if (first == second || !turn_alike(first, second)) continue;
        for (std::int64_t n : {std::int64_t{1}, most_lanes(k_.caps())}) {
          if (n < 1) continue;
          add_if_legal(
              {.kind = EditKind::Keep, .ranges = {first.range_id(), second.range_id()}, .size = n});
        }
      }
    }
  }

  // Over the innermost loops of a reduction.
  void add_tables() {
    for (UOp reduce : reduces(k_.sink)) {
      std::vector<std::int64_t> over;
      for (UOp r : closed_ranges(reduce)) {
        if (r.loop_kind() != LoopKind::Lane) over.push_back(r.range_id());
      }
      for (auto first = over.begin(); first != over.end(); ++first) {
        for (std::int64_t n = 1; n <= most_lanes(k_.caps()); n *= 2) {
          add_if_legal({.kind = EditKind::Tabulate, .ranges = {first, over.end()}, .size = n});
        }
      }
    }
  }

  // Over all loops that reductions close, with the lanes innermost.
  void add_panels() {
    for (UOp lanes : legality_.ranges()) {
      if (lanes.loop_kind() != LoopKind::Lane) continue;
      Edit edit{.kind = EditKind::Panel};
      for (UOp reduce : reduces(k_.sink)) {
        for (UOp r : closed_ranges(reduce)) edit.ranges.push_back(r.range_id());
      }
      edit.ranges.push_back(lanes.range_id());
      add_if_legal(std::move(edit));
    }
  }

  void add_turns() {
    for (UOp reduce : reduces(k_.sink)) {
      std::vector<std::int64_t> over;
      for (UOp r : k_.loops) {
        if (reduce.varies_over(r)) over.push_back(r.range_id());
      }
      for (UOp r : closed_ranges(reduce)) {
        for (auto first = over.begin(); first != over.end(); ++first)
          add_turns(r, {first, over.end()});
      }
    }
  }

  void add_turns(UOp range, const std::vector<std::int64_t>& over) {
    Edit edit{.kind = EditKind::Accumulate, .ranges = {range.range_id()}};
    edit.ranges.insert(edit.ranges.end(), over.begin(), over.end());
    for (edit.size = 1; edit.size < std::min(range.range_size(), largest_inner); edit.size++) {
      if (range.trip_divisor() % edit.size == 0) add_if_legal(edit);
    }
  }

  void add_contractions() {
    for (std::int64_t unit = 1; unit <= std::ssize(k_.caps().matrix_units); unit++) {
      for (UOp lanes : legality_.ranges()) {
        if (lanes.loop_kind() != LoopKind::Lane) continue;
        for (UOp depth : legality_.ranges()) {
          if (depth == lanes) continue;
          add_if_legal({.kind = EditKind::Contract,
                        .ranges = {lanes.range_id(), depth.range_id()},
                        .size = unit});
        }
      }
    }
  }

  void add_tiles() {
    for (std::size_t load = 0; load < legality_.loads().size(); load++) {
      std::vector<std::int64_t> over;
      for (UOp r : legality_.ranges()) {
        if (legality_.loads()[load].src(0).varies_over(r)) over.push_back(r.range_id());
      }
      for (std::size_t begin = 0; begin < over.size(); begin++) {
        const auto first = over.begin() + static_cast<std::ptrdiff_t>(begin);
        add_tile(load, {first, over.end()});
        if (begin + 1 < over.size()) add_tile(load, {*first});
      }
    }
  }

  void add_fills_ahead() {
    for (UOp turn : legality_.ranges()) {
      for (std::int64_t slots = 2; slots <= most_usual_slots; slots++) {
        add_if_legal({.kind = EditKind::FillAhead, .ranges = {turn.range_id()}, .size = slots});
      }
    }
  }

  void add_tile(std::size_t load, const std::vector<std::int64_t>& over) {
    Edit edit{.kind = EditKind::Stage,
              .ranges = over,
              .size = 1,
              .load = static_cast<std::int64_t>(load)};
    add_if_legal(edit);
    edit.size = most_lanes(k_.caps());
    if (edit.size > 1) add_if_legal(edit);
    edit.size = 1;
    edit.space = Space::Group;
    add_if_legal(edit);
  }

  const KernelState& k_;
  const Legality legality_;
};

}  // namespace

std::vector<Edit> enumerate_edits(const KernelState& k) {
  Enumerator all(k);
  for (EditKind kind : kinds) all.add(kind);
  return std::move(all.legal);
}

std::vector<Edit> enumerate_edits(const KernelState& k, EditKind kind) {
  Enumerator some(k);
  some.add(kind);
  return std::move(some.legal);
}

}  // namespace croze
