// arguments.h -- the small types that tensor functions take beside tensors and shapes: numbers,
// options, slices.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "croze/graph/dtype.h"

namespace croze {

template <typename T>
concept Number = std::is_arithmetic_v<T>;
// A range of numbers side by side in memory, as std::vector<bool> is not.
template <typename R>
concept NumbersInMemory = requires(const R& r) {
  requires Number<std::remove_cv_t<typename decltype(std::span(r))::element_type>>;
};

// The dtype that holds T in memory.
template <Number T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, bool>) return DType::Bool;
  if constexpr (std::same_as<T, double>) return DType::Float64;
  if constexpr (std::floating_point<T>) return DType::Float32;
  constexpr bool is_signed = std::signed_integral<T>;
  switch (sizeof(T)) {
    case 1: return is_signed ? DType::Int8 : DType::UInt8;
    case 2: return is_signed ? DType::Int16 : DType::UInt16;
    case 4: return is_signed ? DType::Int32 : DType::UInt32;
    default: return is_signed ? DType::Int64 : DType::UInt64;
  }
}

// A number without a dtype of its own: only its kind (bool, integer or float) takes part in
// promotion, so a scalar never widens a tensor.
class Scalar {
 public:
  template <Number T>
  Scalar(T value) {
    if constexpr (std::same_as<T, bool>) {
      kind_ = DType::Bool;
      integer_ = value;
    } else if constexpr (std::integral<T>) {
      kind_ = DType::Int64;
      integer_ = static_cast<std::int64_t>(value);
    } else {
      kind_ = DType::Float64;
    }
    number_ = static_cast<double>(value);
  }

  DType kind() const { return kind_; }  // Bool, Int64 or Float64
  std::int64_t integer() const { return integer_; }
  double number() const { return number_; }

 private:
  DType kind_ = DType::Int64;
  std::int64_t integer_ = 0;
  double number_ = 0;
};

// How a tensor is made.  Unsaid dtype: Float32 for values that are floats, Int64 for integers.
// Unsaid device: that of the tensors it meets, else the default device.
struct TensorOptions {
  std::optional<DType> dtype = std::nullopt;
  std::string_view device = {};
};

// begin:end:step of an axis, as in Python: negative positions count from the end, a missing one is
// the end in question, positions out of range are clipped.  A negative step walks backwards.
struct Slice {
  std::optional<std::int64_t> begin = std::nullopt;
  std::optional<std::int64_t> end = std::nullopt;
  std::int64_t step = 1;
};

// As in PyTorch: using namespace croze::indexing; t.index({0, None, Slice{None, 5}, Ellipsis}).
struct EllipsisType {};
namespace indexing {
using croze::Slice;
// A new axis of size 1; in a Slice, no position.
inline constexpr std::nullopt_t None = std::nullopt;
// As many whole axes as are left.
inline constexpr EllipsisType Ellipsis{};
}  // namespace indexing

}  // namespace croze
