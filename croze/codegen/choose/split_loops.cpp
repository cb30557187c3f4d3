// split_loops.cpp -- loops cut in two where that leaves less to compute.
#include "croze/codegen/choose/split_loops.h"

#include <algorithm>

#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr std::int64_t most_results = 1 << 20;
// Parts from which one more, of iterations that do nothing, is worth having parts.
constexpr std::int64_t least_parts = 8;

struct Cut {
  UOp range;
  std::int64_t inner_size;
  bool operator==(const Cut&) const = default;
};

// What is computed beside the values: first divisions, by how many results they have, then choices.
struct Overhead {
  std::int64_t divisions = 0, choices = 0;
  auto operator<=>(const Overhead&) const = default;
};

Overhead overhead_of(UOp sink) {
  Overhead result;
  std::vector<UOp> ranges;
  for (UOp u : toposort(sink)) {
    if (u.is(Op::Range)) ranges.push_back(u);
    if (u.is(Op::IDiv) || u.is(Op::Mod)) {
      std::int64_t results = 1;
      for (UOp r : ranges) {
        if (u.varies_over(r)) results = std::min(most_results, results * r.range_size());
      }
      result.divisions += results;
    }
    result.choices += u.is(Op::Where) || (u.is(Op::Index) && u.num_src() == 3);
  }
  return result;
}

class Cuts {
 public:
  explicit Cuts(UOp sink) {
    for (UOp u : toposort(sink)) {
      if ((u.is(Op::IDiv) || u.is(Op::Mod)) && u.src(1).is_const()) {
        add_division(u.src(0), u.src(1).const_int());
      } else if (u.is(Op::Where)) {
        add_comparison(u.src(0));
      }
    }
  }

  std::vector<Cut> all;

 private:
  void add(UOp range, std::int64_t inner_size) {
    if (!range.is(Op::Range) || inner_size < 2 || inner_size >= range.range_size()) return;
    const Cut cut{range, inner_size};
    const bool even = range.trip_divisor() % inner_size == 0;
    const bool padded =
        is_parallel(range) && !range.is_open() && range.range_size() >= least_parts * inner_size;
    if ((even || padded) && std::ranges::find(all, cut) == all.end()) all.push_back(cut);
  }

  // Of r, or of r + c: phases of r.
  void add_division(UOp x, std::int64_t divisor) {
    const bool is_moved = x.is(Op::Add) && x.src(1).is_const();
    add(is_moved ? x.src(0) : x, divisor);
  }

  // r < c, or -r < 1 - c, which is c <= r.
  void add_comparison(UOp u) {
    if (!u.is(Op::Lt) || u.src(0).dtype() != DType::Index || !u.src(1).is_const()) return;
    const UOp x = u.src(0);
    const std::int64_t bound = u.src(1).const_int();
    add(x, bound);
    if (x.is(Op::Mul) && x.src(1).is_const(-1)) add(x.src(0), 1 - bound);
  }
};

}  // namespace

void split_loops(KernelState& k) {
  for (bool split_one = true; split_one;) {
    split_one = false;
    KernelState best = k;
    Overhead least = overhead_of(k.sink);
    for (const Cut& cut : Cuts(k.sink).all) {
      if (k.next_range + 2 > RangeSet::capacity) return;
      KernelState tried = k;
      split(tried, pad(tried, cut.range, cut.inner_size), cut.inner_size);
      simplify(tried);
      const Overhead overhead = overhead_of(tried.sink);
      if (overhead >= least) continue;
      least = overhead;
      best = std::move(tried);
      split_one = true;
    }
    k = std::move(best);
  }
}

}  // namespace croze
