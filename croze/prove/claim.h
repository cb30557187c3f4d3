// claim.h -- that one expression may stand for another, proven by trying all values or by Z3.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "croze/graph/uop.h"
#include "croze/prove/solver.h"

namespace croze {

// How many claims were settled, and how.
struct ClaimCounts {
  std::int64_t exhausted = 0;  // evaluated for all values of the leaves
  std::int64_t solved = 0;     // by Z3
  std::int64_t failed = 0;
  std::int64_t unknown = 0;
  std::string detail = {};  // of the first that failed or is unknown

  std::int64_t proven() const { return exhausted + solved; }
};

// Proves claims about integers and Bool.  Those with few values are settled at once, the others
// wait and are given to Z3 many at a time.
class ClaimProver {
 public:
  // The solver must know smt_prelude().
  explicit ClaimProver(Solver& solver) : solver_(solver) {}

  // Claims that wherever `gate`, if there is one, holds and `left` has a value, `right` has the
  // same.  Leaves lie within their bounds.  All in one graph between two calls of settle().
  void claim(UOp left, UOp right, UOp gate = {});

  // Settles all claims that wait; to be called while their graph lives.
  void settle();

  const ClaimCounts& counts() const { return counts_; }

 private:
  struct Claim {
    UOp left, right, gate;
    UOp bad;  // Bool: the claim is false
  };

  // False if there are too many values.
  bool exhaust(const Claim& claim);
  Answer ask(std::span<const Claim> claims);
  void note(const Claim& claim, const std::string& why);

  Solver& solver_;
  std::vector<Claim> waiting_ = {};
  ClaimCounts counts_ = {};
};

}  // namespace croze
