// rule_proof.h -- algebraic rules on integers and booleans as theorems.
//
// A rule is proven for every reading of it (reading.h): for all values of what it captures, the
// values of its constants included, the condition implies that the replacement has the value of the
// pattern wherever the pattern has one.  A condition is about the values themselves, as integers of
// mathematics: that bounds prove it is one way of knowing that it holds.
//
// What captures stand for has a value, since Invalid moves outwards before other rules look at an
// op; the rules that do move it are proven for captures without a value too.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "croze/graph/rewrite/rule_set.h"
#include "croze/prove/solver.h"

namespace croze {

enum class Verdict : std::uint8_t { Proven, Failed, Unknown };

// How a reading was proven.
enum class Method : std::uint8_t {
  Direct,    // Z3 on the rule as it stands: bit-vectors, integers, truth values
  Words,     // bit operations of Index: as on int64, in which every Index lies
  Integers,  // no part leaves its type, so it is the theorem on integers, which Z3 proves
  Cases,     // one question for each value of a shift amount
};
std::string_view name_of(Method method);
inline constexpr int num_methods = 4;

struct RuleProof {
  const Rule* rule = nullptr;
  Verdict verdict = Verdict::Proven;
  std::int64_t readings = 0;                   // integral ones: what was to be proven
  std::array<std::int64_t, num_methods> by{};  // readings by the method that proved them
  std::string detail = {};                     // the reading that was not proven and, if it
                                               // fails, values for which it is false
};

// Proves all integral readings of an algebraic rule.  The solver must know smt_prelude().
RuleProof prove_rule(const Rule& rule, Numbers numbers, Solver& solver);

}  // namespace croze
