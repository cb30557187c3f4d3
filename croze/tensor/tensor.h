// tensor.h -- Tensor, the value that users compute with, and the types its functions take.
//
// A Tensor is a handle: copies refer to the same tensor, as in PyTorch.  Operations on tensors
// record nodes of one graph, the default tensor graph, and compute nothing; realize(), item() and
// to_vector() compute.  The default tensor graph is the one piece of global state of this layer; a
// lock per recorded node makes all functions here safe to call from several threads.
//
// Views share memory with what they look at, as in PyTorch: after v = x.narrow(..) an assignment to
// x shows in v, and one to v in x.  Views are made by narrow, slice, index with integers and
// Slices, permute, transpose, expand, squeeze, unsqueeze, unfold, and by reshape and its kin where
// the elements lie in order.  All other results are values, fixed when they are recorded.
//
// Every method that is not a property is the function of the same name over *this; those are
// described where they stand: elementwise.h, reduce.h, movement.h, indexing.h, linalg.h,
// functional.h.  Misuse throws Error naming the operation, the operands and the line of the call.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "croze/base/checked.h"
#include "croze/tensor/arguments.h"
#include "croze/tensor/shape.h"

namespace croze {

class Operand;
class Tensor;
class TensorIndex;
class UOp;
struct TensorRecord;

// Where the user called: the last parameter of most functions, which nobody passes by hand.
using Location = std::source_location;

// Elements of a tensor, row by row, for the host to read: Tensor::elements().
template <Number T>
class Elements {
 public:
  Elements() = default;
  Elements(std::shared_ptr<const std::byte> memory, std::size_t count)
      : memory_(std::move(memory)), count_(count) {}

  std::span<const T> span() const { return {reinterpret_cast<const T*>(memory_.get()), count_}; }

