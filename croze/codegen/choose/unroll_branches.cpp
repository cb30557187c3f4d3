// unroll_branches.cpp -- what a loop's variable chooses between becomes copies of the code.
//
//     for i in 3:  y[i] = i < 1 ? a : i < 2 ? b : c     is     y[0] = a;  y[1] = b;  y[2] = c
//
// A short loop always is.  Of a longer one the copies must be about as much code as what they are
// copies of, as those of a stack are, each of which has one of its parts left.  A network that
// sorts makes such choices, too, but most of the work is between them, and in each copy.
#include "croze/codegen/choose/unroll_branches.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "croze/codegen/edits/transform.h"
#include "croze/graph/graph.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

constexpr std::int64_t longest_short_loop = 4, most_copies = 128;

// The copies may be so many times as much code as the loop's body.
constexpr std::int64_t most_growth = 2;

bool decides(UOp loop, UOp choice) {
  return choice.is(Op::Where) && choice.src(0).ranges().count() == 1 &&
         choice.src(0).varies_over(loop);
}

// What is loaded, and all that follows from it.  What that chooses between is in every copy.
NodeSet read_from_memory(std::span<const UOp> order) {
  NodeSet read;
  for (UOp u : order) {
    bool follows = u.is(Op::Load);
    for (UOp s : u.sources()) follows = follows || read.contains(s.node());
    if (follows) read.insert(u.node());
  }
  return read;
}

bool decides_any(UOp loop, std::span<const UOp> order) {
  std::vector<UOp> choices;
  std::ranges::copy_if(order, std::back_inserter(choices), [&](UOp u) { return decides(loop, u); });
  if (choices.empty()) return false;
  const NodeSet read = read_from_memory(order);
  return std::ranges::any_of(choices, [&](UOp u) { return !read.contains(u.src(0).node()); });
}

// What copies have in common is there once.
bool copies_are_small(UOp store, UOp loop) {
  const std::array body{store.src(0), store.src(1)};
  const std::size_t most = most_growth * toposort(body).size();
  NodeSet copied;
  for (std::int64_t i = 0; i < loop.range_size(); i++) {
    const std::array value{std::pair{loop, store.graph().constant(loop.dtype(), i)}};
    for (UOp part : body) {
      const UOp copy[] = {rewrite(substitute(part, value), simplify_rules())};
      toposort(copy, copied);
    }
    if (std::cmp_greater(copied.size(), most)) return false;
  }
  return true;
}

bool is_worth_copies(const KernelState& k, UOp loop) {
  if (!is_parallel(loop) || loop.is_open() || loop.range_size() > most_copies) return false;
  const std::vector<UOp> nodes = toposort(k.sink);
  if (!decides_any(loop, nodes)) return false;
  if (loop.range_size() <= longest_short_loop) return true;
  return std::ranges::all_of(nodes,
                             [&](UOp u) { return !u.is(Op::Store) || copies_are_small(u, loop); });
}

}  // namespace

void unroll_branches(KernelState& k) {
  if (!reduces(k.sink).empty()) return;
  for (UOp loop : std::vector<UOp>(k.loops)) {
    if (is_worth_copies(k, loop)) bind(k, loop, LoopKind::Unroll);
  }
}

}  // namespace croze
