// place.cpp -- views as offsets and strides.
#include "fuzz/place.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace croze::fuzz {

namespace {

// As it is stored: no derivative passes through an integer.
Element stored_as(DType dtype, const Element& e) {
  return dtype == DType::Float32 ? e : Element{e.number};
}

bool is_negative(const Element& e) { return e.number < 0 || e.is_minus; }

// If one depends, all do.
void spread(Elements& elements) {
  const bool depends = std::ranges::any_of(elements, &Element::depends);
  for (Element& e : elements) e.depends = depends;
}

}  // namespace

Element Element::operator+(const Element& o) const {
  Element sum{number + o.number, slope + o.slope, depends || o.depends, is_any || o.is_any};
  sum.is_minus = is_minus && o.is_minus;
  sum.is_nan = is_nan || o.is_nan;
  if (sum.is_nan) sum.number = 0;
  return sum;
}

Element Element::operator*(std::int64_t n) const {
  Element product{number * n, slope * n, depends, is_any};
  product.is_minus = product.number == 0 && is_negative(*this) != (n < 0);
  product.is_nan = is_nan;
  return product;
}

float Element::as_float() const {
  if (is_nan) return std::numeric_limits<float>::quiet_NaN();
  return number == 0 && is_minus ? -0.F : static_cast<float>(number);
}

Place Place::of(Elements elements, const Shape& shape, DType dtype) {
  for (Element& e : elements) e = stored_as(dtype, e);
  spread(elements);
  Place p{std::make_shared<Storage>(Storage{std::move(elements)}), dtype, shape, shape};
  std::int64_t stride = 1;
  for (int i = shape.size(); i-- > 0; stride *= shape[i]) p.strides[i] = stride;
  return p;
}

Numbers Place::addresses() const {
  Numbers result;
  for (std::int64_t i = 0; i < shape.numel(); i++) {
    std::int64_t at = offset, rest = i;
    for (int axis = rank(); axis-- > 0; rest /= shape[axis]) {
      at += rest % shape[axis] * strides[axis];
    }
    result.push_back(at);
  }
  return result;
}

Numbers Place::values() const {
  Numbers result;
  for (const Element& e : elements()) result.push_back(e.number);
  return result;
}

std::vector<float> Place::floats() const {
  std::vector<float> result;
  for (const Element& e : elements()) result.push_back(e.as_float());
  return result;
}

Elements Place::elements() const {
  Elements result;
  for (std::int64_t at : addresses()) {
    Element& e = result.emplace_back(storage->elements[static_cast<std::size_t>(at)]);
    if (is_detached) e = {.number = e.number, .is_minus = e.is_minus, .is_nan = e.is_nan};
  }
  return result;
}

Place Place::detached() const {
  Place p = *this;
  p.is_detached = true;
  return p;
}

Place Place::attached() const {
  Place p = *this;
  p.is_detached = false;
  return p;
}

bool Place::overlaps() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // stride, size
  for (int i = 0; i < rank(); i++) {
    if (shape[i] > 1) axes.emplace_back(std::abs(strides[i]), shape[i]);
  }
  std::sort(axes.begin(), axes.end());
  std::int64_t reach = 0;
  for (const auto& [stride, size] : axes) {
    if (stride <= reach) return shape.numel() > 0;
    reach += stride * (size - 1);
  }
  return false;
}

std::optional<Place> Place::part(std::int64_t axis, std::int64_t begin, std::int64_t count,
                                 std::int64_t step) const {
  if (axis >= rank() || count < 0) return std::nullopt;
  const std::int64_t last = begin + std::max<std::int64_t>(count - 1, 0) * step;
  if (count > 0 && (std::min(begin, last) < 0 || std::max(begin, last) >= shape[axis])) {
    return std::nullopt;
  }
  Place p = *this;
  p.offset += begin * strides[axis];
  p.shape[axis] = count;
  p.strides[axis] *= step;
  return p;
}