 private:
  std::shared_ptr<const std::byte> memory_;
  std::size_t count_ = 0;
};

class Tensor {
 public:
  // No tensor: defined() is false, everything else throws Error.
  Tensor() = default;
  Tensor(const Tensor& other) noexcept;
  Tensor(Tensor&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  Tensor& operator=(const Tensor& other) & noexcept;
  Tensor& operator=(Tensor&& other) & noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  // x[0] = value, x.narrow(..) = value: assign() through a view.  As in libtorch, a variable on the
  // left is given another tensor and anything else is written to.  Throws Error for what is no
  // view, such as x[positions], where nobody would see it: index_put_ writes there.
  Tensor& operator=(Operand value) &&;
  ~Tensor();

  // The elements as NumPy shows them (print.h).  Computes them.
  friend std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

  bool defined() const { return record_ != nullptr; }
  // Whether both refer to the same tensor.
  bool is_same(const Tensor& other) const { return record_ == other.record_; }

  // ---- creation -------------------------------------------------------------------------------

  // Filled with one number.  full: dtype from the kind of `value` unless said.
  static Tensor zeros(const Shape& shape, const TensorOptions& options = {},
                      Location at = Location::current());
  static Tensor ones(const Shape& shape, const TensorOptions& options = {},
                     Location at = Location::current());
  static Tensor full(const Shape& shape, Scalar value, const TensorOptions& options = {},
                     Location at = Location::current());
  // One number, shape ().
  static Tensor scalar(Scalar value, const TensorOptions& options = {},
                       Location at = Location::current());
  // Values are unspecified (they are zeros).
  static Tensor empty(const Shape& shape, const TensorOptions& options = {},
                      Location at = Location::current());
  // begin, begin + step, ... up to but excluding end.  Int64 if all three are integers, else
  // Float32.
  static Tensor arange(Scalar begin, Scalar end, Scalar step = 1, const TensorOptions& options = {},
                       Location at = Location::current());
  static Tensor arange(Scalar end, const TensorOptions& options = {},
                       Location at = Location::current());
  // `steps` numbers from begin to end, both included.  Float dtypes.
  static Tensor linspace(double begin, double end, std::int64_t steps,
                         const TensorOptions& options = {}, Location at = Location::current());
  // (rows, columns) with ones on the diagonal; square unless columns is given.
  static Tensor eye(std::int64_t rows, std::int64_t columns = -1, const TensorOptions& options = {},
                    Location at = Location::current());
  // As `like`, where options do not say otherwise.
  static Tensor zeros_like(const Tensor& like, const TensorOptions& options = {},
                           Location at = Location::current());
  static Tensor ones_like(const Tensor& like, const TensorOptions& options = {},
                          Location at = Location::current());
  static Tensor full_like(const Tensor& like, Scalar value, const TensorOptions& options = {},
                          Location at = Location::current());

  // With a dtype alone: Tensor::zeros({2, 3}, DType::Float16).  (Templates, so that {} stays the
  // word for no options.)
  template <std::same_as<DType> D>
  static Tensor zeros(const Shape& shape, D dtype, Location at = Location::current()) {
    return zeros(shape, TensorOptions{.dtype = dtype}, at);
  }
  template <std::same_as<DType> D>
  static Tensor ones(const Shape& shape, D dtype, Location at = Location::current()) {
    return ones(shape, TensorOptions{.dtype = dtype}, at);
  }
  template <std::same_as<DType> D>
  static Tensor full(const Shape& shape, Scalar value, D dtype, Location at = Location::current()) {
    return full(shape, value, TensorOptions{.dtype = dtype}, at);
  }
  template <std::same_as<DType> D>
  static Tensor empty(const Shape& shape, D dtype, Location at = Location::current()) {
    return empty(shape, TensorOptions{.dtype = dtype}, at);
  }
  template <std::same_as<DType> D>
  static Tensor arange(Scalar end, D dtype, Location at = Location::current()) {
    return arange(end, TensorOptions{.dtype = dtype}, at);
  }
  template <std::same_as<DType> D>
  static Tensor rand(const Shape& shape, D dtype, Location at = Location::current()) {
    return rand(shape, TensorOptions{.dtype = dtype}, at);
  }
  template <std::same_as<DType> D>
  static Tensor randn(const Shape& shape, D dtype, Location at = Location::current()) {
    return randn(shape, TensorOptions{.dtype = dtype}, at);
  }

  // The numbers of `data`, row by row: a std::vector, std::array, std::span, a list in braces, any
  // range that lies in memory in one piece.  Copies them.  Throws Error if their count is not the
  // shape's.  With options.dtype they are converted.
  template <NumbersInMemory R>
  static Tensor from_data(const R& data, const Shape& shape, const TensorOptions& options = {},
                          Location at = Location::current()) {
    const std::span elements(data);
    using T = std::remove_cv_t<typename decltype(elements)::element_type>;
    return from_bytes(std::as_bytes(elements), dtype_of<T>(), shape, options, at);
  }
  template <Number T>
  static Tensor from_data(std::initializer_list<T> data, const Shape& shape,
                          const TensorOptions& options = {}, Location at = Location::current()) {
    return from_data(std::span<const T>(data.begin(), data.size()), shape, options, at);
  }
  // The same for elements that already stand as `dtype` does in memory.
  static Tensor from_bytes(std::span<const std::byte> bytes, DType dtype, const Shape& shape,
                           const TensorOptions& options = {}, Location at = Location::current());
  // A tensor over memory of the caller, which `owner` keeps alive; devices that see host memory
  // copy nothing.  The memory holds shape.numel() elements of `dtype`.
  static Tensor from_blob(const void* memory, const Shape& shape, DType dtype,
                          std::shared_ptr<const void> owner, const TensorOptions& options = {},
                          Location at = Location::current());

  // Random numbers, counter-based: for one seed the same on every device.  Each call draws anew.
  // rand: uniform in [0, 1).  randn: normal, mean 0, deviation 1.  Float dtypes only.
  static Tensor rand(const Shape& shape, const TensorOptions& options = {},
                     Location at = Location::current());
  static Tensor randn(const Shape& shape, const TensorOptions& options = {},
                      Location at = Location::current());
  static Tensor rand_like(const Tensor& like, Location at = Location::current());
  static Tensor randn_like(const Tensor& like, Location at = Location::current());
  // Uniform in [low, high).
  static Tensor uniform(const Shape& shape, double low, double high,
                        const TensorOptions& options = {}, Location at = Location::current());
  // Integers in [low, high); Int64 unless options say another integer dtype.
  static Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape,
                        const TensorOptions& options = {}, Location at = Location::current());

