// loop.h -- internal to jit/: a body run for each row of tensors, and differentiated.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "croze/jit/body.h"
#include "croze/tensor/gradient.h"
#include "croze/tensor/tensor.h"

namespace croze {

// (state.., row.., constant..) -> (next state.., y..), as often as there are rows.
struct Loop {
  std::shared_ptr<const Body> body;
  std::size_t states = 0, rows = 0;  // the other arguments are constants
  std::int64_t length = 0;           // > 0
  bool reverse = false;
  bool keep_states = true;

  std::size_t constants() const { return body->arguments().size() - states - rows; }
  std::size_t ys() const { return body->results().size() - states; }
};

struct LoopResult {
  std::vector<Tensor> states;  // the last
  std::vector<Tensor> ys;      // stacked
};

// Runs the loop over the first states, the rows stacked, and the constants.  The results know how
// they came about.
LoopResult run(const Loop& loop, std::span<const Tensor> arguments, Location at);

// A value of a loop: a last state, a y, or all states with which its steps began.
struct LoopValue {
  enum class Kind { LastState, Y, Entered };
  Kind kind;
  std::size_t index;  // of the state or y
};

// The gradient, as with_gradient takes it, of these values by the arguments of the loop.  Its
// inputs are the arguments and, if states are kept, the entered ones of the states `kept`.
GradientFunction gradient_of(const Loop& loop, std::vector<LoopValue> values,
                             std::vector<std::size_t> kept, Location at);

}  // namespace croze