std::optional<Place> Place::sliced(std::int64_t axis, std::int64_t begin, std::int64_t end,
                                   std::int64_t step) const {
  if (axis >= rank() || step == 0) return std::nullopt;
  const std::int64_t n = shape[axis], low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  const auto position = [&](std::int64_t i) { return std::clamp(i < 0 ? i + n : i, low, high); };
  const std::int64_t from = position(begin), length = (position(end) - from) * (step > 0 ? 1 : -1);
  const std::int64_t count = length > 0 ? (length - 1) / std::abs(step) + 1 : 0;
  return part(axis, from, count, step);
}

std::optional<Place> Place::selected(std::int64_t axis, std::int64_t i) const {
  std::optional<Place> p = part(axis, i < 0 ? i + size(axis) : i, 1);
  if (!p) return p;
  p->shape.erase(axis);
  p->strides.erase(axis);
  return p;
}

std::optional<Place> Place::transposed(std::int64_t a, std::int64_t b) const {
  if (a >= rank() || b >= rank()) return std::nullopt;
  Place p = *this;
  std::swap(p.shape[a], p.shape[b]);
  std::swap(p.strides[a], p.strides[b]);
  return p;
}

std::optional<Place> Place::unsqueezed(std::int64_t axis) const {
  if (axis > rank()) return std::nullopt;
  Place p = *this;
  p.shape.insert(axis, 1);
  p.strides.insert(axis, 1);
  return p;
}

std::optional<Place> Place::squeezed(std::int64_t axis) const {
  if (size(axis) != 1) return std::nullopt;
  return selected(axis, 0);
}

std::optional<Place> Place::expanded(const Shape& to) const {
  if (to.size() < rank()) return std::nullopt;
  Place p = *this;
  p.shape = p.strides = to;
  for (int i = 0; i < to.size(); i++) {
    const int axis = i - (to.size() - rank());
    const bool repeats = axis < 0 || shape[axis] != to[i];
    if (repeats && axis >= 0 && shape[axis] != 1) return std::nullopt;
    p.strides[i] = repeats ? 0 : strides[axis];
  }
  return p;
}

std::optional<Place> Place::unfolded(std::int64_t axis, std::int64_t window,
                                     std::int64_t step) const {
  if (window < 1 || step < 1 || size(axis) < window) return std::nullopt;
  Place p = *this;
  p.shape[axis] = (shape[axis] - window) / step + 1;
  p.strides[axis] *= step;
  p.shape.push_back(window);
  p.strides.push_back(strides[axis]);
  return p;
}

std::optional<Place> Place::reshaped(const Shape& to) const {
  if (to.numel() != shape.numel()) return std::nullopt;
  const Numbers from = addresses();
  Place p = *this;
  p.shape = p.strides = to;
  p.offset = from.empty() ? 0 : from[0];
  std::int64_t apart = 1;  // neighbours along the axis, row by row
  for (int axis = to.size(); axis-- > 0; apart *= to[axis]) {
    p.strides[axis] = to[axis] > 1 && apart < std::ssize(from)
                          ? from[static_cast<std::size_t>(apart)] - from[0]
                          : 1;
  }
  return p.addresses() == from ? p : of(elements(), to, dtype);
}

std::optional<Place> Place::write(const std::optional<Place>& value) const {
  const std::optional<Place> source = value ? value->expanded(shape) : value;
  if (!source || overlaps()) return std::nullopt;
  const Elements elements = source->elements();
  const Numbers to = addresses();
  for (std::size_t i = 0; i < to.size(); i++) {
    Element& e = storage->elements[static_cast<std::size_t>(to[i])];
    const bool depended = e.depends;
    e = stored_as(dtype, elements[i]);
    e.depends = e.depends || depended;
  }
  if (!to.empty()) storage->writes++;
  spread(storage->elements);
  return *this;
}

}  // namespace croze::fuzz
