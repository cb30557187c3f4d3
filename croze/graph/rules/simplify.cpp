// simplify.cpp -- the simplifier of kernels: all families together.
#include "croze/graph/rules/rules.h"

namespace croze {

std::span<const RuleList> rule_lists() {
  static const RuleList lists[] = {
      algebra_list(),   known_list(),   compare_list(),  index_compare_list(), logic_list(),
      select_list(),    invalid_list(), cast_list(),     integer_cast_list(),  float_list(),
      fast_math_list(), bits_list(),    movement_list(), drop_invalid_list()};
  return lists;
}

const RuleSet& simplify_rules() {
  static const RuleSet& set =
      *new RuleSet("simplify", {invalid_list(), known_list(), select_list(), algebra_list(),
                                compare_list(), index_compare_list(), logic_list(), cast_list(),
                                integer_cast_list(), float_list(), bits_list()});
  return set;
}

}  // namespace croze
