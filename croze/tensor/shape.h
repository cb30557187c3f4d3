// shape.h -- Shape and Axes: the small lists of integers that tensor functions take.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>

#include "croze/base/small_vector.h"

namespace croze {

// Any integer but bool, so that a flag is never mistaken for a size.
template <typename T>
concept Integer = std::integral<T> && !std::same_as<std::remove_cvref_t<T>, bool>;

template <typename R>
concept IntegerRange = requires(const R& r) {
  { *std::begin(r) } -> std::convertible_to<std::int64_t>;
  std::end(r);
}
&&Integer<std::remove_cvref_t<decltype(*std::begin(std::declval<const R&>()))>>;

// A list of sizes: {2, 3}, a std::vector<int>, a std::span, ...  Copying one does not allocate up
// to eight axes.  Converts to std::span<const int64_t>.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}
  template <IntegerRange R>
  Shape(const R& sizes) : sizes_(std::begin(sizes), std::end(sizes)) {}

  int size() const { return static_cast<int>(sizes_.size()); }
  bool empty() const { return sizes_.empty(); }
  std::int64_t& operator[](std::int64_t i) { return sizes_[i]; }
  std::int64_t operator[](std::int64_t i) const { return sizes_[i]; }
  const std::int64_t* begin() const { return sizes_.begin(); }
  const std::int64_t* end() const { return sizes_.end(); }
  std::int64_t back() const { return sizes_.back(); }

  void push_back(std::int64_t size) { sizes_.push_back(size); }
  void insert(std::int64_t at, std::int64_t size) { sizes_.insert(begin() + at, size); }
  void erase(std::int64_t at) { sizes_.erase(begin() + at); }

  // Sizes multiplied; 1 for no axes.  Throws Error if the product does not fit 64 bits.
  std::int64_t numel() const;

  bool operator==(const Shape&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape);  // print.h

 private:
  SmallVector<std::int64_t, 8> sizes_;
};

// "(2, 3)".
std::string to_text(const Shape& shape);

// Which axes an operation works on: one, several, or (given none) all.  Negative axes count from
// the end.
class Axes {
 public:
  Axes() = default;
  template <Integer T>
  Axes(T axis) : list_{static_cast<std::int64_t>(axis)} {}
  Axes(std::initializer_list<std::int64_t> axes) : list_(axes) {}
  template <IntegerRange R>
  Axes(const R& axes) : list_(axes) {}

  bool all() const { return list_.empty(); }
  const Shape& list() const { return list_; }

 private:
  Shape list_;
};

}  // namespace croze
