// random_index.cpp -- drawing leaves near the edges of types, and expressions near those of rules.
#include "croze/prove/random_index.h"

#include <algorithm>

#include "croze/graph/graph.h"

namespace croze {
namespace {

using i64 = std::int64_t;

constexpr i64 few_values = 1024;  // of all leaves together

}  // namespace

RandomIndex::RandomIndex(Graph& graph, std::mt19937_64& random, bool wide)
    : graph_(graph), random_(random), wide_(wide) {
  draw_leaves();
}

void RandomIndex::narrow() {
  if (!wide_) return;
  wide_ = false;
  leaves_.clear();
  draw_leaves();
}

void RandomIndex::draw_leaves() {
  constexpr i64 small[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16},
                large[] = {60, 128, 384, 1000, 4096, 50257};
  i64 values = 1;
  for (i64 id = 0; id < 4; id++) {
    const i64 size = wide_ ? large[pick(6)] : small[pick(10)];
    if (!wide_ && values * size > few_values) continue;
    values *= size;
    // A variable can begin anywhere, a range begins at 0.
    const bool is_variable = pick(3) == 0;
    const i64 lo = pick(2) ? -pick(9) : pick(20) - 10;
    leaves_.push_back(is_variable ? graph_.variable(id, lo, lo + size - 1)
                                  : graph_.range(id, size, LoopKind::Parallel));
  }
  trip_ = UOp();
  if (!wide_ && pick(3) == 0) draw_open_range(4);
}

// A loop whose trip count is a Variable, or made of one.
void RandomIndex::draw_open_range(i64 id) {
  const UOp v = graph_.variable(20, pick(2), 1 + pick(6));
  const UOp trips[] = {v, v, v * 2, (v + 3) / 4, (v + 1) / 2 * 2};
  trip_ = trips[pick(5)];
  leaves_.push_back(graph_.range(id, trip_, LoopKind::Parallel));
  leaves_.push_back(trip_);
}

i64 RandomIndex::pick(i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(random_); }

i64 RandomIndex::number() {
  if (pick(24) == 0) return (i64{1} << (16 + pick(16))) + pick(3) - 1;
  return pick(2) ? pick(7) - 2 : pick(80) - 24;
}

i64 RandomIndex::divisor() {
  constexpr i64 common[] = {2, 3, 4, 4, 5, 6, 7, 8, 8, 12, 16, 24, 60, 1, -3, 0};
  return wide_ ? common[pick(13)] : common[pick(16)];
}

RandomIndex::Pair RandomIndex::constant_pair(i64 value) {
  return {graph_.index(value), graph_.index(value)};
}

RandomIndex::Pair RandomIndex::combine(Op op, const Pair& a, const Pair& b) {
  return {graph_.make(op, DType::Index, {a.plain, b.plain}),
          graph_.alu(op, {a.canonical, b.canonical})};
}

RandomIndex::Pair RandomIndex::index(int depth) {
  if (wide_) depth = std::min(depth, 2);
  if (depth == 0 || pick(8) == 0) {
    const UOp leaf = leaves_[static_cast<std::size_t>(pick(static_cast<i64>(leaves_.size())))];
    return {leaf, leaf};
  }
  const Pair a = index(depth - 1);
  if (trip_ && pick(3) == 0) {
    constexpr Op by_trip[] = {Op::Mul, Op::IDiv, Op::Mod};
    return combine(by_trip[pick(3)], a, {trip_, trip_});
  }
  // Sums of products of large numbers would leave 64 bits.
  const bool is_large = a.canonical.hi() > (i64{1} << 36) || a.canonical.lo() < -(i64{1} << 36);
  const i64 kind = is_large ? 6 + pick(4) : pick(12);
  if (kind < 3) return combine(Op::Add, a, index(depth - 1));
  if (kind < 4) return combine(Op::Add, a, constant_pair(number()));
  if (kind < 6) return combine(Op::Mul, a, constant_pair(number()));
  if (kind < 8) return combine(Op::IDiv, a, constant_pair(divisor()));
  if (kind < 10) return combine(Op::Mod, a, constant_pair(divisor()));
  if (wide_) return combine(Op::Add, a, index(depth - 1));
  constexpr Op others[] = {Op::Mul, Op::IDiv, Op::Mod, Op::Mul, Op::Add};
  return combine(others[pick(5)], a, index(std::min(depth - 1, 1)));
}

UOp RandomIndex::condition(int depth) {
  if (depth > 0 && pick(2) == 0) {
    const UOp a = condition(depth - 1);
    if (pick(4) == 0) return graph_.alu(Op::Not, {a});
    return graph_.alu(pick(3) ? Op::And : Op::Or, {a, condition(depth - 1)});
  }
  constexpr Op comparisons[] = {Op::Lt, Op::Lt, Op::Le, Op::Eq, Op::Ne};
  const UOp left = index(2).canonical;
  const UOp right = pick(3) ? graph_.index(number()) : index(1).canonical;
  return graph_.alu(comparisons[pick(5)], {left, right});
}

UOp RandomIndex::constant(DType t) {
  if (is_float(t)) return graph_.constant(t, static_cast<double>(number()));
  if (t != DType::Index && pick(4) == 0) {
    return graph_.constant(t, pick(2) ? min_value(t) : max_value(t));
  }
  return graph_.constant(t, number());
}

UOp RandomIndex::value(DType t) {
  if (t == DType::Index) return index(static_cast<int>(pick(4))).canonical;
  if (t == DType::Bool) return condition(1);
  if (pick(8) == 0) return constant(t);
  if (pick(4)) return graph_.cast(index(static_cast<int>(pick(3))).canonical, t);
  // A window of few values anywhere in the type, most often where precision or range ends.
  const i64 lo = min_value(t), hi = max_value(t);
  const i64 bits = pick(63);
  i64 middle = pick(2) ? (i64{1} << bits) : -(i64{1} << bits);
  if (pick(4) == 0) middle = pick(2) ? lo : hi;
  const i64 half = pick(5);
  const i64 first = std::max(lo, middle < INT64_MIN + half ? INT64_MIN : middle - half);
  const i64 last = std::min(hi, middle > INT64_MAX - half ? INT64_MAX : middle + half);
  if (first > last) return constant(t);
  return graph_.cast(graph_.variable(10 + pick(2), first, last), t);
}

UOp RandomIndex::leaf(Graph& graph, const Token& capture, DType t) {
  if (capture.kind == Token::Int || capture.kind == Token::Const) return constant(t);
  if (is_float(t)) return OpaqueLeaves().leaf(graph, capture, t);
  return value(t);
}

}  // namespace croze
