// conversion.cpp -- rows of the op table: the same values in another dtype.
#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"

namespace croze {
namespace {

template <DType dtype>
Tensor cast_to(const Tensor& x) {
  return x.cast(dtype);
}

// Differences in Float64 are no test of a gradient that is rounded to fewer digits.
constexpr OpEntry ops[] = {
    {"bool", "input", bind<cast_to<DType::Bool>>, anything, ResultType::Bool, 0,
     "Whether it is not 0.", one_operand},
    {"byte", "input", bind<cast_to<DType::UInt8>>, anything, ResultType::Given, 0,
     "UInt8; floats saturate.", one_operand},
    {"char", "input", bind<cast_to<DType::Int8>>, anything, ResultType::Given, 0,
     "Int8; floats saturate.", one_operand},
    {"short", "input", bind<cast_to<DType::Int16>>, anything, ResultType::Given, 0,
     "Int16; floats saturate.", one_operand},
    {"int", "input", bind<cast_to<DType::Int32>>, anything, ResultType::Given, 0,
     "Int32; floats saturate.", one_operand},
    {"long", "input", bind<cast_to<DType::Int64>>, anything, ResultType::Int64, 0,
     "Int64; floats saturate.", one_operand},
    {"half", "input", bind<cast_to<DType::Float16>>, anything, ResultType::Given, 0,
     "Float16, rounded.", one_operand},
    {"bfloat16", "input", bind<cast_to<DType::BFloat16>>, anything, ResultType::Given, 0,
     "BFloat16, rounded.", one_operand},
    {"float", "input", bind<cast_to<DType::Float32>>, anything, ResultType::Given, 0,
     "Float32, rounded.", one_operand},
    {"double", "input", bind<cast_to<DType::Float64>>, anything, ResultType::Given, 2, "Float64.",
     one_operand},
};

}  // namespace

std::span<const OpEntry> conversion_ops() { return ops; }

}  // namespace croze
