// sequence.cpp -- sequences and optional values.
#include <algorithm>

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

// A position of a sequence that is there (or, for an insertion, its end).
std::size_t place_in(const std::vector<Value>& items, std::int64_t place, bool end_allowed) {
  const auto size = static_cast<std::int64_t>(items.size());
  const std::int64_t from_front = place < 0 ? place + size : place;
  check(from_front >= 0 && from_front < size + (end_allowed ? 1 : 0),
        "there is no position {} in a sequence of {}", place, size);
  return static_cast<std::size_t>(from_front);
}

Results construct(const NodeCall& call) {
  std::vector<Value> items;
  for (int i = 0; i < call.num_inputs(); i++) items.push_back(call.value(i));
  return {Value::sequence(std::move(items))};
}

Results at(const NodeCall& call) {
  const std::vector<Value>& items = call.value(0).items();
  return {items[place_in(items, call.integer(1), false)]};
}

Results insert(const NodeCall& call) {
  std::vector<Value> items = call.value(0).items();
  const auto end = static_cast<std::int64_t>(items.size());
  const std::size_t place = place_in(items, call.integer_or(2, end), true);
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(place), call.value(1));
  return {Value::sequence(std::move(items))};
}

Results erase(const NodeCall& call) {
  std::vector<Value> items = call.value(0).items();
  const std::size_t place = place_in(items, call.integer_or(1, -1), false);
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
  return {Value::sequence(std::move(items))};
}

Results length(const NodeCall& call) {
  return {Tensor::scalar(static_cast<std::int64_t>(call.value(0).items().size()))};
}

// Parts of one size, which is cut off if `keepdims` is 0, or of several.
Results split_to_sequence(const NodeCall& call) {
  const Tensor& x = call[0];
  const std::int64_t axis = checked_axis(call.integer("axis", 0), x.ndim());
  const bool drop = !call.has(1) && !call.flag("keepdims", true);
  std::vector<Tensor> parts;
  if (call.has(1) && call[1].ndim() > 0) {
    parts = split(x, Shape(call.integers(1)), axis);
  } else {
    const std::int64_t size = call.integer_or(1, 1);
    check(size > 0, "parts of {}", size);
    parts = split(x, size, axis);
  }
  std::vector<Value> items;
  for (const Tensor& part : parts) items.push_back(call.like(0, drop ? part.squeeze(axis) : part));
  return {Value::sequence(std::move(items))};
}

Results concat_from_sequence(const NodeCall& call) {
  std::vector<Tensor> parts;
  for (const Value& item : call.value(0).items()) parts.push_back(item.tensor());
  check(!parts.empty(), "an empty sequence has no elements to join");
  const std::int64_t axis = call.required_integer("axis");
  return {call.flag("new_axis") ? stack(parts, axis) : cat(parts, axis)};
}

// ---- optional values --------------------------------------------------------------------------

Results optional(const NodeCall& call) { return {call.has(0) ? call.value(0) : Value()}; }

Results has_element(const NodeCall& call) { return {Tensor::scalar(call.has(0))}; }

Results get_element(const NodeCall& call) {
  check(call.has(0), "the optional value is missing");
  return {call.value(0)};
}

// clang-format off
constexpr Operator table[] = {
  {"ConcatFromSequence", 11, concat_from_sequence},
  {"Optional", 15, optional},
  {"OptionalGetElement", 15, get_element},
  {"OptionalHasElement", 15, has_element},
  {"SequenceAt", 11, at},
  {"SequenceConstruct", 11, construct},
  {"SequenceEmpty", 11, [](const NodeCall&) -> Results { return {Value::sequence({})}; }},
  {"SequenceErase", 11, erase},
  {"SequenceInsert", 11, insert},
  {"SequenceLength", 11, length},
  {"SplitToSequence", 11, split_to_sequence},
};
// clang-format on

}  // namespace

std::span<const Operator> sequence_operators() { return table; }

}  // namespace croze::onnx
