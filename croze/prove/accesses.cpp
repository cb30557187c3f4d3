// accesses.cpp -- proof that a kernel stays inside its buffers.
#include "croze/prove/accesses.h"

#include <fmt/format.h>

#include <optional>

#include "croze/base/error.h"
#include "croze/base/log.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/print.h"
#include "croze/prove/smt.h"
#include "croze/prove/solver.h"

namespace croze {
namespace {

bool is_gated(UOp place) { return place.num_src() > 2; }

bool lies_in(const Bounds& b, std::int64_t elements) { return 0 <= b.lo && b.hi < elements; }

bool decided_by_intervals(UOp place) {
  const UOp index = place.src(1);
  const std::int64_t elements = place.src(0).elements();
  if (lies_in(index.bounds(), elements)) return true;
  if (!is_gated(place)) return false;
  const UOp gate = place.src(2);
  return gate.is_const(0) || lies_in(bounds_under(gate, index), elements);
}

// Asks for an index outside the buffer under a true gate.
SmtScript question(UOp place) {
  const UOp index = place.src(1);
  Graph& graph = index.graph();
  SmtScript script(graph);
  if (is_gated(place)) script.assert_true(place.src(2));
  const UOp begin = graph.index(0), end = graph.index(place.src(0).elements());
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
  const std::string access = fmt::format("access {} of a buffer of {} elements, gate {}",
                                         to_string(place.src(1)), place.src(0).elements(), gate);
  if (answer == Answer::Unknown) {
    fail_internal({.pass = "bounds", .node = access}, "kernel {}: {} may leave it: Z3 cannot tell",
                  kernel, access);
  }
  fail_internal({.pass = "bounds", .node = access}, "kernel {}: {} leaves it where {}\n{}", kernel,
                access, witness.empty() ? "it always runs" : witness, names_of(script));
}

}  // namespace

AccessProofs prove_accesses(UOp kernel, std::string_view name) {
  AccessProofs proofs;
  std::optional<Solver> solver;
  for (UOp u : toposort(kernel)) {
    if (!u.is(Op::Index)) continue;
    if (decided_by_intervals(u)) {
      proofs.by_intervals++;
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
           proofs.by_intervals + proofs.by_solver, proofs.by_solver);
}

}  // namespace croze
