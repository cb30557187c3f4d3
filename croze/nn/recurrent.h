// recurrent.h -- recurrent layers.  Parameters are named as PyTorch names them (weight_ih_l0,
// weight_hh_l0_reverse, ..) and start uniform within 1 / sqrt(hidden).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/nn/state.h"
#include "croze/tensor/network/recurrent.h"

namespace croze::nn {

struct RecurrentOptions {
  std::int64_t layers = 1;
  bool bias = true;
  bool batch_first = false;    // x (n, t, in) instead of (t, n, in)
  bool bidirectional = false;  // a second cell per layer runs backwards; the outputs are joined
  double dropout = 0;          // between layers, when training
  RnnActivation activation = RnnActivation::Tanh;  // RNN
  TensorOptions tensor = {};
};

// The weights of all layers and directions, and how they are run.
struct RecurrentLayers {
  std::vector<CellWeights> weights;
  RecurrentOptions options;

  // Throws Error unless sizes are positive.
  RecurrentLayers(std::int64_t in, std::int64_t hidden, int gates, const RecurrentOptions& options,
                  Location at);
  SequenceOptions sequence(bool training) const;

  template <typename V>
  void visit(V&& v) const {
    for (std::size_t i = 0; i < weights.size(); i++) {
      const std::string end = suffix(i);
      v("weight_ih" + end, weights[i].ih);
      v("weight_hh" + end, weights[i].hh);
      v("bias_ih" + end, weights[i].bias_ih);
      v("bias_hh" + end, weights[i].bias_hh);
    }
  }

 private:
  std::string suffix(std::size_t i) const;
};

// See rnn, lstm and gru of tensor/network/recurrent.h.
struct RNN : RecurrentLayers {
  RNN(std::int64_t in, std::int64_t hidden, const RecurrentOptions& o = {},
      Location at = Location::current())
      : RecurrentLayers(in, hidden, 1, o, at) {}
  SequenceResult operator()(const Tensor& x, const Tensor& h = {}, bool training = false,
                            Location at = Location::current()) const {
    return rnn(x, weights, h, sequence(training), at);
  }
};

struct LSTM : RecurrentLayers {
  LSTM(std::int64_t in, std::int64_t hidden, const RecurrentOptions& o = {},
       Location at = Location::current())
      : RecurrentLayers(in, hidden, 4, o, at) {}
  SequenceResult operator()(const Tensor& x, const LstmState& state = {}, bool training = false,
                            Location at = Location::current()) const {
    return lstm(x, weights, state, sequence(training), at);
  }
};

struct GRU : RecurrentLayers {
  GRU(std::int64_t in, std::int64_t hidden, const RecurrentOptions& o = {},
      Location at = Location::current())
      : RecurrentLayers(in, hidden, 3, o, at) {}
  SequenceResult operator()(const Tensor& x, const Tensor& h = {}, bool training = false,
                            Location at = Location::current()) const {
    return gru(x, weights, h, sequence(training), at);
  }
};

}  // namespace croze::nn
