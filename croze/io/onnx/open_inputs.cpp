// open_inputs.cpp -- sizes by name.
#include "croze/io/onnx/open_inputs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "croze/base/error.h"
#include "croze/base/function_ref.h"

namespace croze::onnx {
namespace {

// Of what the user does not bound.  Kernels for larger sizes are compiled for them alone.
constexpr OpenBounds default_bounds{.least = 1, .most = 1 << 14, .multiple = 1};

// A free size that is so far from this one that the two differ behind strides, too, if there is
// room; and none that models have for other reasons, such as the two states of an LSTM.
std::optional<std::int64_t> apart_from(std::int64_t size, std::int64_t multiple, std::size_t first,
                                       function_ref<bool(std::int64_t)> is_free) {
  constexpr std::int64_t steps[] = {41, 131, 83, 211, 173, 17, 7, 3, 2, 1};
  for (const std::int64_t least : {5, 2}) {
    for (std::size_t k = 0; k < std::size(steps); k++) {
      const std::int64_t step = steps[(first + k) % std::size(steps)] * multiple;
      for (const std::int64_t other : {size + step, size - step}) {
        if (other >= least && is_free(other)) return other;
      }
    }
  }
  return {};
}

// Choices of sizes that are 1 beyond which compiling all would take long.
constexpr std::size_t most_sizes_of_one = 3;

}  // namespace

std::vector<std::string> tied_names(std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('=', begin), name.size());
    names.emplace_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

OpenInputs::OpenInputs(std::span<const Port> ports, std::span<const Dim> given)
    : are_given_(!given.empty()) {
  std::map<std::string, std::string> first;  // of those that are tied to a name
  for (const Dim& dim : given) {
    const std::vector<std::string> names = tied_names(dim.name());
    for (const std::string& name : names) first[name] = names[0];
  }
  std::map<std::string, std::size_t> by_name;
  std::set<std::string> seen;
  for (std::size_t input = 0; input < ports.size(); input++) {
    for (std::size_t axis = 0; axis < ports[input].shape.size(); axis++) {
      if (ports[input].shape[axis].size >= 0) continue;
      const std::string own = size_name(ports[input], axis);
      const auto tied = first.find(own);
      const std::string& name = tied == first.end() ? own : tied->second;
      seen.insert(own);
      const std::size_t size = by_name.emplace(name, bounds_.size()).first->second;
      if (size == bounds_.size()) bounds_.push_back(default_bounds);
      axes_.push_back({input, static_cast<std::int64_t>(axis), size});
    }
  }
  is_given_.resize(bounds_.size());
  for (const Dim& dim : given) {
    const std::vector<std::string> names = tied_names(dim.name());
    for (const std::string& name : names) {
      check(seen.contains(name), "no input of the model has an open size {}", name);
    }
    const std::size_t size = by_name.at(names[0]);
    bounds_[size] = {dim.least(), dim.most(), dim.multiple()};
    is_given_[size] = true;
  }
}

std::optional<std::vector<std::int64_t>> OpenInputs::sizes(std::span<const Value> inputs) const {
  if (axes_.empty()) return {};
  std::vector<std::int64_t> sizes(bounds_.size(), 0);
  for (const Axis& a : axes_) {
    if (!inputs[a.input].is_tensor()) continue;
    const std::int64_t size = inputs[a.input].shape()[a.axis];
    if (sizes[a.size] != 0 && sizes[a.size] != size) return {};
    sizes[a.size] = size;
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
  std::vector<std::int64_t> others;
  for (std::size_t i = 0; i < sizes.size(); i++) {
    const auto is_free = [&](std::int64_t size) {
      return size >= bounds_[i].least && size <= bounds_[i].most &&
             std::ranges::find(others, size) == others.end() &&
             std::ranges::find(sizes, size) == sizes.end();
    };
    const auto other = sizes[i] == 1 ? std::optional(sizes[i])
                                     : apart_from(sizes[i], bounds_[i].multiple, i, is_free);
    if (!other) return {};
    others.push_back(*other);
  }
  return others;
}

std::vector<std::vector<std::int64_t>> OpenInputs::attempts(
    std::span<const std::int64_t> sizes) const {
  const auto apart = others(sizes);
  if (!apart) return {};
  std::vector<std::int64_t> alike = *apart;
  for (std::size_t i = 0; i < alike.size(); i++) {
    const auto equal = static_cast<std::size_t>(std::ranges::find(sizes, sizes[i]) - sizes.begin());
    if (bounds_[equal] == bounds_[i]) alike[i] = alike[equal];
  }
  std::vector<std::vector<std::int64_t>> attempts;
  for (const std::vector<std::int64_t>& list : {*apart, alike}) {
    attempts.push_back(list);
    for (std::size_t i = 0; i < list.size(); i++) {
      if (are_given_ && !is_given_[i]) attempts.back()[i] = sizes[i];
    }
  }
  attempts.push_back(*apart);
  attempts.push_back(alike);
  for (std::size_t i = 1; i < attempts.size();) {
    const bool is_new =
        std::find(attempts.begin(), attempts.begin() + static_cast<std::ptrdiff_t>(i),
                  attempts[i]) == attempts.begin() + static_cast<std::ptrdiff_t>(i);
    is_new ? void(i++) : void(attempts.erase(attempts.begin() + static_cast<std::ptrdiff_t>(i)));
  }
  return attempts;
}

std::vector<std::vector<std::int64_t>> OpenInputs::choices_of_ones(
    std::span<const std::int64_t> sizes) const {
  std::vector<std::size_t> may_be_one;
  std::vector<std::int64_t> large(sizes.begin(), sizes.end());
  for (std::size_t i = 0; i < sizes.size(); i++) {
    const OpenBounds& b = bounds_[i];
    if (!is_given_[i] || b.least > 1 || b.most < 2 || b.multiple != 1) continue;
    may_be_one.push_back(i);
    large[i] = 2;
  }
  const auto apart = others(large);
  if (!apart || may_be_one.size() > most_sizes_of_one) return {};
  std::vector<std::vector<std::int64_t>> choices;
  for (std::size_t choice = 0; choice < std::size_t{1} << may_be_one.size(); choice++) {
    std::vector<std::int64_t> list(sizes.begin(), sizes.end());
    bool is_that_of_sizes = true;
    for (std::size_t k = 0; k < may_be_one.size(); k++) {
      const std::size_t i = may_be_one[k];
      const bool is_one = choice >> k & 1;
      list[i] = is_one ? 1 : (*apart)[i];
      is_that_of_sizes = is_that_of_sizes && is_one == (sizes[i] == 1);
    }
    if (!is_that_of_sizes) choices.push_back(std::move(list));
  }
  return choices;
}

Shape OpenInputs::shape(std::size_t input, Shape shape, std::span<const std::int64_t> sizes) const {
  for (const Axis& a : axes_) {
    if (a.input == input && a.axis < shape.size()) shape[a.axis] = sizes[a.size];
  }
  return shape;
}

}  // namespace croze::onnx
