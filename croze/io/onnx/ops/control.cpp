// control.cpp -- branches and loops.  The host decides; a loop's body is recorded once a round.
#include <algorithm>
#include <limits>

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

Results if_op(const NodeCall& call) {
  const bool condition = call.integer(0) != 0;
  return call.run(call.graph(condition ? "then_branch" : "else_branch"), {});
}

bool is_true(const Value& value) {
  const Tensor& t = value.tensor();
  check(t.numel() == 1, "a condition of {} elements", t.numel());
  return t.item<bool>();
}

// What every round gave, along a new first axis.
Value stacked(const std::vector<Value>& rounds) {
  std::vector<Tensor> tensors;
  for (const Value& v : rounds) tensors.push_back(v.tensor());
  return {stack(tensors), rounds[0].element_type()};
}

// Inputs: number of rounds, condition, carried values.  The body takes the round, the condition and
// the carried values and gives the condition, the carried values and what is to be stacked.
Results loop(const NodeCall& call) {
  const GraphProto& body = call.graph("body");
  const std::int64_t rounds = call.integer_or(0, std::numeric_limits<std::int64_t>::max());
  std::vector<Value> carried;
  for (int i = 2; i < call.num_inputs(); i++) {
    carried.push_back(call.has(i) ? call.value(i) : Value());
  }
  check(body.outputs.size() > carried.size(), "the body gives {} outputs for {} carried values",
        body.outputs.size(), carried.size());
  std::vector<std::vector<Value>> scans(body.outputs.size() - 1 - carried.size());
  Value condition = call.has(1) ? call.value(1) : Value(Tensor::scalar(true));
  for (std::int64_t round = 0; round < rounds && is_true(condition); round++) {
    std::vector<Value> inputs{Tensor::scalar(round), condition};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    std::vector<Value> outputs = call.run(body, std::move(inputs));
    call.settle(outputs);
    condition = outputs[0];
    for (std::size_t i = 0; i < carried.size(); i++) carried[i] = outputs[1 + i];
    for (std::size_t i = 0; i < scans.size(); i++) {
      scans[i].push_back(outputs[1 + carried.size() + i]);
    }
  }
  for (std::size_t i = 0; i < scans.size(); i++) {
    if (!scans[i].empty()) {
      carried.push_back(stacked(scans[i]));
      continue;
    }
    // No round: the shape of one is known by its declaration only.
    const TypeProto& type = body.outputs[carried.size() + 1].type;
    Shape shape{0};
    if (type.shape) {
      for (const auto& dim : *type.shape) shape.push_back(dim.value.value_or(0));
    }
    carried.push_back(Tensor::zeros(shape, {.dtype = dtype_of(type.element)}));
  }
  return carried;
}

// ---- Scan -------------------------------------------------------------------------------------

struct ScanPlan {
  std::size_t states = 0, scans = 0;
  Ints in_axes, out_axes, in_backwards, out_backwards;
};

std::int64_t at(const Ints& list, std::size_t i) { return i < list.size() ? list[i] : 0; }

// Inputs: states, then tensors that are cut along an axis.
Results scan_over(const NodeCall& call, const ScanPlan& plan, std::vector<Value> states,
                  const std::vector<Tensor>& inputs) {
  const GraphProto& body = call.graph("body");
  check(body.outputs.size() >= plan.states, "the body gives {} outputs for {} states",
        body.outputs.size(), plan.states);
  std::vector<std::vector<Value>> outputs(body.outputs.size() - plan.states);
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    axes.push_back(checked_axis(at(plan.in_axes, i), inputs[i].ndim()));
  }
  const std::int64_t rounds = inputs.empty() ? 0 : inputs[0].size(axes[0]);
  for (std::int64_t round = 0; round < rounds; round++) {
    std::vector<Value> values = states;
    for (std::size_t i = 0; i < inputs.size(); i++) {
      check(inputs[i].size(axes[i]) == rounds, "inputs of {} and {} rounds", rounds,
            inputs[i].size(axes[i]));
      const std::int64_t place = at(plan.in_backwards, i) ? rounds - 1 - round : round;
      values.push_back(inputs[i].narrow(axes[i], place, 1).squeeze(axes[i]));
    }
    std::vector<Value> results = call.run(body, std::move(values));
    call.settle(results);
    for (std::size_t i = 0; i < plan.states; i++) states[i] = results[i];
    for (std::size_t i = 0; i < outputs.size(); i++) {
      outputs[i].push_back(results[plan.states + i]);
    }
  }
  for (std::size_t i = 0; i < outputs.size(); i++) {
    check(!outputs[i].empty(), "a scan over no elements has no output");
    if (at(plan.out_backwards, i)) std::ranges::reverse(outputs[i]);
    const Tensor joined = stacked(outputs[i]).tensor();
    const std::int64_t axis = checked_axis(at(plan.out_axes, i), joined.ndim());
    states.push_back(movedim(joined, 0, axis));
  }
  return states;
}

