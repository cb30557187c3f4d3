// neighbours.cpp -- steps of the search.
//
// The ids of ranges follow from the edits before, so a list whose sizes change still names the same
// loops; one that lost an edit may name others.  That does no harm: what a kernel does not take is
// left out, and what it takes computes the same.
#include "croze/tune/neighbours.h"

#include <algorithm>
#include <random>
#include <utility>

#include "croze/codegen/edits/enumerate.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"

namespace croze::tune {
namespace {

constexpr std::int64_t least_size = 2;
// Copies of the code beyond these fill registers and the cache of instructions.
constexpr std::int64_t most_copies = 16;

class Neighbours {
 public:
  explicit Neighbours(const EditList& edits) : edits_(edits) {}

  std::vector<EditList> proposals;

  void resize() {
    for (std::size_t i = 0; i < edits_.size(); i++) {
      if (edits_[i].size < least_size || edits_[i].kind == EditKind::Stage) continue;
      for (const std::int64_t size : sizes_near(edits_[i].size)) propose_size(i, size);
    }
  }

  void leave_out() {
    for (std::size_t i = 0; i < edits_.size(); i++) {
      EditList list = edits_;
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
      proposals.push_back(std::move(list));
    }
  }

  void exchange() {
    for (std::size_t i = 0; i < edits_.size(); i++) {
      if (edits_[i].kind != EditKind::Reorder) continue;
      for (std::size_t r = 1; r < edits_[i].ranges.size(); r++) {
        EditList list = edits_;
        std::swap(list[i].ranges[r - 1], list[i].ranges[r]);
        proposals.push_back(std::move(list));
      }
    }
  }

  // `k`: the kernel after the edits.
  void append(const KernelState& k) {
    for (const EditKind kind :
         {EditKind::Bind, EditKind::Reorder, EditKind::Stage, EditKind::Accumulate}) {
      for (Edit& edit : enumerate_edits(k, kind)) {
        if (copies_too_much(k, edit)) continue;
        proposals.push_back(edits_);
        proposals.back().push_back(std::move(edit));
      }
    }
  }

 private:
  static std::vector<std::int64_t> sizes_near(std::int64_t size) {
    std::vector<std::int64_t> sizes{size * 2, size / 2, size + 1,     size - 1, size + 2,
                                    size - 2, size * 4, size * 3 / 2, size / 4};
    std::erase_if(sizes, [](std::int64_t s) { return s < least_size; });
    return sizes;
  }

  // A size that does not divide its loop makes the last part overlap the one before.
  void propose_size(std::size_t i, std::int64_t size) {
    EditList list = edits_;
    list[i].size = size;
    proposals.push_back(list);
    if (list[i].kind != EditKind::Split && list[i].kind != EditKind::SplitOverlapping) return;
    list[i].kind = list[i].kind == EditKind::Split ? EditKind::SplitOverlapping : EditKind::Split;
    proposals.push_back(std::move(list));
  }

  static bool copies_too_much(const KernelState& k, const Edit& edit) {
    if (edit.kind != EditKind::Bind || edit.loop != LoopKind::Unroll) return false;
    const UOp range = Legality(k).range(edit.ranges[0]);
    return range.range_size() > most_copies;
  }

  const EditList& edits_;
};

}  // namespace

std::vector<EditList> neighbours(UOp kernel, const Caps& caps, const EditList& edits,
                                 std::size_t most, std::uint64_t seed) {
  Graph graph;
  const UOp sink = editable_kernel(kernel, graph);
  Neighbours near(edits);
  near.resize();
  near.leave_out();
  near.exchange();
  KernelState edited(sink, caps);
  if (try_apply_all(edited, edits)) near.append(edited);

  std::mt19937_64 random(seed);
  std::ranges::shuffle(near.proposals, random);
  std::vector<EditList> legal;
  for (EditList& list : near.proposals) {
    if (legal.size() == most) break;
    KernelState k(sink, caps);
    if (try_apply_all(k, list)) legal.push_back(std::move(list));
  }
  return legal;
}

}  // namespace croze::tune
