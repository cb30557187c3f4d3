// place.h -- a tensor as PyTorch has it: an offset and strides into an array of numbers, each of
// which knows how it changes with the numbers of one tensor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "croze/tensor/tensor.h"

namespace croze::fuzz {

// Integers, which Float32 holds exactly as long as they are small.
using Numbers = std::vector<std::int64_t>;

// A number, and its derivative in one direction.
struct Element {
  std::int64_t number = 0;
  std::int64_t slope = 0;
  bool depends = false;   // on what the direction is in, if only by the way it was computed
  bool is_any = false;    // the slope: what a captured step gives is not differentiated
  bool is_minus = false;  // the zero: it is -0
  bool is_nan = false;    // instead of the number, which is 0

  Element operator+(const Element& o) const;
  Element operator*(std::int64_t n) const;
  bool operator>(std::int64_t n) const { return !is_nan && number > n; }
  // As PyTorch's Float32, exactly.
  float as_float() const;
};
using Elements = std::vector<Element>;

struct Storage {
  Elements elements;
  int writes = 0;
};

// Views share the storage of what they look at.  A view that does not fit is nothing.
struct Place {
  std::shared_ptr<Storage> storage;  // null: there is no tensor
  DType dtype = DType::Float32;
  Shape shape, strides;
  std::int64_t offset = 0;
  bool is_detached = false;  // no derivative is read

  // In a storage of its own, row by row.  If one element depends, all do, and still do
  // when they are overwritten: so it is in the graph.
  static Place of(Elements elements, const Shape& shape, DType dtype);
  static Place number(std::int64_t n) { return of({Element{n}}, {}, DType::Int32); }

  int rank() const { return shape.size(); }
  std::int64_t size(std::int64_t axis) const { return axis < rank() ? shape[axis] : 0; }
  Numbers addresses() const;  // in the storage, row by row
  Numbers values() const;
  std::vector<float> floats() const;
  Elements elements() const;
  Place copied() const { return of(elements(), shape, dtype); }
  Place detached() const;
  Place attached() const;  // what is written when a part of it is
  // Whether elements may share memory: strides that do not step over all smaller axes.
  bool overlaps() const;

  // begin, begin + step, ... of an axis: `count` of them.
  std::optional<Place> part(std::int64_t axis, std::int64_t begin, std::int64_t count,
                            std::int64_t step = 1) const;
  // begin:end:step of an axis as in Python.
  std::optional<Place> sliced(std::int64_t axis, std::int64_t begin, std::int64_t end,
                              std::int64_t step) const;
  std::optional<Place> selected(std::int64_t axis, std::int64_t i) const;  // i may be negative
  std::optional<Place> transposed(std::int64_t a, std::int64_t b) const;
  std::optional<Place> unsqueezed(std::int64_t axis) const;
  std::optional<Place> squeezed(std::int64_t axis) const;
  std::optional<Place> expanded(const Shape& to) const;
  std::optional<Place> unfolded(std::int64_t axis, std::int64_t window, std::int64_t step) const;
  // A copy if there are no strides for it.
  std::optional<Place> reshaped(const Shape& to) const;

  // Writes the value, expanded; returns *this.  Nothing if it does not fit, or if elements overlap.
  std::optional<Place> write(const std::optional<Place>& value) const;
};

}  // namespace croze::fuzz