  // ---- properties -----------------------------------------------------------------------------

  Shape shape(Location at = Location::current()) const;
  DType dtype(Location at = Location::current()) const;
  std::string_view device(Location at = Location::current()) const;
  int ndim(Location at = Location::current()) const;
  std::int64_t numel(Location at = Location::current()) const;
  // Elements along one axis.
  std::int64_t size(std::int64_t axis, Location at = Location::current()) const;

  // ---- computing ------------------------------------------------------------------------------

  // Computes the value now and keeps it; returns *this.
  Tensor& realize(Location at = Location::current());
  const Tensor& realize(Location at = Location::current()) const;
  // The one element.  Throws Error if there are several.
  template <Number T>
  T item(Location at = Location::current()) const {
    T value;
    read_item(std::as_writable_bytes(std::span(&value, 1)), dtype_of<T>(), at);
    return value;
  }
  // All elements, row by row, converted to T.
  template <Number T>
  std::vector<T> to_vector(Location at = Location::current()) const {
    if constexpr (std::same_as<T, bool>) {
      const std::vector<std::uint8_t> bytes = to_vector<std::uint8_t>(at);
      return std::vector<bool>(bytes.begin(), bytes.end());
    } else {
      auto values = sized_vector<T>(numel(at), "the list of a tensor's elements");
      read(std::as_writable_bytes(std::span(values)), dtype_of<T>(), at);
      return values;
    }
  }
  // The same into memory that is there.  Throws Error if it is for more elements, or fewer.
  template <Number T>
  requires(!std::same_as<T, bool>) void copy_to(std::span<T> values,
                                                Location at = Location::current()) const {
    read_all(std::as_writable_bytes(values), dtype_of<T>(), at);
  }
  // The same without a copy, where the host sees the memory of the tensor and that holds T: as long
  // as the result is kept, which an assignment to the tensor may change.  Elsewhere it is a copy.
  template <Number T>
  Elements<T> elements(Location at = Location::current()) const {
    return {memory_of_elements(dtype_of<T>(), at), static_cast<std::size_t>(numel(at))};
  }
  // All elements as they stand in memory, in this tensor's dtype.
  std::vector<std::byte> to_bytes(Location at = Location::current()) const;

  // Sets the tensor to `value`, cast to its dtype and expanded to its shape; lazy, like everything.
  // A tensor that owns memory keeps it: the new value is stored there.  Returns *this.
  // Through a view the part that it looks at is set; Error if elements of the view share memory.
  Tensor& assign(Operand value);
  Tensor& fill_(Scalar value, Location at = Location::current());
  Tensor& zero_(Location at = Location::current());
  // Also x[0] += 1, with the errors of x[0] = 1.
  Tensor& operator+=(Operand other) &;
  Tensor& operator-=(Operand other) &;
  Tensor& operator*=(Operand other) &;
  Tensor& operator/=(Operand other) &;
  Tensor& operator+=(Operand other) &&;
  Tensor& operator-=(Operand other) &&;
  Tensor& operator*=(Operand other) &&;
  Tensor& operator/=(Operand other) &&;

  // Gradients of this one-element float tensor by each target, in order, as tensors of the targets'
  // shapes; zeros for a target that it does not depend on.  They can be differentiated again.
  // Computed tensors remember how they were computed, so the order of item() and gradient() does
  // not matter, until an assignment is carried out. Throws Error if this is not one float element
  // or its past is not known, if a target is not a float tensor, or if a target is a constant,
  // which has no identity until it is realized.
  std::vector<Tensor> gradient(std::span<const Tensor> targets,
                               Location at = Location::current()) const;
  std::vector<Tensor> gradient(std::initializer_list<Tensor> targets,
                               Location at = Location::current()) const {
    return gradient(std::span(targets.begin(), targets.size()), at);
  }

