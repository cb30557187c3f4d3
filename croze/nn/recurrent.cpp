// recurrent.cpp -- starting values and names of the recurrent layers.
#include "croze/nn/recurrent.h"

#include <cmath>

#include "croze/base/error.h"
#include "croze/nn/initial.h"

namespace croze::nn {

RecurrentLayers::RecurrentLayers(std::int64_t in, std::int64_t hidden, int gates,
                                 const RecurrentOptions& o, Location at)
    : options(o) {
  check(in > 0 && hidden > 0 && o.layers > 0, at, "recurrent layers: {} layers of {} to {}",
        o.layers, in, hidden);
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  const auto parameter = [&](const Shape& shape) { return within(bound, shape, o.tensor, at); };
  const std::int64_t directions = o.bidirectional ? 2 : 1, rows = gates * hidden;
  for (std::int64_t i = 0; i < o.layers * directions; i++) {
    const std::int64_t width = i < directions ? in : hidden * directions;
    CellWeights w{.ih = parameter({rows, width}), .hh = parameter({rows, hidden})};
    if (o.bias) {
      w.bias_ih = parameter({rows});
      w.bias_hh = parameter({rows});
    }
    weights.push_back(w);
  }
}

SequenceOptions RecurrentLayers::sequence(bool training) const {
  return {.bidirectional = options.bidirectional,
          .batch_first = options.batch_first,
          .dropout = options.dropout,
          .training = training,
          .activation = options.activation};
}

std::string RecurrentLayers::suffix(std::size_t i) const {
  const std::size_t directions = options.bidirectional ? 2 : 1;
  const bool is_reverse = i % directions == 1;
  return "_l" + std::to_string(i / directions) + (is_reverse ? "_reverse" : "");
}

}  // namespace croze::nn
