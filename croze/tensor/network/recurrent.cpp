// recurrent.cpp -- recurrent networks.
//
// The part of the gates that comes from the input is one product for all times.  What remains is a
// step per time, the same kernels each time.
#include "croze/tensor/network/recurrent.h"

#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/random/random.h"
#include "croze/tensor/record.h"

namespace croze {
namespace {

enum class Cell { Rnn, Lstm, Gru };

int gates_of(Cell cell) { return cell == Cell::Rnn ? 1 : cell == Cell::Lstm ? 4 : 3; }

void check_weights(const Call& call, Cell cell, const CellWeights& w, std::int64_t in) {
  call.require(w.ih.ndim() == 2 && w.hh.ndim() == 2 && w.ih.size(1) == in,
               "the input weight must be (gates * hidden, {})", in);
  const std::int64_t hidden = w.hh.size(1), rows = gates_of(cell) * hidden;
  call.require(w.ih.size(0) == rows && w.hh.size(0) == rows,
               "weights for a state of {} must have {} rows", hidden, rows);
}

// The next state from the input's part of the gates.
LstmState step(Cell cell, const Tensor& from_input, const LstmState& state, const CellWeights& w,
               RnnActivation activation, Location at) {
  const Tensor from_state = linear(state.h, w.hh, w.bias_hh, at);
  if (cell == Cell::Rnn) {
    const Tensor sum = from_input + from_state;
    return {activation == RnnActivation::Tanh ? tanh(sum) : relu(sum), {}};
  }
  if (cell == Cell::Lstm) {
    const std::vector<Tensor> g = chunk(from_input + from_state, 4, -1, at);
    const Tensor c = sigmoid(g[1]) * state.c + sigmoid(g[0]) * tanh(g[2]);
    return {sigmoid(g[3]) * tanh(c), c};
  }
  const std::vector<Tensor> x = chunk(from_input, 3, -1, at), h = chunk(from_state, 3, -1, at);
  const Tensor reset = sigmoid(x[0] + h[0]), update = sigmoid(x[1] + h[1]);
  const Tensor fresh = tanh(x[2] + reset * h[2]);
  return {(1 - update) * fresh + update * state.h, {}};
}

LstmState one_step(std::string_view name, Cell cell, const Tensor& x, const LstmState& state,
                   const CellWeights& w, RnnActivation activation, Location at) {
  const Call call(name, {&x, &state.h, &w.ih, &w.hh}, at);
  call.require(x.ndim() >= 1, "the input has an axis");
  check_weights(call, cell, w, x.size(-1));
  return step(cell, linear(x, w.ih, w.bias_ih, at), state, w, activation, at);
}

// One layer in one direction over x (t, n, in).
SequenceResult run(Cell cell, const Tensor& x, LstmState state, const CellWeights& w, bool backward,
                   RnnActivation activation, Location at) {
  const std::int64_t steps = x.size(0);
  const Tensor gates = linear(x, w.ih, w.bias_ih, at).contiguous();
  std::vector<Tensor> outputs(static_cast<std::size_t>(steps));
  for (std::int64_t i = 0; i < steps; i++) {
    const std::int64_t t = backward ? steps - 1 - i : i;
    const Tensor from_input = select(gates, 0, t, at).contiguous();
    state = step(cell, from_input, state, w, activation, at);
    state.h = state.h.contiguous();
    if (state.c.defined()) state.c = state.c.contiguous();
    outputs[static_cast<std::size_t>(t)] = state.h;
  }
  return {stack(outputs, 0, at), state.h, state.c};
}

SequenceResult layers(std::string_view name, Cell cell, const Tensor& x,
                      std::span<const CellWeights> weights, const LstmState& start,
                      const SequenceOptions& options, Location at) {
  const Call call(name, {&x, &start.h, &start.c}, at);
  call.require(x.ndim() == 2 || x.ndim() == 3, "the input is (t, n, in) or (t, in)");
  const bool single = x.ndim() == 2;
  const std::size_t directions = options.bidirectional ? 2 : 1;
  call.require(!weights.empty() && weights.size() % directions == 0, "{} weights for {} directions",
               weights.size(), directions);
  Tensor input = single ? unsqueeze(x, 1, at) : options.batch_first ? transpose(x, 0, 1, at) : x;
  call.require(input.size(0) > 0, "the sequence is empty");
  std::vector<Tensor> last_h, last_c;
  for (std::size_t i = 0; i < weights.size(); i += directions) {
    std::vector<Tensor> outputs;
    for (std::size_t d = 0; d < directions; d++) {
      const CellWeights& w = weights[i + d];
      check_weights(call, cell, w, input.size(-1));
      const Shape shape{input.size(1), w.hh.size(1)};
      const auto begin = [&](const Tensor& given) {
        if (!given.defined()) return Tensor::zeros(shape, {.dtype = input.dtype()}, at);
        return reshape(select(given, 0, static_cast<std::int64_t>(i + d), at), shape, at);
      };
      const LstmState state{begin(start.h), cell == Cell::Lstm ? begin(start.c) : Tensor()};
      const SequenceResult r = run(cell, input, state, w, d == 1, options.activation, at);
      outputs.push_back(r.output);
      last_h.push_back(r.h);
      if (r.c.defined()) last_c.push_back(r.c);
    }
    input = cat(outputs, -1, at);
    const bool is_last = i + directions == weights.size();
    if (!is_last) input = dropout(input, options.dropout, options.training, at);
  }
  const auto states = [&](const std::vector<Tensor>& list) {
    const Tensor joined = stack(list, 0, at);
    return single ? squeeze(joined, 1, at) : joined;
  };
  const Tensor output = single                ? squeeze(input, 1, at)
                        : options.batch_first ? transpose(input, 0, 1, at)
                                              : input;
  return {output, states(last_h), last_c.empty() ? Tensor() : states(last_c)};
}

}  // namespace

// ---- cells ------------------------------------------------------------------------------------

Tensor rnn_cell(const Tensor& x, const Tensor& h, const CellWeights& weights,
                RnnActivation activation, Location at) {
  return one_step("rnn_cell", Cell::Rnn, x, {h, {}}, weights, activation, at).h;
}

LstmState lstm_cell(const Tensor& x, const LstmState& state, const CellWeights& weights,
                    Location at) {
  return one_step("lstm_cell", Cell::Lstm, x, state, weights, RnnActivation::Tanh, at);
}

Tensor gru_cell(const Tensor& x, const Tensor& h, const CellWeights& weights, Location at) {
  return one_step("gru_cell", Cell::Gru, x, {h, {}}, weights, RnnActivation::Tanh, at).h;
}

// ---- sequences --------------------------------------------------------------------------------

SequenceResult rnn(const Tensor& x, std::span<const CellWeights> weights, const Tensor& h,
                   const SequenceOptions& options, Location at) {
  return layers("rnn", Cell::Rnn, x, weights, {h, {}}, options, at);
}

SequenceResult lstm(const Tensor& x, std::span<const CellWeights> weights, const LstmState& state,
                    const SequenceOptions& options, Location at) {
  return layers("lstm", Cell::Lstm, x, weights, state, options, at);
}

SequenceResult gru(const Tensor& x, std::span<const CellWeights> weights, const Tensor& h,
                   const SequenceOptions& options, Location at) {
  return layers("gru", Cell::Gru, x, weights, {h, {}}, options, at);
}

}  // namespace croze
