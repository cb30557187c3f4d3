// recurrent.cpp -- RNN, LSTM and GRU, over sequences of one length or of several.
//
// Weights hold one direction after the other and in each the gates one below the other; a cell is a
// function from (input gates, state) to the next state.  Layout 0 is (time, batch, ..), layout 1
// (batch, time, ..).
#include <algorithm>
#include <string>

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

struct Activation {
  std::string name;
  double alpha, beta;
};

// Names are compared without case, as exporters disagree about it.
std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

Tensor apply(const Activation& f, const Tensor& x) {
  if (f.name == "sigmoid") return sigmoid(x);
  if (f.name == "tanh") return tanh(x);
  if (f.name == "relu") return relu(x);
  if (f.name == "affine") return x * f.alpha + f.beta;
  if (f.name == "leakyrelu") return leaky_relu(x, f.alpha);
  if (f.name == "thresholdedrelu") return where(x > f.alpha, x, 0);
  if (f.name == "scaledtanh") return f.alpha * tanh(x * f.beta);
  if (f.name == "hardsigmoid") return clamp(x * f.alpha + f.beta, 0, 1);
  if (f.name == "elu") return elu(x, f.alpha);
  if (f.name == "softsign") return softsign(x);
  if (f.name == "softplus") return softplus(x);
  fail({}, "the activation {} is not known", f.name);
}

// What the attributes leave out.
Activation with_defaults(std::string_view name) {
  struct Row {
    std::string_view name;
    double alpha, beta;
  };
  constexpr Row rows[] = {{"affine", 1, 0},          {"leakyrelu", 0.01, 0},
                          {"thresholdedrelu", 1, 0}, {"scaledtanh", 1, 1},
                          {"hardsigmoid", 0.2, 0.5}, {"elu", 1, 0}};
  const std::string key = lower(name);
  const auto* row = std::ranges::find(rows, std::string_view(key), &Row::name);
  return row == std::end(rows) ? Activation{key, 0, 0} : Activation{key, row->alpha, row->beta};
}

// The activations of all directions; alphas and betas are given for the first of them.
std::vector<Activation> activations_of(const NodeCall& call, int directions,
                                       std::vector<std::string_view> names) {
  const std::vector<std::string_view> given = call.texts("activations");
  const std::vector<double> alpha = call.reals("activation_alpha");
  const std::vector<double> beta = call.reals("activation_beta");
  const std::size_t per_direction = names.size();
  if (!given.empty()) names = given;
  std::vector<Activation> result;
  for (std::size_t i = 0; i < per_direction * static_cast<std::size_t>(directions); i++) {
    // A list for one direction serves both.
    const std::size_t place = i < names.size() ? i : i % per_direction;
    check(place < names.size(), "{} activations for {} gates", names.size(), per_direction);
    result.push_back(with_defaults(names[place]));
    if (i < alpha.size()) result.back().alpha = alpha[i];
    if (i < beta.size()) result.back().beta = beta[i];
  }
  return result;
}

struct State {
  Tensor h, c;  // (batch, hidden); c only for LSTM
};

// One direction of one node.
struct Cell {
  Tensor r;          // (gates * hidden, hidden): of the state
  Tensor bias_r;     // (gates * hidden), added to what r gives
  Tensor peepholes;  // (3 * hidden) or undefined
  std::int64_t hidden = 0;
  double clip = 0;  // 0: none
  bool linear_before_reset = false, couple = false;
  std::span<const Activation> f;

  Tensor clipped(const Tensor& x) const { return clip > 0 ? clamp(x, -clip, clip) : x; }
  Tensor gate(const Tensor& all, std::int64_t i) const { return all.narrow(1, i * hidden, hidden); }
  Tensor peephole(std::int64_t i) const { return peepholes.narrow(0, i * hidden, hidden); }
};

// Each takes x * W^T + Wb, (batch, gates * hidden).
using Step = State (*)(const Cell& cell, const Tensor& input, const State& state);

State rnn_step(const Cell& cell, const Tensor& input, const State& state) {
  const Tensor sum = input + linear(state.h, cell.r, cell.bias_r);
  return {apply(cell.f[0], cell.clipped(sum)), {}};
}

// Gates: input, output, forget, cell.  Peepholes: input, output, forget.
State lstm_step(const Cell& cell, const Tensor& input, const State& state) {
  const Tensor all = input + linear(state.h, cell.r, cell.bias_r);
  const auto gate = [&](std::int64_t i, std::int64_t peephole, const Tensor& c) {
    const Tensor sum = cell.gate(all, i);
    return cell.clipped(cell.peepholes.defined() ? sum + cell.peephole(peephole) * c : sum);
  };
  const Tensor i = apply(cell.f[0], gate(0, 0, state.c));
  const Tensor f = cell.couple ? 1 - i : apply(cell.f[0], gate(2, 2, state.c));
  const Tensor c = f * state.c + i * apply(cell.f[1], cell.clipped(cell.gate(all, 3)));
  const Tensor o = apply(cell.f[0], gate(1, 1, c));
  return {o * apply(cell.f[2], c), c};
}

