// rotary.cpp -- frequencies, by the form of scaling, and the rotation.
#include "croze/llm/model/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "croze/base/error.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"

namespace croze::llm {
namespace {

using Scaling = RotaryConfig::Scaling;

// The pair that makes so many turns in the original context, as a real number.
double pair_with_turns(const RotaryConfig& c, double turns) {
  const double tokens_a_turn = static_cast<double>(c.original_context) / turns;
  return static_cast<double>(c.width) * std::log(tokens_a_turn / (2 * std::numbers::pi)) /
         (2 * std::log(c.base));
}

// How much of the frequency of a pair stays as it was trained.
double kept_share(const RotaryConfig& c, std::int64_t pair) {
  double first = pair_with_turns(c, c.beta_fast), last = pair_with_turns(c, c.beta_slow);
  if (c.whole_pairs) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.);
  last = std::min(last, static_cast<double>(c.width - 1));
  const double way = (static_cast<double>(pair) - first) / std::max(last - first, 0.001);
  return (1 - std::clamp(way, 0., 1.)) * c.extrapolation;
}

double scale_of(const RotaryConfig& c) {
  const double of_yarn = c.scaling == Scaling::Yarn ? 1 + 0.1 * std::log(c.factor) : 1;
  return c.attention_factor * of_yarn;
}

}  // namespace

std::vector<double> rotary_frequencies(const RotaryConfig& c, std::span<const float> factors) {
  std::vector<double> result;
  for (std::int64_t pair = 0; pair < c.width / 2; pair++) {
    const double exponent = -2 * static_cast<double>(pair) / static_cast<double>(c.width);
    double frequency = std::pow(c.base, exponent);
    if (!factors.empty()) frequency /= static_cast<double>(factors[static_cast<std::size_t>(pair)]);
    if (c.scaling == Scaling::Linear) frequency /= c.factor;
    if (c.scaling == Scaling::Yarn) {
      const double kept = kept_share(c, pair);
      frequency *= kept + (1 - kept) / c.factor;
    }
    result.push_back(frequency);
  }
  return result;
}

Rotary::Rotary(const RotaryConfig& config, bool in_neighbours, std::span<const float> factors)
    : scale(scale_of(config)), neighbours(in_neighbours) {
  const std::vector<double> list = rotary_frequencies(config, factors);
  frequencies = Tensor::from_data(list, {std::ssize(list)}, {.dtype = DType::Float32});
}

Turn Rotary::at(const Tensor& places) const {
  const Tensor angles = places.cast(DType::Float32).reshape({-1, 1, 1}) * frequencies;
  return {.cosines = cos(angles) * scale, .sines = sin(angles) * scale};
}

// Each element with the other one of its pair, by one expression for both halves: it stays a part
// of what reads it.
Tensor Rotary::turned(const Tensor& x, const Turn& turn) const {
  const std::int64_t pairs = frequencies.numel(), rest = x.size(2) - 2 * pairs;
  const Shape halves =
      neighbours ? Shape{x.size(0), x.size(1), pairs, 2} : Shape{x.size(0), x.size(1), 2, pairs};
  const int axis = neighbours ? 3 : 2;
  const Tensor split = x.narrow(2, 0, 2 * pairs).reshape(halves);
  const Tensor signs = Tensor::arange(2, DType::Float32) * 2 - 1;
  const Tensor sines = turn.sines.unsqueeze(axis) * (neighbours ? signs : signs.unsqueeze(1));
  const Tensor turned = (split * turn.cosines.unsqueeze(axis) + split.flip({axis}) * sines)
                            .reshape({x.size(0), x.size(1), 2 * pairs});
  return rest == 0 ? turned : cat({turned, x.narrow(2, 2 * pairs, rest)}, 2);
}

}  // namespace croze::llm
