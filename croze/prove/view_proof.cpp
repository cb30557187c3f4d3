// view_proof.cpp -- drawing views, and following each element through them.
#include "croze/prove/view_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/analysis/measure.h"
#include "croze/graph/graph.h"
#include "croze/graph/text/print.h"

namespace croze {
namespace {

using i64 = std::int64_t;
using Ints = std::vector<i64>;

constexpr i64 padding = -1;
constexpr i64 draws_per_instance = 2000;

// ---- meaning ----------------------------------------------------------------------------------

std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

// The place in the source of a view that the place `p` of the view shows; false: a padded place.
bool follow(UOp view, Ints* p) {
  const std::span<const i64> arg = view.arg().as_ints(), source = view.src(0).shape();
  Ints q = *p;
  for (std::size_t i = 0; i < p->size(); i++) {
    switch (view.op()) {
      case Op::Expand: q[i] = source[i] == 1 ? 0 : (*p)[i]; break;
      case Op::Permute: q[at(arg[i])] = (*p)[i]; break;
      case Op::Flip: q[i] = arg[i] ? source[i] - 1 - (*p)[i] : (*p)[i]; break;
      case Op::Shrink: q[i] = (*p)[i] + arg[2 * i]; break;
      case Op::Pad:
        q[i] = (*p)[i] - arg[2 * i];
        if (q[i] < 0 || q[i] >= source[i]) return false;
        break;
      default: fail_internal({}, "no view: {}", info(view.op()).name);
    }
  }
  *p = q;
  return true;
}

// The elements of a view in row-major order, as numbers of elements of the buffer below all views.
Ints elements_of(UOp u) {
  if (u.is(Op::Buffer)) {
    Ints all(at(u.elements()));
    for (std::size_t i = 0; i < all.size(); i++) all[i] = static_cast<i64>(i);
    return all;
  }
  const Ints source = elements_of(u.src(0));
  if (!is_movement(u.op()) || u.is(Op::Reshape)) return source;  // the others copy
  const std::span<const i64> shape = u.src(0).shape();
  Ints result;
  for (i64 n = 0; n < u.elements(); n++) {
    Ints p(u.shape().size());
    i64 left = n;
    for (std::size_t i = p.size(); i-- > 0; left /= u.shape()[i]) p[i] = left % u.shape()[i];
    if (!follow(u, &p)) {
      result.push_back(padding);
      continue;
    }
    i64 flat = 0;
    for (std::size_t i = 0; i < p.size(); i++) flat = flat * shape[i] + p[i];
    result.push_back(source[at(flat)]);
  }
  return result;
}

// ---- drawing ----------------------------------------------------------------------------------

class RandomView {
 public:
  RandomView(const Rule& rule, Graph& graph, std::mt19937_64& random)
      : rule_(rule), graph_(graph), random_(random) {}

  UOp draw() {
    const Token* t = rule_.pattern.tokens.data();
    return build(t);
  }

 private:
  i64 pick(i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(random_); }

  UOp build(const Token*& t) {
    const Token& head = *t++;
    if (head.is_capture()) return source();
    if (head.kind == Token::Family && family_[head.id] == Op::Const) {
      family_[head.id] = head.family->ops[at(pick(head.family->count))];
    }
    const Op op = head.kind == Token::Family ? family_[head.id] : head.op();
    const UOp x = build(t);
    return is_movement(op) ? graph_.movement(op, x, arg_for(op, x.shape()))
                           : graph_.make(op, x.dtype(), {x});
  }

  UOp source() {
    Ints shape;
    i64 elements = 1;
    for (i64 rank = pick(5); rank > 0; rank--) shape.push_back(pick(3) ? 1 + pick(4) : 1);
    for (i64 n : shape) elements *= n;
    return graph_.movement(Op::Reshape, graph_.buffer(DType::Float32, 1, elements, 0), shape);
  }

  Ints arg_for(Op op, std::span<const i64> shape) {
    Ints arg;
    const bool trivial = pick(4) == 0;  // a view that changes nothing
    if (op == Op::Reshape) return trivial ? Ints(shape.begin(), shape.end()) : reshaped(shape);
    if (op == Op::Permute) {
      for (std::size_t i = 0; i < shape.size(); i++) arg.push_back(static_cast<i64>(i));
      if (!trivial) std::shuffle(arg.begin(), arg.end(), random_);
      return arg;
    }
    for (i64 n : shape) {
      if (op == Op::Expand) arg.push_back(n == 1 && !trivial ? 1 + pick(3) : n);
      if (op == Op::Flip) arg.push_back(trivial ? 0 : pick(2));
      if (op == Op::Pad) arg.insert(arg.end(), {trivial ? 0 : pick(3), trivial ? 0 : pick(3)});
      if (op == Op::Shrink) {
        const i64 begin = trivial ? 0 : pick(n);
        arg.insert(arg.end(), {begin, trivial ? n : begin + 1 + pick(n - begin)});
      }
    }
    return arg;
  }

  // The prime factors of the number of elements, dealt to a random number of axes.
  Ints reshaped(std::span<const i64> shape) {
    i64 left = 1;
    for (i64 n : shape) left *= n;
    Ints result(at(1 + pick(4)), 1);
    for (i64 prime : {2, 3}) {
      for (; left % prime == 0; left /= prime)
        result[at(pick(static_cast<i64>(result.size())))] *= prime;
    }
    result[0] *= left;
    return result;
  }

  const Rule& rule_;
  Graph& graph_;
  std::mt19937_64& random_;
  std::array<Op, 26> family_{};
};

bool is_view_or_copy(Op op) {
  return is_movement(op) || op == Op::Contiguous || op == Op::ContiguousBackward ||
         op == Op::Detach;
}

}  // namespace

bool is_about_views(const Rule& rule) {
  const Token& head = rule.pattern.tokens[0];
  return is_view_or_copy(head.kind == Token::Family ? head.family->ops[0] : head.op());
}

InstanceProof prove_views(const Rule& rule, const InstanceOptions& options) {
  InstanceProof proof{to_string(rule)};
  const RuleSet alone("one rule", {RuleList{"one rule", Numbers::All, std::span(&rule, 1)}});
  std::mt19937_64 random(options.seed);
  while (proof.fired < options.count && proof.drawn < options.count * draws_per_instance) {
    Graph graph;
    proof.drawn++;
    const UOp before = RandomView(rule, graph, random).draw();
    const UOp after = alone.apply(before);
    if (!after) continue;
    proof.fired++;
    proof.grown += !is_smaller(after, before);
    if (std::ranges::equal(before.shape(), after.shape()) &&
        elements_of(before) == elements_of(after)) {
      proof.counts.exhausted++;
      continue;
    }
    proof.counts.failed++;
    if (proof.counts.detail.empty()) {
      proof.counts.detail = fmt::format("{} becomes\n{}", print_graph(before), print_graph(after));
    }
  }
  return proof;
}

}  // namespace croze
