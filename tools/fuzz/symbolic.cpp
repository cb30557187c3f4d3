// symbolic.cpp -- the algebra of integers, compared with evaluation and with Z3.
#include "fuzz/symbolic.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "croze/graph/analysis/interval.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/rules.h"
#include "croze/graph/text/print.h"
#include "croze/prove/smt.h"
#include "croze/prove/solver.h"
#include "fuzz/node_values.h"

namespace croze::fuzz {
namespace {

using i64 = std::int64_t;

constexpr std::uint64_t proof_limit = 1'000'000;  // steps of Z3

// What the compiler makes of an expression.
struct Simplified {
  UOp root, simple;        // as the constructors make it, and after the rules
  UOp gate, simple_gate;   // the same
  UOp lean_gate, under;    // simplify_gate, and the root under it
  Bounds under_bounds;     // bounds_under, if the root is an Index
  UOp place, place_index;  // Index(buffer, where(gate, root, Invalid) * 2 + 1) after the rules
  UOp place_gate;          // null: always, or never if the index is Invalid

  Simplified(const Expression& e, Graph& graph) {
    const std::vector<UOp> nodes = build(e, graph);
    root = nodes[static_cast<std::size_t>(e.root)];
    gate = nodes[static_cast<std::size_t>(e.gate)];
    simple = rewrite(root, simplify_rules());
    simple_gate = rewrite(gate, simplify_rules());
    lean_gate = simplify_gate(simple_gate);
    under = simplify_under(lean_gate, simple);
    if (root.dtype() != DType::Index) return;
    under_bounds = bounds_under(simple_gate, simple);
    const UOp padded = where(gate, root, graph.invalid(DType::Index));
    place =
        rewrite(graph.place(graph.param(DType::Float32, 0, 1), padded * 2 + 1), simplify_rules());
    place_index = place.src(1);
    if (place.num_src() > 2) place_gate = place.src(2);
  }

  std::vector<UOp> all() const {
    std::vector<UOp> result{root, simple, gate, simple_gate, lean_gate, under};
    if (place && !place_index.is(Op::Invalid)) result.push_back(place_index);
    if (place_gate) result.push_back(place_gate);
    return result;
  }
};

__int128 wide(i64 bits, DType t) {
  return t == DType::UInt64 ? static_cast<__int128>(static_cast<std::uint64_t>(bits)) : bits;
}

// Whether the bounds of the node allow the value.
bool allows(UOp u, i64 bits) {
  const Interval interval = interval_of(u);
  const __int128 v = wide(bits, u.dtype());
  if (!interval.contains(v)) return false;
  return interval.multiple == 0 ? v == 0 : v % interval.multiple == 0;
}

std::string bounds_text(const Bounds& b) {
  return fmt::format("[{}, {}], multiple of {}", b.lo, b.hi, b.multiple);
}

std::string place_text(const Expression& e, std::span<const i64> point) {
  std::string text;
  for (std::size_t i = 0; i < e.steps.size(); i++) {
    if (!e.steps[i].is_free()) continue;
    text += fmt::format("{}v{} = {}", text.empty() ? " at " : ", ", i, point[i]);
  }
  return text;
}

class Check {
 public:
  Check(const Expression& e, std::uint64_t seed)
      : expression_(e), seed_(seed), made_(e, graph_), values_(made_.all()) {}

  std::string run() {
    for (std::vector<i64>& point : points_of(expression_, seed_)) {
      evaluate(expression_, point);
      values_.compute([&](UOp leaf) { return point[static_cast<std::size_t>(leaf_number(leaf))]; });
      if (const std::string wrong = wrong_at(point); !wrong.empty()) {
        return wrong + place_text(expression_, point);
      }
    }
    return {};
  }

 private:
  static i64 leaf_number(UOp leaf) {
    if (leaf.is(Op::Load)) return leaf.src(0).src(0).slot();
    return leaf.is(Op::Range) ? leaf.range_id() : leaf.slot();
  }