  // The same value: with no gradient through it; tabulated in memory where it stands; with its
  // gradient tabulated; on another device ("CPU:1").
  Tensor detach(Location at = Location::current()) const;
  Tensor contiguous(Location at = Location::current()) const;
  Tensor contiguous_backward(Location at = Location::current()) const;
  Tensor to(std::string_view device, Location at = Location::current()) const;

  // Converted to `dtype`: rounding as the type says, floats to integers truncate and saturate.
  Tensor cast(DType dtype, Location at = Location::current()) const;
  Tensor to(DType dtype, Location at = Location::current()) const { return cast(dtype, at); }
  // The same bits read as a dtype of the same width.
  Tensor bitcast(DType dtype, Location at = Location::current()) const;
  Tensor view_dtype(DType dtype, Location at = Location::current()) const {
    return bitcast(dtype, at);
  }

  // ---- elementwise (elementwise.h) ------------------------------------------------------------

  Tensor add(Operand other) const;
  Tensor sub(Operand other) const;
  Tensor mul(Operand other) const;
  Tensor div(Operand other) const;
  Tensor floor_divide(Operand other) const;
  Tensor remainder(Operand other) const;
  Tensor pow(Operand exponent) const;
  Tensor maximum(Operand other) const;
  Tensor minimum(Operand other) const;
  Tensor bitwise_and(Operand other) const;
  Tensor bitwise_or(Operand other) const;
  Tensor bitwise_xor(Operand other) const;
  Tensor bitwise_not(Location at = Location::current()) const;
  Tensor lshift(Operand amount) const;
  Tensor rshift(Operand amount) const;
  Tensor eq(Operand other) const;
  Tensor ne(Operand other) const;
  Tensor lt(Operand other) const;
  Tensor le(Operand other) const;
  Tensor gt(Operand other) const;
  Tensor ge(Operand other) const;
  Tensor logical_and(Operand other) const;
  Tensor logical_or(Operand other) const;
  Tensor logical_xor(Operand other) const;
  Tensor logical_not(Location at = Location::current()) const;
  // where(condition, *this, other).
  Tensor where(Operand condition, Operand other) const;
  Tensor masked_fill(Operand mask, Operand value) const;
  Tensor clamp(std::optional<double> low, std::optional<double> high = {},
               Location at = Location::current()) const;
  Tensor lerp(Operand end, Operand weight) const;

  Tensor neg(Location at = Location::current()) const;
  Tensor abs(Location at = Location::current()) const;
  Tensor sign(Location at = Location::current()) const;
  Tensor square(Location at = Location::current()) const;
  Tensor sqrt(Location at = Location::current()) const;
  Tensor rsqrt(Location at = Location::current()) const;
  Tensor reciprocal(Location at = Location::current()) const;
  Tensor exp(Location at = Location::current()) const;
  Tensor exp2(Location at = Location::current()) const;
  Tensor expm1(Location at = Location::current()) const;
  Tensor log(Location at = Location::current()) const;
  Tensor log2(Location at = Location::current()) const;
  Tensor log10(Location at = Location::current()) const;
  Tensor log1p(Location at = Location::current()) const;
  Tensor sin(Location at = Location::current()) const;
  Tensor cos(Location at = Location::current()) const;
  Tensor tan(Location at = Location::current()) const;
  Tensor asin(Location at = Location::current()) const;
  Tensor acos(Location at = Location::current()) const;
  Tensor atan(Location at = Location::current()) const;
  Tensor sinh(Location at = Location::current()) const;
  Tensor cosh(Location at = Location::current()) const;
  Tensor tanh(Location at = Location::current()) const;
  Tensor erf(Location at = Location::current()) const;
  Tensor floor(Location at = Location::current()) const;
  Tensor ceil(Location at = Location::current()) const;
  Tensor round(Location at = Location::current()) const;
  Tensor trunc(Location at = Location::current()) const;
  Tensor isnan(Location at = Location::current()) const;
  Tensor isinf(Location at = Location::current()) const;
  Tensor isfinite(Location at = Location::current()) const;
  Tensor sigmoid(Location at = Location::current()) const;
  Tensor relu(Location at = Location::current()) const;

