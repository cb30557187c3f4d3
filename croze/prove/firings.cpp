// firings.cpp -- each firing is copied to a graph of the prover's own, so that compiling goes on.
#include "croze/prove/firings.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/hash.h"
#include "croze/graph/analysis/measure.h"
#include "croze/graph/text/print.h"
#include "croze/prove/float_check.h"

namespace croze {
namespace {

constexpr std::size_t most_nodes = 50'000;  // in a graph of waiting claims
constexpr std::int64_t points = 200;

bool makes_smaller(const RuleSet& set, const Rule& rule) {
  for (const RuleList& list : set.lists()) {
    const bool is_here =
        &rule >= list.rules.data() && &rule < list.rules.data() + list.rules.size();
    if (is_here) return !list.why_it_ends;
  }
  return false;
}

// What a firing depends on: the form of a node, and the numbers in the upper part of it that a
// pattern can see.
std::uint64_t hash_of_firing(const Rule& rule, UOp before) {
  constexpr std::size_t most_seen = 32;
  std::uint64_t hash = hash_mix(before.key(), reinterpret_cast<std::uintptr_t>(&rule));
  std::vector<UOp> seen{before};
  for (std::size_t i = 0; i < seen.size() && i < most_seen; i++) {
    if (seen[i].is_const()) hash = hash_mix(hash, static_cast<std::uint64_t>(seen[i].const_int()));
    for (UOp s : seen[i].sources()) seen.push_back(s);
  }
  return hash;
}

}  // namespace

void FiringProver::tried(const RuleSet& set, const Rule& rule, UOp before, UOp after,
                         std::int64_t) {
  if (!after || before.rank() != 0) return;
  const std::lock_guard lock(mutex_);
  if (!seen_.insert(hash_of_firing(rule, before))) return;
  firings_++;
  if (makes_smaller(set, rule) && !is_smaller(after, before)) {
    note(rule, before, after, "is no smaller");
  }
  const UOp left = graph_->import(before), right = graph_->import(after);
  if (is_integral(left.dtype()) || left.is(Op::Index)) {
    const std::int64_t failed = claims_.counts().failed;
    claims_.claim(left, right);
    if (claims_.counts().failed > failed) note(rule, before, after, claims_.counts().detail);
  } else {
    floats_++;
    const std::string where = difference_on_floats(left, right, points, firings_);
    if (!where.empty()) note(rule, before, after, where);
  }
  if (graph_->size() < most_nodes) return;
  claims_.settle();
  graph_ = std::make_unique<Graph>();
}

void FiringProver::settle() {
  const std::lock_guard lock(mutex_);
  claims_.settle();
  if (fault_.empty() && claims_.counts().failed + claims_.counts().unknown > 0) {
    fault_ = claims_.counts().detail;
  }
}

void FiringProver::note(const Rule& rule, UOp before, UOp after, const std::string& why) {
  if (!fault_.empty()) return;
  fault_ = fmt::format("{}: {} becomes {}: {}", place_of(rule), to_string(before), to_string(after),
                       why);
}

}  // namespace croze
