// accesses.cpp -- proof that a kernel stays inside its buffers.
//
// Where sizes are Variables, an index like i * n + j below m * n is a question of products, which
// the solver need not decide.  So what stays below a limit, a loop below its trip count or a sum by
// the gate, is written as the limit less one and less what is left of it, s: with i = m - 1 - s and
// j = n - 1 - t the room behind the index, m * n - 1 - (i * n + j), becomes s * n + t, which is not
// negative since no factor is.
#include "croze/prove/accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/log.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/print.h"
#include "croze/prove/smt.h"
#include "croze/prove/solver.h"

namespace croze {
namespace {

bool is_gated(UOp place) { return place.num_src() > 2; }

UOp gate_of(UOp place) { return is_gated(place) ? place.src(2) : UOp(); }

// How many elements the buffer of the place has.
UOp elements_of(UOp place) {
  UOp buffer = place.src(0);
  while (buffer.is(Op::After)) buffer = buffer.src(0);
  return buffer.num_src() > 0 ? buffer.src(0) : place.graph().index(buffer.elements());
}

// Variables that stand for what is left of limits.
class Leftovers {
 public:
  explicit Leftovers(Graph& graph) : graph_(graph) {}

  // `x` where the gate holds, in terms of them.
  UOp of_gate(UOp gate, UOp x) {
    for (const LinearForm& sum : sums_of(gate)) {
      for (const Term& t : sum.terms) {
        if (t.coefficient != 1 || !t.atom.is(Op::Range) || !x.varies_over(t.atom)) continue;
        LinearForm value = sum;
        value.add(t.atom, -1);
        x = replaced(x, t.atom, -1 - value.constant, value, -1 - sum.bounds().lo);
        break;
      }
    }
    return x;
  }

  // Of Variables that the gate says are not less than a number: that number and the rest.
  UOp of_variables(UOp gate, UOp x) {
    for (const LinearForm& sum : sums_of(gate)) {
      const bool is_one = sum.terms.size() == 1 && sum.terms[0].coefficient == -1;
      if (!is_one || !sum.terms[0].atom.is(Op::Variable)) continue;
      const UOp v = sum.terms[0].atom;
      const std::int64_t least = sum.constant + 1, most = std::max<std::int64_t>(v.hi() - least, 0);
      const std::pair<UOp, UOp> value[] = {{v, graph_.variable(next_--, 0, most) + least}};
      x = substitute(x, value);
    }
    return x;
  }

  UOp of_loops(UOp x) {
    for (UOp u : toposort(x)) {
      if (!u.is_open()) continue;
      LinearForm minus_trip;
      minus_trip.add(LinearForm::of(u.trip_count()), -1);
      x = replaced(x, u, -1 - minus_trip.constant, minus_trip, u.hi());
    }
    return x;
  }

 private:
  // The sums that are at most -1 where the gate holds.
  static std::vector<LinearForm> sums_of(UOp gate) {
    std::vector<LinearForm> sums;
    for (UOp term : conjuncts(gate)) {
      if (!term.is(Op::Lt) || term.src(0).dtype() != DType::Index) continue;
      LinearForm& sum = sums.emplace_back(LinearForm::of(term.src(0)));
      sum.add(LinearForm::of(term.src(1)), -1);
    }
    return sums;
  }

  // limit - rest - s for the range, where s is at most `most`.
  UOp replaced(UOp x, UOp range, std::int64_t limit, LinearForm rest, std::int64_t most) {
    rest.constant = 0;
    const UOp left = graph_.variable(next_--, 0, most);
    const std::pair<UOp, UOp> value[] = {{range, graph_.index(limit) - rest.build(graph_) - left}};
    return substitute(x, value);
  }

