// function_proof.h -- rules whose replacement is a function, and other functions from graph to
// graph, proven instance by instance.
//
// A generator draws expressions that the function applies to; each result is proven equal to what
// it replaces, for all values of the leaves (claim.h).  The draws are random and repeat with the
// seed.
#pragma once

#include <cstdint>
#include <string>

#include "croze/graph/rewrite/rule_set.h"
#include "croze/prove/claim.h"

namespace croze {

struct InstanceProof {
  std::string name;         // "compare.cpp:140: (x < y) -> <function>"
  std::int64_t drawn = 0;   // expressions drawn
  std::int64_t fired = 0;   // of those, rewritten: the instances
  std::int64_t grown = 0;   // of the instances of a rule: no smaller than before (measure.h)
  ClaimCounts counts = {};  // of the instances

  bool is_proven() const { return fired > 0 && counts.proven() == fired && grown == 0; }
};

struct InstanceOptions {
  std::int64_t count = 10'000;  // instances to prove
  std::uint64_t seed = 1;
};

// Whether the generator can draw what the rule is about: integers and Bool in its captures.
bool has_integral_instances(const Rule& rule, Numbers numbers);

// Draws until the function rule has fired `count` times, or 2000 times as often in vain.
InstanceProof prove_function(const Rule& rule, Numbers numbers, Solver& solver,
                             const InstanceOptions& options = {});

// The functions that are not in rule lists.
InstanceProof prove_index_constructors(Solver& solver, const InstanceOptions& options = {});
InstanceProof prove_simplify_under(Solver& solver, const InstanceOptions& options = {});
InstanceProof prove_simplify_gate(Solver& solver, const InstanceOptions& options = {});
// The simplifier as a whole, on index expressions and conditions.
InstanceProof prove_simplifier(Solver& solver, const InstanceOptions& options = {});

}  // namespace croze
