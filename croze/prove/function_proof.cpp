// function_proof.cpp -- drawing instances and proving them.
#include "croze/prove/function_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "croze/graph/analysis/measure.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/rules.h"
#include "croze/graph/text/print.h"
#include "croze/prove/random_index.h"
#include "croze/prove/reading.h"

namespace croze {
namespace {

constexpr std::int64_t draws_per_instance = 2000;
constexpr std::int64_t draws_per_graph = 64;
constexpr std::int64_t draws_per_wide = 24;

// Calls draw(leaves) until it has claimed as many instances as are wanted.  draw returns whether it
// did.
template <typename Draw>
InstanceProof prove_draws(std::string name, Solver& solver, const InstanceOptions& options,
                          Draw draw) {
  InstanceProof proof{std::move(name)};
  ClaimProver prover(solver);
  std::mt19937_64 random(options.seed);
  while (proof.fired < options.count && proof.drawn < options.count * draws_per_instance) {
    Graph graph;  // the claims of a graph are settled together
    for (std::int64_t i = 0; i < draws_per_graph && proof.fired < options.count; i++) {
      RandomIndex leaves(graph, random, proof.drawn % draws_per_wide == 0);
      proof.drawn++;
      if (draw(graph, leaves, prover)) proof.fired++;
    }
    prover.settle();
  }
  proof.counts = prover.counts();
  return proof;
}

// The readings whose captures are integers or Bool; casts on the way may be to floats.
std::vector<Reading> integral_readings(const Rule& rule, Numbers numbers) {
  std::vector<Reading> readings = readings_of(rule, numbers, any_type);
  std::erase_if(readings, [](const Reading& r) {
    const RulePart& root = r.parts[static_cast<std::size_t>(r.pattern)];
    return !is_integral(root.dtype) || std::ranges::any_of(r.parts, [](const RulePart& p) {
      return p.token->is_capture() && !is_integral(p.dtype);
    });
  });
  return readings;
}

// Casts between integers and bit-vectors are hard for the solver, and floats are unknown to it.
bool is_about_index(const Reading& reading) {
  return std::ranges::all_of(reading.parts, [](const RulePart& p) {
    return p.dtype == DType::Index || p.dtype == DType::Bool;
  });
}

}  // namespace

bool has_integral_instances(const Rule& rule, Numbers numbers) {
  return !integral_readings(rule, numbers).empty();
}

InstanceProof prove_function(const Rule& rule, Numbers numbers, Solver& solver,
                             const InstanceOptions& options) {
  const std::vector<Reading> readings = integral_readings(rule, numbers);
  if (readings.empty()) return {to_string(rule)};
  const RuleSet alone("one rule", {RuleList{"one rule", numbers, std::span(&rule, 1)}});
  std::int64_t grown = 0;
  std::string first;
  const auto draw = [&](Graph& graph, RandomIndex& leaves, ClaimProver& prover) {
    const auto i =
        static_cast<std::size_t>(leaves.pick(static_cast<std::int64_t>(readings.size())));
    if (!is_about_index(readings[i])) leaves.narrow();
    const UOp before = instantiate(readings[i], graph, leaves).left;
    const UOp after = alone.apply(before);
    if (!after) return false;
    prover.claim(before, after);
    if (!is_smaller(after, before)) {
      if (grown++ == 0)
        first = fmt::format("{} is no smaller than {}", to_string(after), to_string(before));
    }
    return true;
  };
  InstanceProof proof = prove_draws(to_string(rule), solver, options, draw);
  proof.grown = grown;
  if (proof.counts.detail.empty()) proof.counts.detail = first;
  return proof;
}

InstanceProof prove_index_constructors(Solver& solver, const InstanceOptions& options) {
  const auto draw = [](Graph&, RandomIndex& leaves, ClaimProver& prover) {
    const RandomIndex::Pair pair = leaves.index(2 + static_cast<int>(leaves.pick(4)));
    if (pair.plain == pair.canonical) return false;
    prover.claim(pair.plain, pair.canonical);
    return true;
  };
  return prove_draws("constructors of Index nodes", solver, options, draw);
}

InstanceProof prove_simplify_under(Solver& solver, const InstanceOptions& options) {
  const auto draw = [](Graph&, RandomIndex& leaves, ClaimProver& prover) {
    const UOp gate = leaves.condition(2);
    const UOp x = leaves.pick(3) ? leaves.index(3).canonical : leaves.condition(1);
    const UOp result = simplify_under(gate, x);
    if (result == x) return false;
    prover.claim(x, result, gate);
    return true;
  };
  return prove_draws("simplify_under", solver, options, draw);
}

InstanceProof prove_simplify_gate(Solver& solver, const InstanceOptions& options) {
  const auto draw = [](Graph& graph, RandomIndex& leaves, ClaimProver& prover) {
    UOp gate = leaves.condition(1);
    for (std::int64_t i = 1 + leaves.pick(3); i > 0; i--) {
      gate = graph.alu(Op::And, {gate, leaves.condition(1)});
    }
    const UOp result = simplify_gate(gate);
    if (result == gate) return false;
    prover.claim(gate, result);
    return true;
  };
  return prove_draws("simplify_gate", solver, options, draw);
}

InstanceProof prove_simplifier(Solver& solver, const InstanceOptions& options) {
  const auto draw = [](Graph& graph, RandomIndex& leaves, ClaimProver& prover) {
    UOp before = leaves.pick(2) ? leaves.condition(2) : leaves.index(3).plain;
    if (leaves.pick(3) == 0) {
      const UOp x = leaves.index(2).plain, y = leaves.index(2).plain;
      before = graph.make(Op::Where, DType::Index, {leaves.condition(1), x, y});
    }
    const UOp after = rewrite(before, simplify_rules());
    if (after == before) return false;
    prover.claim(before, after);
    return true;
  };
  return prove_draws("simplifier", solver, options, draw);
}

}  // namespace croze
