// loop.cpp -- running a loop: where values stand, and how the results came about.
//
// Every value of the body stands in a buffer of its own at each turn: rows and ys in those of the
// whole tensors, a state where the turn before has written it.  So nothing is copied between turns.
// A state is read in `entered`: for the gradient all of them, in the order of the rows, and if that
// is not wanted two places in turn.
#include "croze/jit/loop.h"

#include <memory>
#include <mutex>
#include <utility>

#include "croze/base/error.h"
#include "croze/graph/graph.h"
#include "croze/jit/trace.h"
#include "croze/run/buffers.h"
#include "croze/run/loop.h"
#include "croze/tensor/gradient.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/storage.h"

namespace croze {
namespace {

constexpr std::size_t nowhere = SIZE_MAX;

// The memory behind a given gradient; else the tensor itself.
Tensor value_alone(const Tensor& x) {
  GraphLock lock;
  UOp node = x.node();
  while (node.is(Op::WithGradient)) node = node.src(0).src(0);
  return storage_of(node) ? wrap_like(x, node) : x;
}

// The arguments.  What is detached is copied, because the past of a loop would hold on to what is
// behind it: a state that is carried from scan to scan, to all scans before.
std::vector<Tensor> without_past_if_detached(std::span<const Tensor> arguments) {
  std::vector<Tensor> result(arguments.begin(), arguments.end());
  GraphLock lock;
  for (Tensor& t : result) {
    if (t.node().is(Op::Detach)) t = t.contiguous();
  }
  return result;
}

bool is_whole_memory(const Tensor& x) {
  GraphLock lock;
  const UOp buffer = storage_of(x.node());
  return buffer && buffer.elements() == x.numel();
}

// The tensors in memory of their own; those that the body does not read are left as they are.
std::vector<Tensor> in_memory(const Loop& loop, std::span<const Tensor> arguments) {
  std::vector<Tensor> values(arguments.begin(), arguments.end()), read;
  for (std::size_t i = 0; i < values.size(); i++) {
    if (!loop.body->reads(i)) continue;
    values[i] = value_alone(values[i]);
    read.push_back(values[i]);
  }
  realize_all(read);
  read.clear();
  for (std::size_t i = 0; i < values.size(); i++) {
    if (!loop.body->reads(i) || is_whole_memory(values[i])) continue;
    values[i] = values[i].contiguous();
    read.push_back(values[i]);
  }
  realize_all(read);
  return values;
}

Shape stacked(std::int64_t length, const Shape& shape) {
  Shape result{length};
  for (std::int64_t size : shape) result.push_back(size);
  return result;
}

// The buffers of a loop, and which value stands where.  It outlives the loop on a queue, whose
// thread is not to let go of tensors: so it holds numbers.
class Layout {
 public:
  Layout(const Loop& loop, std::span<const Tensor> values)
      : states_(loop.states),
        rows_(loop.rows),
        length_(loop.length),
        is_reverse_(loop.reverse),
        order_(loop.body->order().begin(), loop.body->order().end()) {
    const Body& body = *loop.body;
    for (std::size_t i = 0; i < values.size(); i++) {
      arguments_.push_back(body.reads(i) ? add(storage_of(values[i].node()), false) : nowhere);
      argument_bytes_.push_back(body.arguments()[i].bytes());
      if (i < states_) keeps_.push_back(loop.keep_states && body.reads(i));
    }
    for (std::size_t i = 0; i < body.results().size(); i++) {
      const Body::Value& v = body.results()[i];
      result_bytes_.push_back(v.bytes());
      if (v.shape.numel() == 0) {
        results_.push_back(nowhere);
        entered_.push_back(nowhere);
        continue;
      }
      results_.push_back(add(v, is_state(i) ? 1 : length_));
      entered_.push_back(is_state(i) ? add(v, keeps(i) ? length_ : 2) : nowhere);
    }
  }

  bool is_state(std::size_t i) const { return i < states_; }
  bool keeps(std::size_t state) const { return keeps_[state]; }
  std::span<const MemoryAccess::Use> uses() const { return uses_; }
  UOp argument(std::size_t i) const { return uses_[arguments_[i]].buffer; }
  UOp result(std::size_t i) const { return uses_[results_[i]].buffer; }
  UOp entered(std::size_t state) const { return uses_[entered_[state]].buffer; }
  bool has_elements(std::size_t result) const { return results_[result] != nowhere; }

  void place(std::int64_t turn, std::span<BoundLoop::Place> places) const {
    auto next = places.begin();
    for (std::size_t i : order_) *next++ = of_argument(i, turn);
    for (std::size_t i = 0; i < results_.size(); i++) {
      if (has_elements(i)) *next++ = of_result(i, turn);
    }
  }
  // Where a state stands as the turn begins.
  BoundLoop::Place of_entered(std::size_t state, std::int64_t turn) const {
    const std::int64_t row = keeps(state) ? row_of(turn) : turn % 2;
    return {entered_[state], row * argument_bytes_[state]};
  }

 private:
  std::size_t add(UOp buffer, bool writes) {
    uses_.push_back({buffer, writes});
    return uses_.size() - 1;
  }
  std::size_t add(const Body::Value& v, std::int64_t rows) {
    return add(new_buffer(tensor_graph(), v.dtype, v.shape.numel() * rows, v.device), true);
  }

