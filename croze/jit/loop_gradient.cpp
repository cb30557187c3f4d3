// loop_gradient.cpp -- the gradient of a loop is a loop.
//
// A step maps (state, row, constants) to (next state, y).  Going backwards through the steps, the
// gradients by the next state and by y make those by the state, by the row and by the constants: a
// vector-Jacobian product of the body, recorded over the state with which the step began.  The
// gradient by the state is the state of the loop backwards; those by rows are what it gives out;
// those by constants are summed up in further states.  Being a loop, it can be differentiated.
#include <algorithm>
#include <utility>

#include "croze/base/error.h"
#include "croze/jit/loop.h"
#include "croze/run/devices.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/record.h"

namespace croze {
namespace {

using Tensors = std::vector<Tensor>;
using Numbers = std::vector<std::size_t>;

bool is_zero(const Tensor& x) {
  GraphLock lock;
  const UOp number = filling_of(x.node());
  return number && number.const_double() == 0;
}

bool has_gradient(const Body::Value& v) { return is_float(v.dtype) && v.shape.numel() > 0; }

// Zeros for a value, or for one per row.
Tensor zeros(const Body::Value& v, std::int64_t rows = 0) {
  Shape shape;
  if (rows > 0) shape.push_back(rows);
  for (std::int64_t size : v.shape) shape.push_back(size);
  return Tensor::zeros(shape, {.dtype = v.dtype, .device = device_name(v.device)});
}

// Sums over steps are in Float32 for half types, as sums along an axis are.
Body::Value sum_of(Body::Value v) {
  v.dtype = accumulator(v.dtype);
  return v;
}

void append(Tensors& list, std::span<const Tensor> more) {
  list.insert(list.end(), more.begin(), more.end());
}

// The gradient of one loop, as it is asked for.
class Backward {
 public:
  Backward(const Loop& loop, const GradientRequest& request, std::span<const LoopValue> values,
           Location at);

  // The gradients by the arguments; undefined where none is wanted.  `kept`: the entered states
  // that are further inputs.
  Tensors run(std::span<const std::size_t> kept) const;

 private:
  // The arguments of a step backwards, taken apart.
  struct Step {
    std::span<const Tensor> by_states, by_constants;         // states
    std::span<const Tensor> begin, rows, by_ys, by_entered;  // rows
    std::span<const Tensor> constants;
  };

  const Body::Value& argument(std::size_t i) const { return loop_.body->arguments()[i]; }
  std::size_t first_constant() const { return loop_.states + loop_.rows; }
  Numbers wanted(std::size_t begin, std::size_t end) const;
  std::vector<Body::Value> values_of_step() const;
  Step taken_apart(std::span<const Tensor> arguments) const;
  Tensors step(const Step& s) const;
  Tensors entered(const Body& backwards, std::span<const std::size_t> kept) const;
  Tensors entered_with_past(std::span<const std::size_t> kept) const;
  Tensors entered_again(const Numbers& states) const;

  const Loop& loop_;
  Location at_;
  std::span<const Tensor> inputs_, arguments_;
  std::vector<bool> is_wanted_;
  Tensors by_states_, by_ys_, by_entered_;  // defined where there is one that is not zero

