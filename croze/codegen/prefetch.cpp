// prefetch.cpp -- rows of the next tile are fetched while those of this one are multiplied.
//
//     for i in rows / 4:
//       for k:  sum[0..3] += a[4 i + 0..3, k] * b[k]
//
// reads four rows of a side by side, and then four others: of each the hardware notices only after
// some lines that it is read in order.  In turn k the loop over k therefore fetches a line of the
// next four: of row k % 4, at column k.  Where a reduction walks down the columns, each turn reads
// new lines anyway, and those of the next tile in the same turn are fetched:
//
//     for j in columns / 4:
//       for k:  sum[0..3] += a[k, 4 j + 0..3] * b[k]
#include "croze/codegen/prefetch.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <unordered_map>

#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr std::int64_t line_bytes = 64;
// A turn that reads so many lines fetches none: there is more to load than to compute.
constexpr std::size_t most_lines = 4;

// What is added to an index from one turn of a range to the next; nothing if that varies.
std::optional<std::int64_t> step_over(UOp index, UOp range) {
  std::unordered_map<const Node*, std::optional<std::int64_t>> steps;
  for (UOp u : toposort(index)) {
    std::optional<std::int64_t>& step = steps[u.node()];
    if (u == range) {
      step = 1;
    } else if (!u.varies_over(range)) {
      step = 0;
    } else if (u.is(Op::Add)) {
      const auto a = steps.at(u.src(0).node()), b = steps.at(u.src(1).node());
      if (a && b) step = *a + *b;
    } else if (u.is(Op::Mul) && u.src(1).is(Op::Const)) {
      const auto a = steps.at(u.src(0).node());
      if (a) step = *a * u.src(1).arg().value;
    } else if (u.is(Op::Cast)) {
      step = steps.at(u.src(0).node());
    }
  }
  return steps.at(index.node());
}

// An index as a sum of other terms and a number.
struct Sum {
  std::vector<const Node*> terms;
  std::int64_t number = 0;
};

Sum sum_of(UOp index) {
  Sum sum;
  std::vector<UOp> pending{index};
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    if (u.is(Op::Add)) {
      for (UOp s : u.sources()) pending.push_back(s);
    } else if (u.is(Op::Const)) {
      sum.number += u.arg().value;
    } else {
      sum.terms.push_back(u.node());
    }
  }
  std::ranges::sort(sum.terms);
  return sum;
}

// Places that differ by constants: what an unrolled tile reads of one operand.
struct Operand {
  UOp buffer;
  std::vector<const Node*> terms;
  std::vector<std::pair<std::int64_t, UOp>> places;  // by the constant
  std::int64_t inner_step = 0, outer_step = 0;       // in elements
};

std::vector<Operand> operands_of(std::span<const UOp> places, UOp inner, UOp outer) {
  std::vector<Operand> operands;
  for (UOp place : places) {
    Sum sum = sum_of(place.src(1));
    auto operand = std::ranges::find_if(operands, [&](const Operand& o) {
      return o.buffer == place.src(0) && o.terms == sum.terms;
    });
    if (operand == operands.end()) {
      const auto inner_step = step_over(place.src(1), inner);
      const auto outer_step = step_over(place.src(1), outer);
      if (!inner_step || !outer_step || *outer_step == 0) continue;
      operands.push_back({place.src(0), std::move(sum.terms), {}, *inner_step, *outer_step});
      operand = operands.end() - 1;
    }
    operand->places.emplace_back(sum.number, place);
  }
  for (Operand& operand : operands) {
    std::ranges::stable_sort(operand.places, {}, [](const auto& p) { return p.first; });
  }
  return operands;
}

UOp place_after(UOp place, UOp more) {
  const UOp index = place.src(1);
  return place.graph().place(place.src(0), index + more);
}

UOp number_like(UOp u, std::int64_t value) { return u.graph().constant(u.dtype(), value); }

// One of the rows each turn.
UOp row_of_next_turn(const Operand& operand, UOp inner) {
  const auto [first, place] = operand.places.front();
  UOp more = number_like(inner, operand.outer_step);
  if (operand.places.size() > 1) {
    const std::int64_t apart = operand.places[1].first - first;
    const auto rows = static_cast<std::int64_t>(std::bit_ceil(operand.places.size()));
    more = more + (inner & number_like(inner, rows - 1)) * number_like(inner, apart);
  }
  return place_after(place, more);
}

// The lines that the next turn reads at the same turn of the reduction.
std::vector<UOp> lines_of_next_turn(const Operand& operand, UOp inner, std::int64_t line) {
  std::vector<UOp> result;
  std::int64_t last = 0;
  for (const auto& [at, place] : operand.places) {
    if (!result.empty() && at - last < line) continue;
    result.push_back(place_after(place, number_like(inner, operand.outer_step)));
    last = at;
  }
  return result;
}

}  // namespace

std::vector<UOp> places_of_next_turn(std::span<const UOp> places, UOp inner, UOp outer) {
  const bool is_used_again =
      std::ranges::any_of(places, [&](UOp place) { return !place.src(1).varies_over(outer); });
  std::vector<UOp> result;
  if (!is_used_again) return result;
  std::vector<UOp> moving;
  std::ranges::copy_if(places, std::back_inserter(moving), [&](UOp place) {
    return place.src(0).is(Op::Param) && place.src(1).dtype() == inner.dtype();
  });
  for (const Operand& operand : operands_of(moving, inner, outer)) {
    const UOp place = operand.places.front().second;
    const std::int64_t line = line_bytes / size_of(place.src(0).dtype());
    if (operand.inner_step == 1 && operand.places.size() <= static_cast<std::size_t>(line)) {
      result.push_back(row_of_next_turn(operand, inner));
    } else if (std::abs(operand.inner_step) >= line) {
      const std::vector<UOp> lines = lines_of_next_turn(operand, inner, line);
      result.insert(result.end(), lines.begin(), lines.end());
    }
  }
  if (result.size() > most_lines) result.clear();
  return result;
}

}  // namespace croze
