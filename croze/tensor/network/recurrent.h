// recurrent.h -- recurrent cells and sequences, with PyTorch's weights and gates.
//
// A cell has weights ih (gates * hidden, in) and hh (gates * hidden, hidden), and biases (gates *
// hidden) that may be undefined: one gate for rnn; input, forget, cell, output for lstm; reset,
// update, new for gru.
#pragma once

#include "croze/tensor/tensor.h"

namespace croze {

struct CellWeights {
  Tensor ih, hh;
  Tensor bias_ih = {}, bias_hh = {};
};

enum class RnnActivation { Tanh, Relu };

struct LstmState {
  Tensor h, c;
};

// x (.., in) and h (.., hidden): the new h.
Tensor rnn_cell(const Tensor& x, const Tensor& h, const CellWeights& weights,
                RnnActivation activation = RnnActivation::Tanh, Location at = Location::current());
LstmState lstm_cell(const Tensor& x, const LstmState& state, const CellWeights& weights,
                    Location at = Location::current());
Tensor gru_cell(const Tensor& x, const Tensor& h, const CellWeights& weights,
                Location at = Location::current());

struct SequenceOptions {
  bool bidirectional = false;  // weights alternate: layer 0 forward, layer 0 backward, layer 1 ..
  bool batch_first = false;    // x (n, t, in) instead of (t, n, in)
  double dropout = 0;          // between layers, if training
  bool training = false;
  RnnActivation activation = RnnActivation::Tanh;  // rnn
};

struct SequenceResult {
  Tensor output;  // (t, n, directions * hidden)
  Tensor h, c;    // the last states, (layers * directions, n, hidden); c of lstm only
};

// Layers of cells over x (t, n, in) or (t, in), one CellWeights for each layer and direction.  The
// states to start from, (layers * directions, n, hidden), are zeros if undefined.
SequenceResult rnn(const Tensor& x, std::span<const CellWeights> weights, const Tensor& h = {},
                   const SequenceOptions& options = {}, Location at = Location::current());
SequenceResult lstm(const Tensor& x, std::span<const CellWeights> weights,
                    const LstmState& state = {}, const SequenceOptions& options = {},
                    Location at = Location::current());
SequenceResult gru(const Tensor& x, std::span<const CellWeights> weights, const Tensor& h = {},
                   const SequenceOptions& options = {}, Location at = Location::current());

}  // namespace croze
