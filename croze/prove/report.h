// report.h -- all rule lists proven, list by list.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "croze/prove/float_check.h"
#include "croze/prove/function_proof.h"
#include "croze/prove/rule_proof.h"
#include "croze/prove/transport_proof.h"

namespace croze {

struct ListReport {
  RuleList list = {};
  std::vector<RuleProof> algebraic = {};      // data rules, on integers and Bool
  std::vector<InstanceProof> functions = {};  // function rules on integers, and all rules on views
  std::vector<FloatCheck> floats = {};        // rules that can meet a float
  std::vector<std::string> no_smaller = {};   // algebraic rules that may not end: see measure.h

  std::int64_t count(Verdict verdict) const;  // of the algebraic rules
  bool holds() const;
};

struct RulesReport {
  std::vector<ListReport> lists = {};
  std::vector<InstanceProof> functions = {};    // functions that are in no list
  std::vector<TransportProof> transports = {};  // the laws by which reductions go in one pass

  bool holds() const;
};

struct ReportOptions {
  std::int64_t instances = 10'000;  // of each function
  std::uint64_t seed = 1;
  int threads = 2;
};

// Proves everything.  Each rule has a solver of its own, so that no answer depends on another.
// Throws Error if Z3 is not installed.
RulesReport prove_all(const ReportOptions& options = {});

}  // namespace croze
