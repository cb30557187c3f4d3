// signature.cpp -- whether a captured step is called with what it was traced for.
#include "croze/jit/signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"
#include "croze/base/printable.h"
#include "croze/run/devices.h"
#include "croze/tensor/record.h"

namespace croze {

Signature Signature::of(std::span<const Tensor> inputs) {
  Signature signature;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    signature.add_tensor(fmt::format("input {}", i), inputs[i]);
  }
  return signature;
}

void Signature::add_tensor(std::string place, const Tensor& t) {
  if (!t.defined()) return add_fact(std::move(place), "absent");
  const GraphLock lock;
  const TensorRecord& record = TensorRecord::of(t);
  const int device = record.device < 0 ? default_device() : record.device.load();
  parts_.push_back({std::move(place), "", Shape(record.node.shape()), record.node.dtype(), device});
}

const std::string& Signature::place_of_tensor(std::size_t i) const {
  for (const Part& p : parts_) {
    if (p.is_tensor() && i-- == 0) return p.place;
  }
  ensure(false, "a step has fewer tensors among its inputs");
  return parts_[0].place;
}

std::vector<std::string> Signature::places_of_tensors() const {
  std::vector<std::string> places;
  for (const Part& p : parts_) {
    if (p.is_tensor()) places.push_back(p.place);
  }
  return places;
}

const Signature::Part& Signature::tensor_at(std::string_view place, std::int64_t axis) const {
  const auto part = std::ranges::find(parts_, place, &Part::place);
  check(part != parts_.end() && part->is_tensor(),
        "a size of {} is open, which is no tensor: the tensors are {}", place,
        fmt::join(places_of_tensors(), ", "));
  check(0 <= axis && axis < part->shape.size(),
        "the size along axis {} of {} is open, which has shape {}", axis, place, part->shape);
  return *part;
}

std::int64_t Signature::shape_at(std::string_view place, std::int64_t axis) const {
  return tensor_at(place, axis).shape[axis];
}

void Signature::set_shape_at(std::string_view place, std::int64_t axis, std::int64_t size) {
  const Part& part = tensor_at(place, axis);
  parts_[static_cast<std::size_t>(&part - parts_.data())].shape[axis] = size;
}

std::string Signature::Part::to_text() const {
  if (!is_tensor()) return shortened(fact);
  return fmt::format("{} of shape {} on {}", name_of(dtype), shape, device_name(device));
}

void Signature::check_same(const Signature& now) const {
  const auto [then, is] = std::ranges::mismatch(parts_, now.parts_);
  if (then == parts_.end() && is == now.parts_.end()) return;
  // A part that there was or is alone: the containers before it, if any, are of the same size.
  check(then != parts_.end() && is != now.parts_.end(),
        "a captured step was called with {} parts of inputs at first and with {} now: capture "
        "another step for it",
        parts_.size(), now.parts_.size());
  check(then->place == is->place,
        "a captured step was called with {} at first, where {} stands now: capture another step "
        "for it",
        then->place, is->place);
  fail({},
       "{} of a captured step was {} at the first call, and is {} now: capture another step for it",
       then->place, then->to_text(), is->to_text());
}

}  // namespace croze
