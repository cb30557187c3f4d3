// muon.cpp -- Muon.
#include "croze/nn/optim/muon.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/nn/optim/update.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/print.h"

namespace croze::optim {
namespace {

double step_scale(const Tensor& p, bool matches_adam) {
  const auto rows = static_cast<double>(p.size(0)), columns = static_cast<double>(p.size(1));
  return matches_adam ? 0.2 * std::sqrt(std::max(rows, columns))
                      : std::sqrt(std::max(1., rows / columns));
}

}  // namespace

Tensor orthogonalized(const Tensor& matrix, int iterations, double epsilon, Location at) {
  check(matrix.ndim() == 2, at, "orthogonalized: shape {}, which is no matrix", matrix.shape());
  const bool is_tall = matrix.size(0) > matrix.size(1);  // the smaller product with itself is taken
  Tensor x = is_tall ? transpose(matrix, 0, 1) : matrix;
  x = x / clamp(vector_norm(x), epsilon, {}).contiguous();
  for (int i = 0; i < iterations; i++) {
    const Tensor a = matmul(x, transpose(x, 0, 1));
    x = 3.4445 * x + matmul(-4.775 * a + 2.0315 * matmul(a, a), x);
  }
  return is_tall ? transpose(x, 0, 1) : x;
}

Muon::Muon(std::vector<Tensor> p, const MuonOptions& o, Location at)
    : Optimizer("Muon", std::move(p), o.learning_rate, at), options(o) {
  for (const Tensor& m : parameters) {
    check(m.ndim() == 2, at, "Muon: a parameter of shape {}, which is no matrix", m.shape());
  }
  check(o.momentum >= 0 && o.momentum < 1, at,
        "Muon: a momentum of {}, which must be at least 0 and less than 1", o.momentum);
  check(o.iterations >= 1, at, "Muon: {} iterations", o.iterations);
  velocity = zeros_for(parameters);
}

void Muon::step(const std::vector<Tensor>& gradients, const Tensor& when, Location at) {
  const CallScope scope("Muon::step", at);
  check_step("Muon", parameters, gradients, when, at);
  const Tensor kept = 1 - learning_rate * options.weight_decay;
  std::vector<Tensor> assigned;
  for (std::size_t i = 0; i < parameters.size(); i++) {
    const Tensor p = widened(parameters[i]), g = widened(gradients[i]);
    assigned.push_back(update(velocity[i], lerp(velocity[i], g, 1 - options.momentum), when));
    const Tensor d = options.nesterov ? lerp(g, velocity[i], options.momentum) : velocity[i];
    const Tensor change = orthogonalized(d, options.iterations, options.epsilon);
    const double scale = step_scale(p, options.matches_adam);
    assigned.push_back(update(parameters[i], p * kept - learning_rate * scale * change, when));
  }
  finish(assigned);
}

}  // namespace croze::optim