  std::string wrong_at(std::span<const i64> point) const {
    const i64 root = point[static_cast<std::size_t>(expression_.root)];
    const i64 gate = point[static_cast<std::size_t>(expression_.gate)];
    std::string wrong = differs("x", made_.root, root);
    if (wrong.empty()) wrong = differs("simplified x", made_.simple, root);
    if (wrong.empty()) wrong = differs("gate", made_.gate, gate);
    if (wrong.empty()) wrong = differs("simplified gate", made_.simple_gate, gate);
    if (wrong.empty()) wrong = differs("simplify_gate(gate)", made_.lean_gate, gate);
    if (wrong.empty() && gate) wrong = differs("simplify_under(gate, x)", made_.under, root);
    if (wrong.empty() && gate && made_.place) wrong = leaves_bounds(root);
    if (wrong.empty() && made_.place) wrong = wrong_place(root, gate != 0);
    return wrong.empty() ? values_outside_bounds() : wrong;
  }

  std::string differs(const char* what, UOp u, i64 expected) const {
    const i64 got = values_.of(u);
    if (got == expected) return {};
    return fmt::format("{} = {} is {} instead of {}", what, to_string(u), got, expected);
  }

  std::string leaves_bounds(i64 root) const {
    const Bounds& b = made_.under_bounds;
    if (b.lo <= root && root <= b.hi) return {};
    return fmt::format("bounds_under(gate, x) is {}, x is {}", bounds_text(b), root);
  }

  // Invalid is where the gate is false, and there alone.
  std::string wrong_place(i64 root, bool gate) const {
    const bool never = made_.place_index.is(Op::Invalid);
    const bool exists = !never && (!made_.place_gate || values_.of(made_.place_gate) != 0);
    if (exists != gate) {
      return fmt::format("{} {}", to_string(made_.place), exists ? "exists" : "does not exist");
    }
    return gate ? differs("index of a place", made_.place_index, 2 * root + 1) : std::string();
  }

  // Bounds follow from those of the leaves, so they hold whatever the gate says.
  std::string values_outside_bounds() const {
    for (UOp u : values_.nodes()) {
      if (!is_integral(u.dtype()) || allows(u, values_.of(u))) continue;
      return fmt::format("{} is {}, its bounds are {}", to_string(u), values_.of(u),
                         bounds_text(u.bounds()));
    }
    return {};
  }

  const Expression& expression_;
  std::uint64_t seed_;
  Graph graph_;
  Simplified made_;
  NodeValues values_;
};

}  // namespace

std::string check_expression(const Expression& expression, std::uint64_t seed) {
  try {
    return Check(expression, seed).run();
  } catch (const std::exception& e) {
    return fmt::format("exception: {}", e.what());
  }
}

std::string prove_expression(const Expression& e, Counts& counts) {
  Graph graph;
  const UOp written = build(e, graph, true)[static_cast<std::size_t>(e.root)];
  const UOp made = build(e, graph)[static_cast<std::size_t>(e.root)];
  const UOp simple = rewrite(made, simplify_rules());
  SmtScript script(graph);
  script.assert_different(written, simple);
  Solver solver(proof_limit);
  solver.state(smt_prelude());
  std::string witness;
  switch (solver.check(script.text(), script.leaf_names(), &witness)) {
    case Answer::Unsat: counts["proven"]++; return {};
    case Answer::Unknown: counts["unknown"]++; return {};
    default: return fmt::format("{} is not {}: {}", to_string(simple), to_string(written), witness);
  }
}

std::optional<Mismatch> symbolic_case(std::uint64_t seed, std::uint64_t proof_interval,
                                      Counts& counts) {
  const Expression e = random_expression(seed);
  if (!check_expression(e, seed).empty()) {
    const Expression small =
        minimised(e, [&](const Expression& c) { return !check_expression(c, seed).empty(); });
    return Mismatch{seed, check_expression(small, seed), cpp_of(small)};
  }
  if (proof_interval == 0 || seed % proof_interval != 0 || !Solver::available()) return {};
  if (prove_expression(e, counts).empty()) return {};
  const Expression small =
      minimised(e, [&](const Expression& c) { return !prove_expression(c, counts).empty(); });
  return Mismatch{seed, prove_expression(small, counts), cpp_of(small)};
}

}  // namespace croze::fuzz