  // ---- reductions (reduce.h) ------------------------------------------------------------------

  Tensor sum(const Axes& axes = {}, bool keepdim = false, Location at = Location::current()) const;
  Tensor prod(const Axes& axes = {}, bool keepdim = false, Location at = Location::current()) const;
  Tensor mean(const Axes& axes = {}, bool keepdim = false, Location at = Location::current()) const;
  Tensor max(const Axes& axes = {}, bool keepdim = false, Location at = Location::current()) const;
  Tensor min(const Axes& axes = {}, bool keepdim = false, Location at = Location::current()) const;
  Tensor any(const Axes& axes = {}, bool keepdim = false, Location at = Location::current()) const;
  Tensor all(const Axes& axes = {}, bool keepdim = false, Location at = Location::current()) const;
  Tensor argmax(std::optional<std::int64_t> axis = {}, bool keepdim = false,
                Location at = Location::current()) const;
  Tensor argmin(std::optional<std::int64_t> axis = {}, bool keepdim = false,
                Location at = Location::current()) const;
  Tensor var(const Axes& axes = {}, double correction = 1, bool keepdim = false,
             Location at = Location::current()) const;
  // `std` in PyTorch, where it shadows no namespace.
  Tensor std_dev(const Axes& axes = {}, double correction = 1, bool keepdim = false,
                 Location at = Location::current()) const;
  Tensor norm(double p = 2, const Axes& axes = {}, bool keepdim = false,
              Location at = Location::current()) const;
  Tensor logsumexp(const Axes& axes = {}, bool keepdim = false,
                   Location at = Location::current()) const;
  Tensor softmax(std::int64_t axis = -1, Location at = Location::current()) const;
  Tensor log_softmax(std::int64_t axis = -1, Location at = Location::current()) const;
  Tensor cumsum(std::int64_t axis, Location at = Location::current()) const;

  // ---- movement (movement.h) ------------------------------------------------------------------

  Tensor reshape(const Shape& shape, Location at = Location::current()) const;
  Tensor view(const Shape& shape, Location at = Location::current()) const;
  Tensor expand(const Shape& shape, Location at = Location::current()) const;
  Tensor permute(const Shape& order, Location at = Location::current()) const;
  Tensor transpose(std::int64_t a = -2, std::int64_t b = -1,
                   Location at = Location::current()) const;
  Tensor flip(const Axes& axes, Location at = Location::current()) const;
  Tensor narrow(std::int64_t axis, std::int64_t begin, std::int64_t length,
                Location at = Location::current()) const;
  Tensor select(std::int64_t axis, std::int64_t i, Location at = Location::current()) const;
  Tensor slice(std::int64_t axis, const Slice& slice, Location at = Location::current()) const;
  Tensor pad(const Shape& amounts, Scalar value = 0, Location at = Location::current()) const;
  Tensor squeeze(std::optional<std::int64_t> axis = {}, Location at = Location::current()) const;
  Tensor unsqueeze(std::int64_t axis, Location at = Location::current()) const;
  Tensor flatten(std::int64_t first = 0, std::int64_t last = -1,
                 Location at = Location::current()) const;
  Tensor repeat(const Shape& times, Location at = Location::current()) const;
  Tensor unfold(std::int64_t axis, std::int64_t size, std::int64_t step,
                Location at = Location::current()) const;
  std::vector<Tensor> split(std::int64_t size, std::int64_t axis = 0,
                            Location at = Location::current()) const;
  std::vector<Tensor> split(const Shape& sizes, std::int64_t axis = 0,
                            Location at = Location::current()) const;
  std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t axis = 0,
                            Location at = Location::current()) const;
  Tensor triu(std::int64_t diagonal = 0, Location at = Location::current()) const;
  Tensor tril(std::int64_t diagonal = 0, Location at = Location::current()) const;

  // ---- indexing (indexing.h) ------------------------------------------------------------------

