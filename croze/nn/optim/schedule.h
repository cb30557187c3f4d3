// schedule.h -- learning rates that change from step to step.
//
// A Schedule is a plain value: a function of the number of steps made so far.  It takes a number,
//
//     adam.set_learning_rate(schedule(step));
//
// or a tensor, so that a captured step finds the rate by itself; nothing is compiled anew:
//
//     const optim::Schedule schedule =
//         optim::sequence(optim::linear_rate(0, 1e-3, 100), 100, optim::cosine_rate(1e-3, 900));
//     auto step = capture([&](const Tensor& x, const Tensor& y) {
//       adam.set_learning_rate(schedule(adam.steps));
//       ...
//     });
//
// Formulas are those of PyTorch's schedulers, counted in steps.  All throw Error for rates that are
// negative, factors that are not positive and numbers of steps less than 1.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/tensor/tensor.h"

namespace croze::optim {

// A part of a schedule: a curve that starts from the rate `first` at step `begin`.
struct RatePiece {
  enum class Curve {
    Linear,       // to `last` in so many steps, then constant
    Cosine,       // the same along half a cosine
    Exponential,  // times `factor` in so many steps, and so on
    Stairs,       // the same in one jump at the end of so many steps
  };
  Curve curve = Curve::Linear;
  double begin = 0;
  double first = 0;
  double last = 0;
  double factor = 1;
  double steps = 1;
};

struct Schedule {
  std::vector<RatePiece> pieces;  // each holds until the next begins; the first begins at 0

  // The rate after `step` steps.
  double operator()(double step) const;
  // The same, recorded: shape and device of `step`, Float32.
  Tensor operator()(const Tensor& step) const;
};

// Always `rate`.
Schedule constant_rate(double rate, Location at = Location::current());
// From `first` to `last` in so many steps, then constant: warm-up, or linear decay.
Schedule linear_rate(double first, double last, std::int64_t steps,
                     Location at = Location::current());
// From `first` to `last` along half a cosine, then constant.
Schedule cosine_rate(double first, std::int64_t steps, double last = 0,
                     Location at = Location::current());
// first * factor^step.
Schedule exponential_rate(double first, double factor, Location at = Location::current());
// first * factor^k, where k is how often `every` steps have passed.
Schedule step_rate(double first, std::int64_t every, double factor = 0.1,
                   Location at = Location::current());

struct OneCycleOptions {
  double pct_start = 0.3;         // share of the steps in which the rate rises
  double div_factor = 25;         // the rate starts at most / div_factor
  double final_div_factor = 1e4;  // and ends at that divided by final_div_factor
};
// Up to `most` and down again, each along half a cosine; the last of `steps` has the least rate.
// Throws Error for less than two steps in a phase.
Schedule one_cycle_rate(double most, std::int64_t steps, const OneCycleOptions& options = {},
                        Location at = Location::current());

// `before` for so many steps, then `after` from its beginning.
Schedule sequence(const Schedule& before, std::int64_t steps, const Schedule& after,
                  Location at = Location::current());

}  // namespace croze::optim
