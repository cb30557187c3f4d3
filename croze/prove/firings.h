// firings.h -- proving what rules do while programs are compiled.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "croze/base/flat_map.h"
#include "croze/graph/graph.h"
#include "croze/graph/observer.h"
#include "croze/graph/rewrite/rule_set.h"
#include "croze/prove/claim.h"

namespace croze {

// An observer that proves each firing it is told of: on integers, Bool and
// places for all values (claim.h), on floats by evaluation (float_check.h).  It also sees to it
// that the result is smaller (measure.h).  Rules about views are left out: see view_proof.h.
class FiringProver : public CompileObserver {
 public:
  explicit FiringProver(Solver& solver) : claims_(solver) {}

  bool watches_rules() const override { return true; }
  void tried(const RuleSet& set, const Rule& rule, UOp before, UOp after, std::int64_t ns) override;

  // Settles what waits.  To be called when nothing is compiled any more.
  void settle();

  std::int64_t firings() const { return firings_; }   // different ones
  std::int64_t evaluated() const { return floats_; }  // of those, on floats
  const ClaimCounts& claims() const { return claims_.counts(); }
  // Of the first firing that is wrong or makes nothing smaller; empty if all are right.
  const std::string& fault() const { return fault_; }

 private:
  void note(const Rule& rule, UOp before, UOp after, const std::string& why);

  std::mutex mutex_;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();  // of the claims that wait
  ClaimProver claims_;
  FlatSet<std::uint64_t> seen_;
  std::int64_t firings_ = 0, floats_ = 0;
  std::string fault_;
};

}  // namespace croze