  // t[i], t[Slice{1, 5, 2}], t[Ellipsis], t[some_tensor]: along the first axis.
  Tensor operator[](const TensorIndex& index) const;
  Tensor index(std::initializer_list<TensorIndex> indices, Location at = Location::current()) const;
  Tensor index(std::span<const TensorIndex> indices, Location at = Location::current()) const;
  Tensor& index_put_(std::initializer_list<TensorIndex> indices, Operand value);
  Tensor& index_put_(std::span<const TensorIndex> indices, Operand value);
  Tensor gather(std::int64_t axis, const Tensor& index, Location at = Location::current()) const;
  Tensor index_select(std::int64_t axis, const Tensor& index,
                      Location at = Location::current()) const;
  Tensor scatter(std::int64_t axis, const Tensor& index, Operand source) const;
  Tensor scatter_add(std::int64_t axis, const Tensor& index, Operand source) const;

  // ---- linear algebra (linalg.h) --------------------------------------------------------------

  Tensor matmul(const Tensor& other, Location at = Location::current()) const;
  Tensor dot(const Tensor& other, Location at = Location::current()) const;

  // ---- for the layers above -------------------------------------------------------------------

  // The tensor that stands for `node` of the default tensor graph, on the device of that index (-1:
  // wherever it is needed).
  static Tensor of_node(UOp node, int device);
  UOp node(Location at = Location::current()) const;
  int device_index(Location at = Location::current()) const;  // -1: not bound to a device

 private:
  explicit Tensor(TensorRecord* record) : record_(record) {}
  TensorRecord& record(Location at) const;
  // This, about to be written to through a handle that nobody keeps.
  Tensor& as_view(std::string_view function, Location at);
  void read(std::span<std::byte> bytes, DType dtype, Location at) const;
  void read_all(std::span<std::byte> bytes, DType dtype, Location at) const;
  std::shared_ptr<const std::byte> memory_of_elements(DType dtype, Location at) const;
  void read_item(std::span<std::byte> bytes, DType dtype, Location at) const;

  friend struct TensorRecord;
  TensorRecord* record_ = nullptr;
};

// A tensor or a number, with the place where it was written: what elementwise functions take.
class Operand {
 public:
  Operand(const Tensor& tensor, Location at = Location::current()) : tensor_(tensor), at_(at) {}
  template <Number T>
  Operand(T value, Location at = Location::current()) : scalar_(value), at_(at) {}
  Operand(Scalar value, Location at = Location::current()) : scalar_(value), at_(at) {}

  bool is_scalar() const { return !tensor_.defined() && scalar_.has_value(); }
  const Tensor& tensor() const { return tensor_; }
  Scalar scalar() const { return scalar_.value_or(Scalar(0)); }
  Location at() const { return at_; }

 private:
  Tensor tensor_;
  std::optional<Scalar> scalar_;
  Location at_;
};

// One place of an index: an integer, a Slice, None (a new axis), Ellipsis, or an integer tensor.
class TensorIndex {
 public:
  enum class Kind { Integer, Slice, NewAxis, Ellipsis, Tensor };

  template <Integer T>
  TensorIndex(T i, Location at = Location::current())
      : kind_(Kind::Integer), integer_(static_cast<std::int64_t>(i)), at_(at) {}
  TensorIndex(Slice s, Location at = Location::current())
      : kind_(Kind::Slice), slice_(s), at_(at) {}
  TensorIndex(std::nullopt_t, Location at = Location::current()) : kind_(Kind::NewAxis), at_(at) {}
  TensorIndex(EllipsisType, Location at = Location::current()) : kind_(Kind::Ellipsis), at_(at) {}
  TensorIndex(const Tensor& t, Location at = Location::current())
      : kind_(Kind::Tensor), tensor_(t), at_(at) {}

  Kind kind() const { return kind_; }
  std::int64_t integer() const { return integer_; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }
  Location at() const { return at_; }

 private:
  Kind kind_;
  std::int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
  Location at_;
};

// Computes all of them together.
void realize(std::span<const Tensor> tensors, Location at = Location::current());
void realize(std::initializer_list<Tensor> tensors, Location at = Location::current());

// Restarts the random numbers from `seed`.
void manual_seed(std::uint64_t seed);

}  // namespace croze
