// llvm_index.cpp -- sums are taken apart where their parts belong to different places.
#include "croze/render/llvm_index.h"

#include <algorithm>
#include <utility>

namespace croze {
namespace {

// An index that takes more, as one does whose sums are operands of several others, stays whole.
constexpr int most_steps = 256;

}  // namespace

UOp without_after(UOp u) {
  while (u.is(Op::After)) u = u.src(0);
  return u;
}

bool fits_its_type(UOp u) {
  if (!is_integer(u.dtype())) return false;
  const auto distance = [](std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  };
  const auto divisor = static_cast<std::uint64_t>(std::max<std::int64_t>(u.bounds().multiple, 1));
  return distance(min_value(u.dtype()), u.lo()) >= divisor ||
         distance(u.hi(), max_value(u.dtype())) >= divisor;
}

IndexSplitter::IndexSplitter(const LinearProgram& program, bool by_loops) {
  int depth = 0;
  for (UOp u : program.instructions) {
    if (u.is(Op::EndLoop)) depth--;
    if (!by_loops || !u.is(Op::Loop)) continue;
    loops_.push_back(u.src(0));
    depths_.push_back(++depth);
  }
}

// The innermost loop that it varies over, as so many loops around it, itself included.
int IndexSplitter::depth_of(UOp u) const {
  int depth = 0;
  for (std::size_t i = 0; i < loops_.size(); i++) {
    if (u.varies_over(loops_[i])) depth = std::max(depth, depths_[i]);
  }
  return depth;
}

struct IndexSplitter::Sum {
  std::vector<std::pair<int, UOp>> terms;  // with their depths
  std::int64_t offset = 0;
  bool is_whole = true;  // there is nothing to take apart
};

IndexSplitter::Sum IndexSplitter::term(UOp u) const {
  if (is_lane(u)) return {.terms = {}, .is_whole = false};  // lane 0 is 0
  if (u.is_const()) return {.terms = {}, .offset = u.const_int(), .is_whole = false};
  return {.terms = {{depth_of(u), u}}};
}

// Of the addition whose operands these are: itself if they belong to one place.
IndexSplitter::Sum IndexSplitter::joined(UOp add, Sum first, const Sum& second) const {
  first.offset += second.offset;
  first.is_whole = first.is_whole && second.is_whole;
  first.terms.insert(first.terms.end(), second.terms.begin(), second.terms.end());
  const bool has_one_depth = std::ranges::all_of(
      first.terms, [&](const auto& term) { return term.first == first.terms.front().first; });
  return first.is_whole && has_one_depth ? Sum{.terms = {{depth_of(add), add}}} : std::move(first);
}

// Operands first, in a loop, however deep it is.
IndexSplitter::Sum IndexSplitter::sum_of(UOp index) const {
  std::vector<std::pair<UOp, bool>> pending{{index, false}};  // whether its operands are done
  std::vector<Sum> done;
  for (int steps = 0; !pending.empty(); steps++) {
    if (steps == most_steps) return {.terms = {{depth_of(index), index}}};
    const auto [u, has_operands] = pending.back();
    pending.pop_back();
    if (has_operands) {
      const Sum second = std::move(done.back());
      done.pop_back();
      done.back() = joined(u, std::move(done.back()), second);
    } else if (u.is(Op::Add) && fits_its_type(u)) {
      pending.insert(pending.end(), {{u, true}, {u.src(1), false}, {u.src(0), false}});
    } else {
      done.push_back(term(u));
    }
  }
  return std::move(done[0]);
}

SplitIndex IndexSplitter::split(UOp place) const {
  Sum sum = sum_of(place.src(1));
  std::ranges::stable_sort(sum.terms, {}, [](const auto& term) { return term.first; });
  SplitIndex result{.terms = {}, .offset = sum.offset};
  for (const auto& [depth, term] : sum.terms) result.terms.push_back(term);
  return result;
}

}  // namespace croze
