// muon.h -- Muon: descent with momentum whose steps are made nearly orthogonal, for the matrices
// inside of networks (Jordan et al., "Muon: an optimizer for hidden layers", 2024).  Embeddings,
// the last layer, biases and the weights of norms are better left to Adam.  How optimizers are
// used: optimizer.h.
//
// A gradient of a matrix has a few large singular values and many small ones, so most directions
// are hardly learned.  Five steps of an iteration of Newton and Schulz, matrix products alone,
// bring all of them near 1.
#pragma once

#include <vector>

#include "croze/nn/optim/optimizer.h"

namespace croze::optim {

struct MuonOptions {
  double learning_rate = 1e-3;
  double momentum = 0.95;
  bool nesterov = true;
  double weight_decay = 0.1;  // decoupled
  int iterations = 5;
  double epsilon = 1e-7;      // the least norm by which a step is divided
  bool matches_adam = false;  // steps of the size of AdamW's, so that its learning rates serve
};

struct Muon : Optimizer {
  MuonOptions options;
  std::vector<nn::Buffer> velocity;  // per parameter, at least Float32

  // Throws Error for a parameter that is no matrix, unless 0 <= momentum < 1, and for less than one
  // iteration.
  explicit Muon(std::vector<Tensor> parameters, const MuonOptions& options = {},
                Location at = Location::current());

  // Velocity moves towards the gradient g by 1 - momentum; d is it, or with nesterov what it will
  // be if g comes again.  Then p *= 1 - learning_rate * weight_decay and p -= learning_rate * s *
  // orthogonalized(d), where s = sqrt(max(1, rows / columns)), or 0.2 sqrt(max(rows, columns)) if
  // it matches Adam.
  void step(const std::vector<Tensor>& gradients, const Tensor& when = {},
            Location at = Location::current());

  template <typename V>
  void visit(V&& v) const {
    Optimizer::visit(v);
    v("velocity", velocity);
  }
};

// A matrix with the singular vectors of x, and singular values that are nearly 1, from about 0.7 to
// 1.2: x / max(|x|, epsilon), to which x -> 3.4445 x + (-4.775 a + 2.0315 a a) x with a = x x^T is
// applied so many times.
Tensor orthogonalized(const Tensor& x, int iterations = 5, double epsilon = 1e-7,
                      Location at = Location::current());

}  // namespace croze::optim
