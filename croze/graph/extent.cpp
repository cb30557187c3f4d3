// extent.cpp -- arithmetic on sizes.
#include "croze/graph/extent.h"

#include "croze/base/error.h"
#include "croze/graph/graph.h"

namespace croze {
namespace {

constexpr std::int64_t top = INT64_MIN;

// Two sizes as nodes of the graph that one of them belongs to.
template <typename F>
Extent combined(Extent a, Extent b, F f) {
  Graph& graph = (a.is_open() ? a : b).expression().graph();
  return Extent(f(a.in(graph), b.in(graph)));
}

}  // namespace

Extent::Extent(UOp expression)
    : word_(expression.is_const() ? expression.const_int()
                                  : top | reinterpret_cast<std::intptr_t>(expression.node())) {
  ensure(expression.dtype() == DType::Index && expression.ranges().empty(),
         "a size is an Index expression over Variables, not {}", info(expression.op()).name);
}

std::int64_t Extent::number() const {
  ensure(!is_open(), "a size that is not known before the launch is asked for");
  return word_;
}

UOp Extent::expression() const {
  return UOp(reinterpret_cast<const Node*>(static_cast<std::intptr_t>(word_ ^ top)));
}

UOp Extent::in(Graph& graph) const { return is_open() ? expression() : graph.index(word_); }

Extent operator+(Extent a, Extent b) {
  if (!a.is_open() && !b.is_open()) return a.number() + b.number();
  return combined(a, b, [](UOp x, UOp y) { return x + y; });
}

Extent operator-(Extent a, Extent b) {
  if (!a.is_open() && !b.is_open()) return a.number() - b.number();
  return combined(a, b, [](UOp x, UOp y) { return x - y; });
}

Extent operator*(Extent a, Extent b) {
  if (!a.is_open() && !b.is_open()) return a.number() * b.number();
  return combined(a, b, [](UOp x, UOp y) { return x * y; });
}

Extent operator/(Extent a, Extent b) {
  if (!a.is_open() && !b.is_open()) return a.number() / b.number();
  return combined(a, b, [](UOp x, UOp y) { return x / y; });
}

}  // namespace croze
