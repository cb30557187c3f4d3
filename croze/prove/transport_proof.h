// transport_proof.h -- that what terms come to may be moved to another centre.
#pragma once

#include <cstdint>
#include <string>

#include "croze/graph/rules/transport.h"
#include "croze/prove/solver.h"

namespace croze {

struct TransportProof {
  const Transport* law = nullptr;
  std::int64_t theorems = 0, proven = 0;
  std::string detail = {};  // the first that is not proven

  bool holds() const { return proven == theorems; }
};

// Proves of the real numbers, with e = exp(p) a number for which exp(p) exp(q) = exp(p + q):
//
//   term    the law of one term, as transport.h states it
//   rest    the rests of terms sum to nothing where their x - y do
//   sum     what two lots of terms come to moves as the two do, for each op that combines them
//   factor  a multiple moves as a multiple, for laws of terms that may have a factor
//
// By these, and by induction, the state of a tuple (tuple.h) after any number of terms is what they
// come to under its own centre, in whatever order and portions they were combined.
TransportProof prove_transport(const Transport& law, Solver& solver);

}  // namespace croze