// Gates: update, reset, hidden.
State gru_step(const Cell& cell, const Tensor& input, const State& state) {
  const Tensor from_state = linear(state.h, cell.r, cell.bias_r);
  const auto gate = [&](std::int64_t i) {
    return apply(cell.f[0], cell.clipped(cell.gate(input, i) + cell.gate(from_state, i)));
  };
  const Tensor z = gate(0), r = gate(1);
  Tensor moved = r * cell.gate(from_state, 2);
  if (!cell.linear_before_reset) {
    const Tensor weight = cell.r.narrow(0, 2 * cell.hidden, cell.hidden);
    moved = linear(r * state.h, weight, cell.bias_r.narrow(0, 2 * cell.hidden, cell.hidden));
  }
  const Tensor h = apply(cell.f[1], cell.clipped(cell.gate(input, 2) + moved));
  return {(1 - z) * h + z * state.h, {}};
}

struct Kind {
  std::int64_t gates;
  std::vector<std::string_view> activations;
  Step step;
  bool has_cell;
};

struct Direction {
  Tensor steps;  // (time, batch, hidden)
  State last;
};

// `x` (time, batch, inputs).  After the end of its sequence a row keeps its state and gives zeros.
Direction run_direction(const Kind& kind, const Cell& cell, const Tensor& x, const Tensor& w,
                        const Tensor& bias_w, State state, const Tensor& lengths, bool backwards) {
  const std::int64_t time = x.size(0), batch = x.size(1);
  const Tensor inputs = linear(x, w, bias_w);  // (time, batch, gates * hidden)
  std::vector<Tensor> steps(static_cast<std::size_t>(time));
  for (std::int64_t k = 0; k < time; k++) {
    const std::int64_t t = backwards ? time - 1 - k : k;
    State next = kind.step(cell, inputs.narrow(0, t, 1).squeeze(0), state);
    Tensor shown = next.h;
    if (lengths.defined()) {
      const Tensor alive = (lengths > t).reshape({batch, 1});
      shown = where(alive, next.h, 0);
      next.h = where(alive, next.h, state.h);
      if (kind.has_cell) next.c = where(alive, next.c, state.c);
    }
    state = next;
    steps[static_cast<std::size_t>(t)] = shown;
  }
  check(time > 0, "a sequence of no elements");
  return {stack(steps), state};
}

// Inputs: x, w, r, bias, lengths, state, cell state, peepholes.
Results recurrent(const NodeCall& call, const Kind& kind) {
  const bool batch_first = call.integer("layout", 0) == 1;
  const Tensor x = batch_first ? call[0].transpose(0, 1) : call[0];
  const Tensor &w = call[1], &r = call[2];
  check(x.ndim() == 3 && w.ndim() == 3 && r.ndim() == 3, "inputs of shape {}, {} and {}",
        to_text(x.shape()), to_text(w.shape()), to_text(r.shape()));
  const std::int64_t hidden = r.size(2), batch = x.size(1);
  const int directions = static_cast<int>(w.size(0));
  const std::string_view direction = call.text("direction", "forward");
  check(directions == (direction == "bidirectional" ? 2 : 1), "weights for {} directions, {}",
        directions, direction);
  const std::int64_t width = kind.gates * hidden;
  const TensorOptions options{.dtype = x.dtype()};
  const Tensor bias = call.has(3) ? call[3] : Tensor::zeros({directions, 2 * width}, options);
  const auto state_of = [&](int input, std::int64_t d) {
    if (!call.has(input)) return Tensor::zeros({batch, hidden}, options);
    return call[input].narrow(batch_first ? 1 : 0, d, 1).squeeze(batch_first ? 1 : 0);
  };
  const std::vector<Activation> activations = activations_of(call, directions, kind.activations);
  std::vector<Tensor> steps, last_h, last_c;
  for (std::int64_t d = 0; d < directions; d++) {
    const auto row = [&](const Tensor& t) { return t.narrow(0, d, 1).squeeze(0); };
    Cell cell;
    cell.r = row(r);
    cell.bias_r = row(bias).narrow(0, width, width);
    if (kind.has_cell && call.has(7)) cell.peepholes = row(call[7]);
    cell.hidden = hidden;
    cell.clip = call.real("clip", 0);
    cell.linear_before_reset = call.flag("linear_before_reset");
    cell.couple = call.flag("input_forget");
    cell.f = std::span(activations).subspan(static_cast<std::size_t>(d) * kind.activations.size());
    State state{state_of(5, d), {}};
    if (kind.has_cell) state.c = state_of(6, d);
    const Direction result =
        run_direction(kind, cell, x, row(w), row(bias).narrow(0, 0, width), state, call.optional(4),
                      direction == "reverse" || d == 1);
    steps.push_back(result.steps);
    last_h.push_back(result.last.h);
    last_c.push_back(result.last.c);
  }
  // (time, directions, batch, hidden), or (batch, time, directions, hidden).
  const Tensor y = batch_first ? stack(steps, 2).transpose(0, 1) : stack(steps, 1);
  const int place = batch_first ? 1 : 0;
  Results results{y, stack(last_h, place)};
  if (kind.has_cell) results.push_back(stack(last_c, place));
  return results;
}

Results rnn(const NodeCall& call) { return recurrent(call, {1, {"Tanh"}, rnn_step, false}); }

Results lstm(const NodeCall& call) {
  return recurrent(call, {4, {"Sigmoid", "Tanh", "Tanh"}, lstm_step, true});
}

Results gru(const NodeCall& call) {
  return recurrent(call, {3, {"Sigmoid", "Tanh"}, gru_step, false});
}

// clang-format off
constexpr Operator table[] = {
  {"GRU", 1, gru},
  {"LSTM", 1, lstm},
  {"RNN", 1, rnn},
};
// clang-format on

}  // namespace

std::span<const Operator> recurrent_operators() { return table; }

}  // namespace croze::onnx
