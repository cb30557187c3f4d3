// op_table.h -- one description of every function on tensors.
//
// A row says how a function is called, which dtypes it works on, what dtype it returns, how often
// it can be differentiated, and samples of its use.  From the rows are generated docs/ops.md, the
// tests of dtypes (claimed ones work, others are refused), the tests of gradients (finite
// differences), and the recordings of PyTorch that results are compared with.
//
// Names and parameters are PyTorch's, so that a call recorded there can be made here by name:
//
//     const OpEntry& op = *find_op("nn.functional.softmax");
//     Tensor y = call_op(op, {{"input", x}, {"dim", -1}})[0];
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "croze/base/error.h"
#include "croze/tensor/tensor.h"

namespace croze {

// An argument of any op: nothing (None), a flag, a number, a text, a dtype, a tensor, a list, or a
// part of an index.
struct Value;
using Values = std::vector<Value>;
using ValueBase = std::variant<std::monostate, bool, std::int64_t, double, std::string, DType,
                               Tensor, Values, Slice, EllipsisType>;
struct Value : ValueBase {
  using ValueBase::ValueBase;
  Value(int integer) : ValueBase(std::int64_t{integer}) {}
  Value(const char* text) : ValueBase(std::string(text)) {}

  template <typename T>
  const T* get() const {
    return std::get_if<T>(static_cast<const ValueBase*>(this));
  }
};

struct NamedValue {
  std::string_view name;
  Value value;
};

// Kinds of dtypes that an op works on, as bits.
enum DTypeKinds : unsigned {
  booleans = 1,
  integers = 2,
  floats8 = 4,    // the four fp8 types
  floats16 = 8,   // float16 and bfloat16
  floats64 = 16,  // float32 and float64
  floats = floats8 | floats16 | floats64,
  wide_floats = floats16 | floats64,
  numbers = integers | floats,
  integrals = booleans | integers,
  anything = booleans | numbers,
};
bool has_dtype(unsigned kinds, DType dtype);

// The dtype of the (first) result.
enum class ResultType : std::uint8_t {
  Same,      // of the operand
  Promoted,  // of all operands (promote() in graph/dtype.h)
  Float,     // the same if it is a float, else Float32; promoted first if there are several
  Sum,       // Int64 for bool and integers but UInt64, else the same
  Bool,
  Int64,
  Given,  // by an argument, or as the line of documentation says
};
std::string_view name_of(ResultType type);

// How a function of C++ is called with Values; made by bind<> (op_table/bind.h).
struct BoundFunction {
  std::vector<Tensor> (*call)(std::span<const Value> arguments);
  std::span<const std::string_view> parameter_types;
  std::string_view result_type;
};

struct OpEntry {
  std::string_view name;        // torch.<name>
  std::string_view parameters;  // "input, dim, keepdim=false": torch's names, with defaults
  const BoundFunction* function;
  unsigned dtypes;  // DTypeKinds of the operands that `t` stands for in samples
  ResultType result;
  int gradients;  // how often it can be differentiated: 0, 1 or 2 (and more)
  std::string_view doc;
  // Calls separated by |, their arguments by commas.  A tensor of the dtype in question is
  // t(2,3), optionally with a range of values: t(2,3)@0.1..2; i(4)<5 is an Int64 tensor of numbers
  // in [0, 5), b(2,3) a Bool one.  Else none, true, false, 1, 2.5, 'text', [1, 2].
  std::string_view samples;
};

// Rows that belong together, in the order of the documentation.
struct OpFamily {
  std::string_view name;    // "Elementwise arithmetic"
  std::string_view header;  // where the functions are declared: "tensor/elementwise/elementwise.h"
  std::span<const OpEntry> ops;
};
std::span<const OpFamily> op_families();

// The row of this name; null if there is none.
const OpEntry* find_op(std::string_view name);

// "Tensor (Tensor input, int64 dim = -1)".
std::string signature_of(const OpEntry& op);
std::vector<std::string_view> parameter_names(const OpEntry& op);

// One value per parameter, defaults filled in.  Throws Error for a name that is no parameter and
// for a missing one that has no default.
Values bind_arguments(const OpEntry& op, std::span<const NamedValue> named);

// Calls with one value per parameter, or by name.  Throws Error for a value that does not fit, and
// what the function throws.
std::vector<Tensor> call_op(const OpEntry& op, std::span<const Value> arguments);
std::vector<Tensor> call_op(const OpEntry& op, std::initializer_list<NamedValue> named);

// The samples of an op, with tensors of `dtype`; the same numbers for the same seed.  Values that
// the dtype does not have are rounded to it (unsigned ones made positive).
std::vector<Values> sample_arguments(const OpEntry& op, DType dtype, std::uint64_t seed,
                                     std::string_view device = {});

}  // namespace croze
