// open_axes.cpp -- sizes looked up in signatures.
#include "croze/jit/open_axes.h"

#include <algorithm>
#include <utility>

#include "croze/base/call_site.h"
#include "croze/base/error.h"

namespace croze {

Dim::Dim(std::string name, std::int64_t least, std::int64_t most, std::int64_t multiple,
         Location at)
    : name_(std::move(name)), least_(least), most_(most), multiple_(multiple) {
  const CallScope scope("Dim", at);
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  check(1 <= least && least <= most && most <= limit, "the size {} is bounded by {} and {}", name_,
        least, most);
  check(multiple >= 1 && most / multiple * multiple >= least,
        "there is no multiple of {} between the bounds {} and {} of the size {}", multiple, least,
        most, name_);
}

void OpenAxes::add(std::string_view place, std::int64_t axis, const Dim& dim) {
  for (const Axis& a : axes_) {
    check(a.place != place || a.axis != axis, "axis {} of {} is open already: it is {}", axis,
          place, dims_[a.dim].name());
  }
  auto known = std::ranges::find(dims_, dim.name(), &Dim::name);
  if (known == dims_.end()) known = dims_.insert(dims_.end(), dim);
  check(*known == dim, "the size {} is from {} to {} here, and from {} to {} elsewhere", dim.name(),
        dim.least(), dim.most(), known->least(), known->most());
  axes_.push_back({std::string(place), axis, static_cast<std::size_t>(known - dims_.begin())});
}

int OpenAxes::dim_at(std::string_view place, std::int64_t axis) const {
  const auto is_it = [&](const Axis& a) { return a.place == place && a.axis == axis; };
  const auto found = std::ranges::find_if(axes_, is_it);
  return found == axes_.end() ? -1 : static_cast<int>(found->dim);
}

std::vector<std::int64_t> OpenAxes::sizes(const Signature& signature) const {
  std::vector<std::int64_t> sizes(dims_.size(), 0);
  for (const Axis& a : axes_) {
    const std::int64_t size = signature.shape_at(a.place, a.axis);
    const Dim& dim = dims_[a.dim];
    check(dim.least() <= size && size <= dim.most(),
          "{} of a captured step has {} elements along axis {}: the size {} is from {} to {}",
          a.place, size, a.axis, dim.name(), dim.least(), dim.most());
    check(size % dim.multiple() == 0,
          "{} of a captured step has {} elements along axis {}: the size {} is a multiple of {}",
          a.place, size, a.axis, dim.name(), dim.multiple());
    check(sizes[a.dim] == 0 || sizes[a.dim] == size,
          "{} of a captured step has {} elements along axis {}: the size {} is {} elsewhere",
          a.place, size, a.axis, dim.name(), sizes[a.dim]);
    sizes[a.dim] = size;
  }
  return sizes;
}

Signature OpenAxes::with_sizes_of(const Signature& signature, const Signature& other) const {
  Signature result = signature;
  for (const Axis& a : axes_) {
    result.set_shape_at(a.place, a.axis, other.shape_at(a.place, a.axis));
  }
  return result;
}

OpenSizes& OpenAxes::plans() {
  if (!plans_) {
    std::vector<OpenBounds> bounds;
    for (const Dim& d : dims_) bounds.push_back({d.least(), d.most(), d.multiple()});
    plans_ = std::make_unique<OpenSizes>(std::move(bounds));
  }
  return *plans_;
}

}  // namespace croze
