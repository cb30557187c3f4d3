// The laws of transport are theorems, and what is no law is caught.
#include "croze/prove/transport_proof.h"

#include <gtest/gtest.h>

#include "croze/graph/rewrite/captures.h"

namespace croze {
namespace {

using namespace captures;

TransportProof proof_of(const Transport& law) {
  Solver solver;
  return prove_transport(law, solver);
}

TEST(Transport, OfEveryLawIsProven) {
  if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
  for (const Transport& law : transports()) {
    const TransportProof proof = proof_of(law);
    EXPECT_TRUE(proof.holds()) << proof.detail;
    EXPECT_GE(proof.theorems, 4) << law.name;
  }
}

TEST(Transport, WhatIsNoLawIsNotProven) {
  if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
  const Transport wrong[] = {
      // the factor upside down
      {"exponential", Centre::FiniteGreatest, exp(x - y), w * exp(z - y), 0},
      // a term with the old extreme is kept under the new one
      {"equality", Centre::Extreme, where(x == y, w, k), w, 0},
      // the mean has moved twice as far
      {"square", Centre::Mean, (x - y) * (x - y), w + n * ((y - z) * (y - z)) * 2,
       (x - y) * ((y - z) * 2)},
      // what is left over does not vanish
      {"shift", Centre::Mean, x - y, w, y - z},
      // of one term only, not of a sum of them
      {"shift", Centre::Mean, x - y, w + (y - z), 0},
  };
  for (const Transport& law : wrong) {
    const TransportProof proof = proof_of(law);
    EXPECT_FALSE(proof.holds()) << law.name;
    EXPECT_FALSE(proof.detail.empty()) << law.name;
  }
}

}  // namespace
}  // namespace croze
