// A vector that keeps its first few elements inside itself: shapes, sources and strides rarely have
// more than eight, and a node that holds one needs no allocation.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace croze {

// Like std::vector<T> for trivially copyable T, with `inline_capacity` elements in place and sizes
// that are int64_t.  References and iterators are invalid after any growth and after a move.
template <typename T, int64_t inline_capacity>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && inline_capacity > 0);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  explicit SmallVector(int64_t size, T value = T{}) { assign(size, value); }
  SmallVector(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  SmallVector(std::span<const T> values) { append(values.begin(), values.end()); }
  template <std::input_iterator Iterator>
  SmallVector(Iterator first, Iterator last) {
    append(first, last);
  }
  SmallVector(const SmallVector& other) { append(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      size_ = 0;
      append(other.begin(), other.end());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~SmallVector() { release(); }

  int64_t size() const { return size_; }
  int64_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](int64_t index) { return data_[index]; }
  const T& operator[](int64_t index) const { return data_[index]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  // `value` is taken by value, so that it may be an element of this vector.
  void push_back(T value) {
    reserve(size_ + 1);
    data_[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }

  void reserve(int64_t capacity) {
    if (capacity > capacity_) grow(std::max(capacity, 2 * capacity_));
  }
  void resize(int64_t size, T value = T{}) {
    reserve(size);
    if (size > size_) std::fill(data_ + size_, data_ + size, value);
    size_ = size;
  }
  void assign(int64_t size, T value) {
    size_ = 0;
    resize(size, value);
  }
  template <std::input_iterator Iterator>
  void append(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(static_cast<T>(*first));
  }
  void append(const T* first, const T* last) {
    const int64_t count = last - first;
    reserve(size_ + count);
    if (count > 0) {
      std::memcpy(static_cast<void*>(data_ + size_), static_cast<const void*>(first),
                  static_cast<size_t>(count) * sizeof(T));
    }
    size_ += count;
  }

  T* insert(const T* position, T value) {
    int64_t index = position - data_;
    push_back(value);
    std::rotate(data_ + index, data_ + size_ - 1, data_ + size_);
    return data_ + index;
  }
  T* erase(const T* position) { return erase(position, position + 1); }
  T* erase(const T* first, const T* last) {
    T* hole = data_ + (first - data_);
    std::move(data_ + (last - data_), end(), hole);
    size_ -= last - first;
    return hole;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend auto operator<=>(const SmallVector& a, const SmallVector& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  bool is_inline() const { return data_ == inline_data(); }
  T* inline_data() { return reinterpret_cast<T*>(storage_); }
  const T* inline_data() const { return reinterpret_cast<const T*>(storage_); }

  void grow(int64_t capacity) {
    size_t bytes = static_cast<size_t>(capacity) * sizeof(T);
    void* memory = ::operator new (bytes, std::align_val_t{alignof(T)});
    std::memcpy(memory, static_cast<const void*>(data_), static_cast<size_t>(size_) * sizeof(T));
    release();
    data_ = static_cast<T*>(memory);
    capacity_ = capacity;
  }

  void release() noexcept {
    if (!is_inline()) ::operator delete (data_, std::align_val_t{alignof(T)});
  }

  // Takes the elements of `other` and leaves it empty; whatever was here has been released.
  void take(SmallVector& other) noexcept {
    if (other.is_inline()) {
      data_ = inline_data();
      capacity_ = inline_capacity;
      std::memcpy(storage_, other.storage_, sizeof(storage_));
    } else {
      data_ = std::exchange(other.data_, other.inline_data());
      capacity_ = std::exchange(other.capacity_, inline_capacity);
    }
    size_ = std::exchange(other.size_, 0);
  }

  T* data_ = inline_data();
  int64_t size_ = 0;
  int64_t capacity_ = inline_capacity;
  alignas(T) std::byte storage_[static_cast<size_t>(inline_capacity) * sizeof(T)];
};

}  // namespace croze
