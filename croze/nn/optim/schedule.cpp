// schedule.cpp -- learning rates as pieces of curves.  One template says what a piece is worth, on
// numbers and on tensors.
#include "croze/nn/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "croze/base/error.h"
#include "croze/tensor/elementwise/elementwise.h"

namespace croze::optim {
namespace {

using Curve = RatePiece::Curve;

// What is spelled differently on numbers and on tensors.
double limited(double x, double low, double high) { return std::clamp(x, low, high); }
Tensor limited(const Tensor& x, double low, double high) { return clamp(x, low, high); }
double power(double base, double x) { return std::pow(base, x); }
Tensor power(double base, const Tensor& x) { return exp(x * std::log(base)); }
double choose(bool condition, double a, double b) { return condition ? a : b; }
Tensor choose(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return where(condition, a, b);
}

template <typename Number>
Number rate_of(const RatePiece& piece, const Number& step) {
  using std::cos, std::floor;
  const double forever = std::numeric_limits<double>::max();
  const Number passed = limited((step - piece.begin) / piece.steps, 0, forever);
  const Number share = limited(passed, 0, 1);
  switch (piece.curve) {
    case Curve::Linear: return piece.first + (piece.last - piece.first) * share;
    case Curve::Cosine:
      return piece.last + (piece.first - piece.last) / 2 * (1 + cos(share * std::numbers::pi));
    case Curve::Exponential: return piece.first * power(piece.factor, passed);
    case Curve::Stairs: return piece.first * power(piece.factor, Number(floor(passed)));
  }
  fail_internal({}, "no such curve");
}

template <typename Number>
Number rate_of(const std::vector<RatePiece>& pieces, const Number& step) {
  Number rate = rate_of(pieces.front(), step);
  for (std::size_t i = 1; i < pieces.size(); i++) {
    rate = choose(step >= pieces[i].begin, rate_of(pieces[i], step), rate);
  }
  return rate;
}

void check_rates(std::string_view function, double first, double last, std::int64_t steps,
                 Location at) {
  check(first >= 0 && last >= 0, at, "{}: rates {} and {}", function, first, last);
  check(steps >= 1, at, "{}: {} steps", function, steps);
}

void check_factor(std::string_view function, double factor, Location at) {
  check(factor > 0, at, "{}: a factor of {}", function, factor);
}

}  // namespace

double Schedule::operator()(double step) const { return rate_of(pieces, step); }

Tensor Schedule::operator()(const Tensor& step) const {
  return rate_of(pieces, step.cast(DType::Float32));
}

Schedule constant_rate(double rate, Location at) {
  check_rates("constant_rate", rate, rate, 1, at);
  return {{{.first = rate, .last = rate}}};
}

Schedule linear_rate(double first, double last, std::int64_t steps, Location at) {
  check_rates("linear_rate", first, last, steps, at);
  return {{{.first = first, .last = last, .steps = static_cast<double>(steps)}}};
}

Schedule cosine_rate(double first, std::int64_t steps, double last, Location at) {
  check_rates("cosine_rate", first, last, steps, at);
  return {{{.curve = Curve::Cosine,
            .first = first,
            .last = last,
            .steps = static_cast<double>(steps)}}};
}

Schedule exponential_rate(double first, double factor, Location at) {
  check_rates("exponential_rate", first, first, 1, at);
  check_factor("exponential_rate", factor, at);
  return {{{.curve = Curve::Exponential, .first = first, .factor = factor}}};
}

Schedule step_rate(double first, std::int64_t every, double factor, Location at) {
  check_rates("step_rate", first, first, every, at);
  check_factor("step_rate", factor, at);
  return {{{.curve = Curve::Stairs,
            .first = first,
            .factor = factor,
            .steps = static_cast<double>(every)}}};
}

Schedule one_cycle_rate(double most, std::int64_t steps, const OneCycleOptions& o, Location at) {
  check_rates("one_cycle_rate", most, most, steps, at);
  check_factor("one_cycle_rate", std::min(o.div_factor, o.final_div_factor), at);
  const double rise = o.pct_start * static_cast<double>(steps) - 1;
  const double fall = static_cast<double>(steps) - 1 - rise;
  check(rise > 0 && fall > 0, at, "one_cycle_rate: {} steps, {} of them rising", steps,
        o.pct_start);
  const double least = most / o.div_factor;
  return {{{.curve = Curve::Cosine, .first = least, .last = most, .steps = rise},
           {.curve = Curve::Cosine,
            .begin = rise,
            .first = most,
            .last = least / o.final_div_factor,
            .steps = fall}}};
}

Schedule sequence(const Schedule& before, std::int64_t steps, const Schedule& after, Location at) {
  check(steps >= 1, at, "sequence: {} steps", steps);
  check(!before.pieces.empty() && !after.pieces.empty(), at, "sequence: a schedule without pieces");
  const auto milestone = static_cast<double>(steps);
  Schedule joined;
  for (const RatePiece& piece : before.pieces) {
    if (piece.begin < milestone) joined.pieces.push_back(piece);
  }
  for (RatePiece piece : after.pieces) {
    piece.begin += milestone;
    joined.pieces.push_back(piece);
  }
  return joined;
}

}  // namespace croze::optim
