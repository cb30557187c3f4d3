// rules.h -- the rule lists of the graph, one family a file.
//
// Each list is constant data; the sets below are compiled from them at first use and shared by all
// threads.  What Graph::alu does already is in no list: constants are folded, operands of
// commutative ops are in order, sums of Index are canonical.
#pragma once

#include <span>

#include "croze/graph/rewrite/rule_set.h"

namespace croze {

const RuleList& algebra_list();        // integers and bool: identities, constants outwards
const RuleList& known_list();          // integers whose bounds are one value
const RuleList& compare_list();        // comparisons of integers and bool
const RuleList& index_compare_list();  // comparisons of Index: sum < constant
const RuleList& logic_list();          // of comparisons of any dtype
const RuleList& select_list();         // where
const RuleList& invalid_list();        // where with Invalid; gates of loads and stores
const RuleList& cast_list();           // casts of anything
const RuleList& integer_cast_list();   // casts between bool and integers
const RuleList& float_list();          // floats, true in IEEE arithmetic
const RuleList& fast_math_list();      // floats taken for real numbers: off by default
const RuleList& bits_list();           // shifts and masks
const RuleList& movement_list();       // views on tensors
const RuleList& drop_invalid_list();   // what is Invalid in the end is zero

// All of these, for those who read rules rather than apply them.
std::span<const RuleList> rule_lists();

const RuleSet& algebra_rules();
const RuleSet& compare_rules();
const RuleSet& select_rules();
const RuleSet& cast_rules();
const RuleSet& float_rules();
const RuleSet& bits_rules();

// All of the above: the simplifier of kernels.  True of every value.
const RuleSet& simplify_rules();

// Those and the list of fast maths, for a kernel whose floats may be taken for real numbers.
const RuleSet& fast_math_rules();

// Clean-up of views before scheduling.
const RuleSet& tensor_rules();

// Run once, after the last simplification: where(g, x, Invalid) becomes where(g, x, 0), and an
// Invalid alone becomes zero.
const RuleSet& drop_invalid_rules();

}  // namespace croze