ScanPlan plan_of(const NodeCall& call, int first_input) {
  ScanPlan plan;
  const std::int64_t scans = call.required_integer("num_scan_inputs");
  const std::int64_t states = call.num_inputs() - first_input - scans;
  check(scans >= 1 && states >= 0, "{} inputs are scanned, but there are {}", scans,
        call.num_inputs());
  plan.scans = static_cast<std::size_t>(scans);
  plan.states = static_cast<std::size_t>(states);
  return plan;
}

Results scan(const NodeCall& call) {
  ScanPlan plan = plan_of(call, 0);
  plan.in_axes = call.integers("scan_input_axes");
  plan.out_axes = call.integers("scan_output_axes");
  plan.in_backwards = call.integers("scan_input_directions");
  plan.out_backwards = call.integers("scan_output_directions");
  std::vector<Value> states;
  std::vector<Tensor> inputs;
  for (int i = 0; i < call.num_inputs(); i++) {
    if (static_cast<std::size_t>(i) < plan.states) {
      states.push_back(call.value(i));
    } else {
      inputs.push_back(call[i]);
    }
  }
  return scan_over(call, plan, std::move(states), inputs);
}

// In opset 8 all inputs had a batch axis, and each batch was scanned by itself; input 0, the
// lengths of the sequences, is not supported.
Results scan_of_batches(const NodeCall& call) {
  check(!call.has(0), "sequences of different lengths are not supported");
  ScanPlan plan = plan_of(call, 1);
  plan.in_backwards = call.integers("directions");
  const std::int64_t batches = call[1].size(0);
  std::vector<std::vector<Value>> results;
  for (std::int64_t batch = 0; batch < batches; batch++) {
    std::vector<Value> states;
    std::vector<Tensor> inputs;
    for (int i = 1; i < call.num_inputs(); i++) {
      const Tensor row = call[i].narrow(0, batch, 1).squeeze(0);
      if (static_cast<std::size_t>(i - 1) < plan.states) {
        states.push_back(row);
      } else {
        inputs.push_back(row);
      }
    }
    const Results one = scan_over(call, plan, std::move(states), inputs);
    results.resize(one.size());
    for (std::size_t i = 0; i < one.size(); i++) results[i].push_back(one[i]);
  }
  Results joined;
  for (const std::vector<Value>& rows : results) joined.push_back(stacked(rows));
  return joined;
}

// The body over the items of a sequence; the other inputs are sequences of the same length or are
// the same in every round.
Results sequence_map(const NodeCall& call) {
  const GraphProto& body = call.graph("body");
  const std::size_t count = call.value(0).items().size();
  std::vector<std::vector<Value>> results(body.outputs.size());
  for (std::size_t k = 0; k < count; k++) {
    std::vector<Value> inputs;
    for (int i = 0; i < call.num_inputs(); i++) {
      const Value& v = call.value(i);
      const bool is_sequence = v.kind() == Value::Kind::Sequence;
      check(!is_sequence || v.items().size() == count, "sequences of {} and {} items", count,
            is_sequence ? v.items().size() : 0);
      inputs.push_back(is_sequence ? v.items()[k] : v);
    }
    const std::vector<Value> outputs = call.run(body, std::move(inputs));
    for (std::size_t i = 0; i < outputs.size(); i++) results[i].push_back(outputs[i]);
  }
  Results sequences;
  for (std::vector<Value>& items : results) sequences.push_back(Value::sequence(std::move(items)));
  return sequences;
}

// clang-format off
constexpr Operator table[] = {
  {"If", 1, if_op},
  {"Loop", 1, loop},
  {"Scan", 8, scan_of_batches},
  {"Scan", 9, scan},
  {"SequenceMap", 17, sequence_map},
};
// clang-format on

}  // namespace

std::span<const Operator> control_operators() { return table; }

}  // namespace croze::onnx
