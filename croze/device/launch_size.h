// launch_size.h -- a size that is known when a kernel is launched: an expression of its variables.
//
// One compiled kernel serves all values of its variables, so the number of its tasks, or the bytes
// that a buffer must have, may differ from launch to launch.  A constant is a number and nothing
// else; an expression is a list of steps in postfix order, evaluated by a stack.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

class LaunchSize {
 public:
  LaunchSize(std::int64_t constant = 1) : constant_(constant) {}

  // The value of an Index node over Variables and constants, made by +, *, /, %, max and min.
  // Throws InternalError for others.
  static LaunchSize of(UOp index);

  bool is_constant() const { return steps_.empty(); }

  // `variables` holds the values by slot.  Throws Error if 64 bits do not hold one of the numbers
  // on the way, or there is no such variable.
  std::int64_t value(std::span<const std::int64_t> variables) const {
    return steps_.empty() ? constant_ : evaluated(variables);
  }

  // "16", or "v0 15 + 16 /": the steps, separated by spaces.
  std::string text() const;
  // Throws Error if it is not such a text.
  static LaunchSize parse(std::string_view text);

  bool operator==(const LaunchSize&) const = default;

 private:
  enum class Kind : std::uint8_t { Constant, Variable, Add, Mul, Div, Mod, Max, Min };
  struct Step {
    Kind kind;
    std::int64_t number = 0;  // the constant, or the slot
    bool operator==(const Step&) const = default;
  };
  static constexpr int deepest_stack = 16;

  void append(UOp index);
  void keep_constant();
  std::int64_t evaluated(std::span<const std::int64_t> variables) const;
  bool is_well_formed() const;

  std::int64_t constant_ = 1;  // if there are no steps
  std::vector<Step> steps_ = {};
};

}  // namespace croze