  Graph& graph_;
  std::int64_t next_ = -1000;  // slot: no variable of a kernel has it
};

// Whether `x` is not negative where the gate, if there is one, holds.
bool is_not_negative(UOp x, UOp gate) {
  if (x.lo() >= 0 || bounds_under(gate, x).lo >= 0) return true;
  Leftovers leftovers(x.graph());
  if (gate) x = leftovers.of_gate(gate, x);
  x = leftovers.of_loops(x);
  if (gate) x = leftovers.of_variables(gate, x);
  return bounds_under(gate, x).lo >= 0;
}

bool decided_by_bounds(UOp place) {
  const UOp index = place.src(1), gate = gate_of(place);
  if (gate && gate.is_const(0)) return true;
  try {
    return is_not_negative(index, gate) && is_not_negative(elements_of(place) - index - 1, gate);
  } catch (const IndexOverflow&) {
    return false;
  }
}

// Asks for an index outside the buffer under a true gate.
SmtScript question(UOp place) {
  const UOp index = place.src(1);
  Graph& graph = index.graph();
  SmtScript script(graph);
  if (is_gated(place)) script.assert_true(place.src(2));
  const UOp begin = graph.index(0), end = elements_of(place);
  const UOp below = graph.make(Op::Lt, DType::Bool, {index, begin});
  const UOp above = graph.make(Op::Le, DType::Bool, {end, index});
  script.assert_true(graph.make(Op::Or, DType::Bool, {below, above}));
  return script;
}

// "r3 = 5, p1[r3] = 90": the leaves of the question beside their values in the witness.
std::string names_of(const SmtScript& script) {
  std::string text;
  for (UOp leaf : script.leaves()) text += fmt::format("  n{} is {}\n", leaf.id(), to_string(leaf));
  return text;
}

void ask(Solver& solver, UOp place, std::string_view kernel) {
  const SmtScript script = question(place);
  std::string witness;
  const Answer answer = solver.check(script.text(), script.leaf_names(), &witness);
  if (answer == Answer::Unsat) return;
  const std::string gate = is_gated(place) ? to_string(place.src(2)) : "none";
  const std::string access =
      fmt::format("access {} of a buffer of {} elements, gate {}", to_string(place.src(1)),
                  to_string(elements_of(place)), gate);
  if (answer == Answer::Unknown) {
    fail_internal({.pass = "bounds", .node = access}, "kernel {}: {} may leave it: Z3 cannot tell",
                  kernel, access);
  }
  fail_internal({.pass = "bounds", .node = access}, "kernel {}: {} leaves it where {}\n{}", kernel,
                access, witness.empty() ? "it always runs" : witness, names_of(script));
}

// The place of a store, where the loops that the store closes turn at all: one that turns once at
// most has left no trace in the index.
UOp place_written(UOp store) {
  const UOp place = store.src(0);
  UOp gate = gate_of(place);
  for (int i = store.first_closed(); i < store.num_src(); i++) {
    const UOp range = store.src(i);
    if (!range.is_open() || range.trip_count().lo() > 0) continue;
    const UOp turns = less(place.graph().index(0), range.trip_count());
    gate = gate ? gate & turns : turns;
  }
  return gate == gate_of(place) ? place : place.graph().place(place.src(0), place.src(1), gate);
}

// The places in memory that a kernel reads and writes, each once.
std::vector<UOp> places_of(UOp kernel) {
  std::vector<UOp> places;
  NodeSet seen;
  for (UOp u : toposort(kernel)) {
    const bool is_access = u.is(Op::Load) || u.is(Op::Store);
    if (!is_access || !u.src(0).is(Op::Index)) continue;
    const UOp place = u.is(Op::Store) ? place_written(u) : u.src(0);
    if (seen.insert(place.node())) places.push_back(place);
  }
  return places;
}

}  // namespace

AccessProofs prove_accesses(UOp kernel, std::string_view name) {
  AccessProofs proofs;
  std::optional<Solver> solver;
  for (UOp u : places_of(kernel)) {
    if (decided_by_bounds(u)) {
      proofs.by_bounds++;
      continue;
    }
    if (!solver) {
      solver.emplace();
      solver->state(smt_prelude());
    }
    ask(*solver, u, name);
    proofs.by_solver++;
  }
  return proofs;
}

void AccessProver::left(CompilePart part, std::string_view name, UOp result) {
  if (part != CompilePart::Pass || name != "edits" || !result) return;
  const AccessProofs proofs = prove_accesses(result, current_kernel());
  log_line(3, "{}: {} accesses proven in bounds, {} of them by Z3", current_kernel(),
           proofs.by_bounds + proofs.by_solver, proofs.by_solver);
}

}  // namespace croze