  std::int64_t row_of(std::int64_t turn) const { return is_reverse_ ? length_ - 1 - turn : turn; }
  BoundLoop::Place of_argument(std::size_t i, std::int64_t turn) const {
    if (is_state(i) && turn > 0) return of_entered(i, turn);
    const bool is_row = !is_state(i) && i < states_ + rows_;
    return {arguments_[i], is_row ? row_of(turn) * argument_bytes_[i] : 0};
  }
  BoundLoop::Place of_result(std::size_t i, std::int64_t turn) const {
    if (!is_state(i)) return {results_[i], row_of(turn) * result_bytes_[i]};
    if (turn + 1 == length_) return {results_[i], 0};
    return of_entered(i, turn + 1);
  }

  std::size_t states_, rows_;
  std::int64_t length_;
  bool is_reverse_;
  std::vector<std::size_t> order_;
  std::vector<std::int64_t> argument_bytes_, result_bytes_;
  std::vector<bool> keeps_;  // by state
  std::vector<MemoryAccess::Use> uses_;
  std::vector<std::size_t> arguments_, results_, entered_;  // places in uses_
};

// All that is launched.
class Launches {
 public:
  Launches(std::shared_ptr<const Layout> layout, const Loop& loop)
      : layout_(std::move(layout)), length_(loop.length) {
    for (std::size_t i = 0; i < loop.states; i++) {
      if (layout_->keeps(i)) copy_first(i);
    }
    if (has_any_result(loop)) turns_.emplace_back(loop.body->prepared(), layout_->uses());
  }

  void launch() {
    using Places = std::span<BoundLoop::Place>;
    for (auto& [state, copy] : copies_) {
      copy.launch(1, [layout = layout_, entered = state](std::int64_t, Places places) {
        places[0] = {0, 0};
        places[1] = {1, layout->of_entered(entered, 0).offset};
      });
    }
    for (BoundLoop& turns : turns_) {
      turns.launch(length_, [layout = layout_](std::int64_t turn, Places places) {
        layout->place(turn, places);
      });
    }
  }

 private:
  bool has_any_result(const Loop& loop) const {
    for (std::size_t i = 0; i < loop.body->results().size(); i++) {
      if (layout_->has_elements(i)) return true;
    }
    return false;
  }

  // The first state, to where the states are kept.
  void copy_first(std::size_t state) {
    const UOp from = layout_->argument(state);
    const UOp root = from.graph().make(Op::Contiguous, from.dtype(), {from});
    const MemoryAccess::Use uses[] = {{from, false}, {layout_->entered(state), true}};
    copies_.emplace_back(state, BoundLoop(*prepare(std::span(&root, 1)), uses));
  }

  std::shared_ptr<const Layout> layout_;
  std::int64_t length_;
  std::vector<std::pair<std::size_t, BoundLoop>> copies_;
  std::vector<BoundLoop> turns_;  // one or none
};

Tensor owned(UOp buffer, const Shape& shape) {
  const Tensor t = wrap(reshape_node(buffer, shape), buffer.buffer_device());
  own_storage(t);
  return t;
}

// Lets the results know how they came about.
void give_past(const Loop& loop, std::span<const Tensor> arguments, const Layout& layout,
               LoopResult& result, Location at) {
  std::vector<Tensor> inputs(arguments.begin(), arguments.end());
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < loop.states; i++) {
    if (!layout.keeps(i)) continue;
    kept.push_back(i);
    inputs.push_back(owned(layout.entered(i), stacked(loop.length, arguments[i].shape())));
  }
  std::vector<LoopValue> values;
  std::vector<Tensor> tensors;
  const auto add = [&](LoopValue::Kind kind, std::span<const Tensor> list) {
    for (std::size_t i = 0; i < list.size(); i++) {
      if (!is_float(list[i].dtype()) || list[i].numel() == 0) continue;
      values.push_back({kind, i});
      tensors.push_back(list[i]);
    }
  };
  add(LoopValue::Kind::LastState, result.states);
  add(LoopValue::Kind::Y, result.ys);
  if (tensors.empty()) return;

  GivenGradient given{.function = gradient_of(loop, std::move(values), std::move(kept), at),
                      .values = {},
                      .input_devices = {},
                      .at = at};
  for (const Tensor& t : tensors) given.values.push_back({t.shape(), t.dtype(), t.device_index()});
  const std::vector<UOp> nodes = input_nodes(inputs, given);
  Registry& registry = Registry::instance();
  const std::int64_t call = registry.given.add(std::move(given));
  for (std::size_t k = 0; k < tensors.size(); k++) {
    registry.computed_as(TensorRecord::of(tensors[k]), [&](UOp value) {
      return with_gradient_node(value, nodes, call, static_cast<int>(k));
    });
  }
}

}  // namespace

LoopResult run(const Loop& loop, std::span<const Tensor> given, Location at) {
  const std::vector<Tensor> arguments = without_past_if_detached(given);
  const std::vector<Tensor> values = in_memory(loop, arguments);
  LoopResult result;
  const Body& body = *loop.body;
  std::unique_lock lock(Registry::instance().mutex);
  const auto shared = std::make_shared<const Layout>(loop, values);
  const Layout& layout = *shared;
  Launches launches(shared, loop);
  for (std::size_t i = 0; i < body.results().size(); i++) {
    const Body::Value& v = body.results()[i];
    const Shape shape = layout.is_state(i) ? v.shape : stacked(loop.length, v.shape);
    std::vector<Tensor>& list = layout.is_state(i) ? result.states : result.ys;
    list.push_back(layout.has_elements(i) ? owned(layout.result(i), shape)
                                          : Tensor::zeros(shape, {.dtype = v.dtype}));
  }
  give_past(loop, arguments, layout, result, at);
  lock.unlock();
  launches.launch();
  return result;
}

}  // namespace croze
