// edits.cpp -- random edits of kernels.
//
// What is legal is not asked here but of the edits themselves.  Of the legal edits those are passed
// over that only cost time: code copied many times, loops padded far beyond the interpreter's
// patience.
#include "fuzz/edits.h"

#include <algorithm>

#include "croze/base/error.h"
#include "croze/codegen/edits/enumerate.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze::fuzz {
namespace {

using i64 = std::int64_t;

constexpr i64 most_edits_per_kernel = 8;
constexpr i64 most_copies = 48;           // of the body, by unrolled loops
constexpr i64 most_iterations = 1 << 16;  // if all loops stood in each other

// Kinds as often as they should come: what makes the form of a kernel richer more often than what
// ends it.
constexpr EditKind kinds[] = {
    EditKind::Split,    EditKind::Split,     EditKind::Split,          EditKind::SplitOverlapping,
    EditKind::Merge,    EditKind::Pad,       EditKind::SplitReduction, EditKind::SplitReduction,
    EditKind::Bind,     EditKind::Bind,      EditKind::Bind,           EditKind::Bind,
    EditKind::Reorder,  EditKind::Share,     EditKind::Stage,          EditKind::Stage,
    EditKind::Contract, EditKind::FillAhead, EditKind::FillAhead,      EditKind::Simplify};

bool is_affordable(const KernelState& k) {
  i64 all = 1, copies = 1;
  for (UOp u : toposort(k.sink)) {
    if (!u.is(Op::Range)) continue;
    all *= u.range_size();
    if (u.loop_kind() == LoopKind::Unroll) copies *= u.range_size();
    if (all > most_iterations || copies > most_copies) return false;
  }
  return true;
}

// Numbers near the limits of what is legal.
i64 random_number(Chance& chance) {
  constexpr i64 numbers[] = {-1, 0, 1, 2, 3, 4, 5, 8, 16, 17, 4097, i64{1} << 40, i64{1} << 62};
  return chance.one_of(numbers);
}

// An edit of any kind with names and numbers that need not fit it.
Edit any_edit(const KernelState& k, Chance& chance) {
  constexpr LoopKind loops[] = {LoopKind::Parallel, LoopKind::Reduce, LoopKind::Serial,
                                LoopKind::Thread,   LoopKind::Group,  LoopKind::Item,
                                LoopKind::Lane,     LoopKind::Unroll, LoopKind::Loop};
  Edit edit{.kind = chance.one_of(kinds)};
  const bool some = edit.kind == EditKind::Reorder || edit.kind == EditKind::Share ||
                    edit.kind == EditKind::Stage || chance.percent(10);
  const i64 count = some ? chance.below(5) : 1 + (edit.kind == EditKind::Merge);
  for (i64 i = 0; i < count; i++) edit.ranges.push_back(chance.below(k.next_range + 1));
  edit.size = random_number(chance);
  edit.loop = chance.one_of(loops);
  edit.load = chance.below(4) - 1;
  edit.space = chance.percent(50) ? Space::Thread : Space::Group;
  return edit;
}

// Any permutation, not only those that enumerate_edits() lists; the Serial loops keep their order.
Edit any_order(const KernelState& k, Chance& chance) {
  std::vector<UOp> order = k.loops, serial;
  std::ranges::copy_if(order, std::back_inserter(serial), is_serial);
  for (i64 i = std::ssize(order); i-- > 1;) {
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(chance.below(i + 1))]);
  }
  Edit edit{.kind = EditKind::Reorder};
  auto next = serial.begin();
  for (UOp r : order) edit.ranges.push_back((is_serial(r) ? *next++ : r).range_id());
  return edit;
}

// A tile over any of the loops.
Edit any_tile(const KernelState& k, Chance& chance) {
  const Legality legality(k);
  Edit edit{.kind = EditKind::Stage, .size = i64{1} << chance.below(4)};
  edit.load = chance.below(std::ssize(legality.loads()));
  edit.space = chance.percent(50) ? Space::Thread : Space::Group;
  if (edit.space == Space::Group) edit.size = 1;
  for (UOp r : legality.ranges()) {
    const bool must = edit.space == Space::Group && r.loop_kind() == LoopKind::Item;
    if (must || chance.percent(50)) edit.ranges.push_back(r.range_id());
  }
  return edit;
}

Edit drawn(const KernelState& k, Chance& chance) {
  const EditKind kind = chance.one_of(kinds);
  if (chance.percent(20)) return any_edit(k, chance);
  if (kind == EditKind::Reorder) return any_order(k, chance);
  if (kind == EditKind::Stage && chance.percent(50)) return any_tile(k, chance);
  const std::vector<Edit> legal = enumerate_edits(k, kind);
  return legal.empty() ? any_edit(k, chance) : chance.one_of(legal);
}

}  // namespace

void RandomEdits::operator()(KernelState& k) {
  const i64 tries = chance_.below(most_edits_per_kernel + 1);
  sequences_++;
  for (i64 i = 0; i < tries && std::ssize(applied_) < limit_; i++) edit_once(k);
}

void RandomEdits::edit_once(KernelState& k) {
  const Edit edit = drawn(k, chance_);
  if (!is_legal(k, edit)) return expect_refusal(k, edit);
  KernelState next = k;
  apply(next, edit);
  if (!is_affordable(next)) return;
  applied_.push_back(edit);
  k = std::move(next);
}

void RandomEdits::expect_refusal(const KernelState& k, const Edit& edit) {
  KernelState tried = k;
  try {
    apply(tried, edit);
  } catch (const InternalError&) {
    ensure(tried.sink == k.sink && tried.applied == k.applied, "edit '{}' was half made",
           to_text(edit));
    refused_++;
    return;
  }
  fail_internal({}, "edit '{}' was made although it is not legal", to_text(edit));
}

}  // namespace croze::fuzz