  // The states, ys and so on that take part.
  Numbers float_states_, ys_, entered_, wanted_rows_, wanted_constants_;
};

Numbers defined_in(std::span<const Tensor> list) {
  Numbers numbers;
  for (std::size_t i = 0; i < list.size(); i++) {
    if (list[i].defined()) numbers.push_back(i);
  }
  return numbers;
}

Backward::Backward(const Loop& loop, const GradientRequest& request,
                   std::span<const LoopValue> values, Location at)
    : loop_(loop),
      at_(at),
      inputs_(request.inputs),
      arguments_(request.inputs.first(loop.body->arguments().size())),
      is_wanted_(request.wanted),
      by_states_(loop.states),
      by_ys_(loop.ys()),
      by_entered_(loop.states) {
  for (std::size_t k = 0; k < values.size(); k++) {
    if (is_zero(request.gradients[k])) continue;
    Tensors& list = values[k].kind == LoopValue::Kind::LastState ? by_states_
                    : values[k].kind == LoopValue::Kind::Y       ? by_ys_
                                                                 : by_entered_;
    list[values[k].index] = request.gradients[k];
  }
  for (std::size_t i = 0; i < loop.states; i++) {
    if (has_gradient(argument(i))) float_states_.push_back(i);
  }
  ys_ = defined_in(by_ys_);
  entered_ = defined_in(by_entered_);
  wanted_rows_ = wanted(loop.states, first_constant());
  wanted_constants_ = wanted(first_constant(), arguments_.size());
}

Numbers Backward::wanted(std::size_t begin, std::size_t end) const {
  Numbers numbers;
  for (std::size_t i = begin; i < end; i++) {
    if (is_wanted_[i] && has_gradient(argument(i))) numbers.push_back(i);
  }
  return numbers;
}

// ---- one step ---------------------------------------------------------------------------------

std::vector<Body::Value> Backward::values_of_step() const {
  std::vector<Body::Value> values;
  for (std::size_t i : float_states_) values.push_back(argument(i));
  for (std::size_t i : wanted_constants_) values.push_back(sum_of(argument(i)));
  for (std::size_t i = 0; i < first_constant(); i++) values.push_back(argument(i));
  for (std::size_t i : ys_) values.push_back(loop_.body->results()[loop_.states + i]);
  for (std::size_t i : entered_) values.push_back(argument(i));
  for (std::size_t i = first_constant(); i < arguments_.size(); i++) values.push_back(argument(i));
  return values;
}

Backward::Step Backward::taken_apart(std::span<const Tensor> arguments) const {
  const auto take = [&](std::size_t count) {
    const std::span<const Tensor> taken = arguments.first(count);
    arguments = arguments.subspan(count);
    return taken;
  };
  Step s;
  s.by_states = take(float_states_.size());
  s.by_constants = take(wanted_constants_.size());
  s.begin = take(loop_.states);
  s.rows = take(loop_.rows);
  s.by_ys = take(ys_.size());
  s.by_entered = take(entered_.size());
  s.constants = arguments;
  return s;
}

// The next states of the loop backwards, and the gradients by the rows.
Tensors Backward::step(const Step& s) const {
  Tensors arguments(s.begin.begin(), s.begin.end());
  append(arguments, s.rows);
  append(arguments, s.constants);
  const Tensors results = (*loop_.body)(arguments);

  Tensors roots, weights, targets;
  for (std::size_t i : float_states_) roots.push_back(results[i]);
  for (std::size_t i : ys_) roots.push_back(results[loop_.states + i]);
  for (std::size_t i : entered_) roots.push_back(s.begin[i]);
  append(weights, s.by_states);
  append(weights, s.by_ys);
  append(weights, s.by_entered);
  for (std::size_t i : float_states_) targets.push_back(arguments[i]);
  for (std::size_t i : wanted_constants_) targets.push_back(arguments[i]);
  for (std::size_t i : wanted_rows_) targets.push_back(arguments[i]);
  Tensors gradients = vjp(roots, weights, targets, at_);
  for (std::size_t k = 0; k < wanted_constants_.size(); k++) {
    Tensor& g = gradients[float_states_.size() + k];
    g = s.by_constants[k] + g.cast(s.by_constants[k].dtype());
  }
  return gradients;
}

// ---- all steps --------------------------------------------------------------------------------

Tensors Backward::run(std::span<const std::size_t> kept) const {
  const auto body = std::make_shared<const Body>(
      values_of_step(), [&](std::span<const Tensor> a) { return step(taken_apart(a)); });
  Tensors arguments;
  for (std::size_t i : float_states_) {
    arguments.push_back(by_states_[i].defined() ? by_states_[i] : zeros(argument(i)));
  }
  for (std::size_t i : wanted_constants_) arguments.push_back(zeros(sum_of(argument(i))));
  append(arguments, entered(*body, kept));
  append(arguments, arguments_.subspan(loop_.states, loop_.rows));
  for (std::size_t i : ys_) arguments.push_back(by_ys_[i]);
  for (std::size_t i : entered_) arguments.push_back(by_entered_[i]);
  append(arguments, arguments_.subspan(first_constant()));

  const Loop backwards{.body = body,
                       .states = float_states_.size() + wanted_constants_.size(),
                       .rows = first_constant() + ys_.size() + entered_.size(),
                       .length = loop_.length,
                       .reverse = !loop_.reverse,
                       .keep_states = false};
  const LoopResult result = croze::run(backwards, arguments, at_);
  Tensors gradients(arguments_.size());
  auto last = result.states.begin();
  for (std::size_t i : float_states_) gradients[i] = *last++;
  for (std::size_t i : wanted_constants_) gradients[i] = (last++)->cast(argument(i).dtype);
  for (std::size_t k = 0; k < wanted_rows_.size(); k++) gradients[wanted_rows_[k]] = result.ys[k];
  return gradients;
}

// The states with which the steps began, stacked; of what the steps backwards do not read, zeros
// that are never computed.
Tensors Backward::entered(const Body& backwards, std::span<const std::size_t> kept) const {
  const std::size_t first = float_states_.size() + wanted_constants_.size();
  Tensors states;
  for (std::size_t i = 0; i < loop_.states; i++) states.push_back(zeros(argument(i), loop_.length));
  Numbers read;
  for (std::size_t i = 0; i < loop_.states; i++) {
    if (backwards.reads(first + i)) read.push_back(i);
  }
  if (read.empty()) return states;
  const Tensors there = loop_.keep_states ? entered_with_past(kept) : entered_again(read);
  const std::span<const std::size_t> numbers = loop_.keep_states ? kept : std::span(read);
  for (std::size_t k = 0; k < numbers.size(); k++) states[numbers[k]] = there[k];
  return states;
}

// As they were kept.  They come from the arguments themselves, but cannot have been told so when
// the loop ran, because its gradient needs them: so they are told now.
Tensors Backward::entered_with_past(std::span<const std::size_t> kept) const {
  const std::span<const Tensor> inputs = inputs_;
  Tensors states(inputs.begin() + std::ssize(arguments_), inputs.end()), differentiable;
  std::vector<LoopValue> values;
  for (std::size_t k = 0; k < kept.size(); k++) {
    if (!is_float(states[k].dtype())) continue;
    values.push_back({LoopValue::Kind::Entered, kept[k]});
    differentiable.push_back(states[k]);
  }
  const Tensors told = with_gradient(
      differentiable, inputs, gradient_of(loop_, values, {kept.begin(), kept.end()}, at_), at_);
  auto next = told.begin();
  for (Tensor& s : states) {
    if (is_float(s.dtype())) s = *next++;
  }
  return states;
}

// By another run of the loop, which gives them out.
Tensors Backward::entered_again(const Numbers& states) const {
  const auto body =
      std::make_shared<const Body>(loop_.body->arguments(), [&](std::span<const Tensor> a) {
        Tensors results = (*loop_.body)(a);
        results.resize(loop_.states);
        for (std::size_t i : states) results.push_back(a[i]);
        return results;
      });
  Loop again = loop_;
  again.body = body;
  return croze::run(again, arguments_, at_).ys;
}

}  // namespace

GradientFunction gradient_of(const Loop& loop, std::vector<LoopValue> values,
                             std::vector<std::size_t> kept, Location at) {
  return [loop, values = std::move(values), kept = std::move(kept),
          at](const GradientRequest& request) {
    const CallScope scope("scan", at);
    Tensors gradients = Backward(loop, request, values, at).run(kept);
    gradients.resize(request.inputs.size());
    return gradients;
  };
}

}  // namespace croze
