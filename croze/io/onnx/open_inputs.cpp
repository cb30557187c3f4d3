// open_inputs.cpp -- sizes by name.
#include "croze/io/onnx/open_inputs.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "croze/base/error.h"

namespace croze::onnx {
namespace {

// Of what the user does not bound.  Kernels for larger sizes are compiled for them alone.
constexpr OpenBounds default_bounds{.least = 1, .most = 1 << 14, .multiple = 1};

}  // namespace

OpenInputs::OpenInputs(std::span<const Port> ports, std::span<const Dim> given)
    : are_given_(!given.empty()) {
  std::map<std::string, std::size_t> by_name;
  for (std::size_t input = 0; input < ports.size(); input++) {
    for (std::size_t axis = 0; axis < ports[input].shape.size(); axis++) {
      if (ports[input].shape[axis].size >= 0) continue;
      const std::string name = size_name(ports[input], axis);
      const std::size_t size = by_name.emplace(name, bounds_.size()).first->second;
      if (size == bounds_.size()) bounds_.push_back(default_bounds);
      axes_.push_back({input, static_cast<std::int64_t>(axis), size});
    }
  }
  for (const Dim& dim : given) {
    const auto known = by_name.find(dim.name());
    check(known != by_name.end(), "no input of the model has an open size {}", dim.name());
    bounds_[known->second] = {dim.least(), dim.most(), dim.multiple()};
  }
}

std::optional<std::vector<std::int64_t>> OpenInputs::sizes(std::span<const Value> inputs) const {
  if (axes_.empty()) return {};
  std::vector<std::int64_t> sizes(bounds_.size(), 0);
  for (const Axis& a : axes_) {
    if (inputs[a.input].is_tensor()) sizes[a.size] = inputs[a.input].shape()[a.axis];
  }
  for (std::size_t i = 0; i < sizes.size(); i++) {
    const OpenBounds& b = bounds_[i];
    if (sizes[i] == 0) sizes[i] = b.least;  // of inputs that are not given
    if (sizes[i] < b.least || sizes[i] > b.most || sizes[i] % b.multiple != 0) return {};
  }
  return sizes;
}

std::optional<std::vector<std::int64_t>> OpenInputs::others(
    std::span<const std::int64_t> sizes) const {
  // So far apart that they differ behind strides, too.
  constexpr std::int64_t steps[] = {41, 131, 83, 211, 173, 17, 7, 3};
  std::vector<std::int64_t> others;
  const auto is_free = [&](std::int64_t size, const OpenBounds& b) {
    return size >= b.least && size <= b.most && std::ranges::find(others, size) == others.end() &&
           std::ranges::find(sizes, size) == sizes.end();
  };
  for (std::size_t i = 0; i < sizes.size(); i++) {
    std::optional<std::int64_t> other;
    if (sizes[i] == 1) other = 1;
    for (std::size_t k = 0; k < std::size(steps) && !other; k++) {
      const std::int64_t step = steps[(i + k) % std::size(steps)] * bounds_[i].multiple;
      if (is_free(sizes[i] + step, bounds_[i])) other = sizes[i] + step;
      if (!other && is_free(sizes[i] - step, bounds_[i])) other = sizes[i] - step;
    }
    if (!other) return {};
    others.push_back(*other);
  }
  return others;
}

Shape OpenInputs::shape(std::size_t input, Shape shape, std::span<const std::int64_t> sizes) const {
  for (const Axis& a : axes_) {
    if (a.input == input && a.axis < shape.size()) shape[a.axis] = sizes[a.size];
  }
  return shape;
}

}  // namespace croze::onnx
