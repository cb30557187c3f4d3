#include "croze/io/pytorch/globals.h"

#include <algorithm>
#include <iterator>

namespace croze::pytorch {
namespace {

using Kind = GlobalKind;

constexpr Global globals[] = {
    {"collections.OrderedDict", Kind::OrderedDict, {}},
    {"builtins.set", Kind::Set, {}},
    {"__builtin__.set", Kind::Set, {}},
    {"builtins.frozenset", Kind::Set, {}},
    {"__builtin__.frozenset", Kind::Set, {}},
    {"builtins.bytes", Kind::Bytes, {}},
    {"__builtin__.bytes", Kind::Bytes, {}},
    {"_codecs.encode", Kind::Encode, {}},
    {"torch.Size", Kind::Size, {}},
    {"torch.device", Kind::Device, {}},

    {"torch.bool", Kind::DType, DType::Bool},
    {"torch.int8", Kind::DType, DType::Int8},
    {"torch.uint8", Kind::DType, DType::UInt8},
    {"torch.int16", Kind::DType, DType::Int16},
    {"torch.uint16", Kind::DType, DType::UInt16},
    {"torch.int32", Kind::DType, DType::Int32},
    {"torch.uint32", Kind::DType, DType::UInt32},
    {"torch.int64", Kind::DType, DType::Int64},
    {"torch.uint64", Kind::DType, DType::UInt64},
    {"torch.float8_e4m3fn", Kind::DType, DType::Float8E4M3},
    {"torch.float8_e5m2", Kind::DType, DType::Float8E5M2},
    {"torch.float8_e4m3fnuz", Kind::DType, DType::Float8E4M3FNUZ},
    {"torch.float8_e5m2fnuz", Kind::DType, DType::Float8E5M2FNUZ},
    {"torch.float16", Kind::DType, DType::Float16},
    {"torch.bfloat16", Kind::DType, DType::BFloat16},
    {"torch.float32", Kind::DType, DType::Float32},
    {"torch.float64", Kind::DType, DType::Float64},
    {"torch.complex32", Kind::DType, {}},
    {"torch.complex64", Kind::DType, {}},
    {"torch.complex128", Kind::DType, {}},

    {"torch.BoolStorage", Kind::Storage, DType::Bool},
    {"torch.CharStorage", Kind::Storage, DType::Int8},
    {"torch.ByteStorage", Kind::Storage, DType::UInt8},
    {"torch.ShortStorage", Kind::Storage, DType::Int16},
    {"torch.IntStorage", Kind::Storage, DType::Int32},
    {"torch.LongStorage", Kind::Storage, DType::Int64},
    {"torch.HalfStorage", Kind::Storage, DType::Float16},
    {"torch.BFloat16Storage", Kind::Storage, DType::BFloat16},
    {"torch.FloatStorage", Kind::Storage, DType::Float32},
    {"torch.DoubleStorage", Kind::Storage, DType::Float64},
    {"torch.ComplexFloatStorage", Kind::Storage, {}},
    {"torch.ComplexDoubleStorage", Kind::Storage, {}},
    {"torch.storage.UntypedStorage", Kind::UntypedStorage, DType::UInt8},
    {"torch.UntypedStorage", Kind::UntypedStorage, DType::UInt8},

    {"torch._utils._rebuild_tensor", Kind::RebuildTensor, {}},
    {"torch._utils._rebuild_tensor_v2", Kind::RebuildTensor, {}},
    {"torch._utils._rebuild_tensor_v3", Kind::RebuildTypedTensor, {}},
    {"torch._utils._rebuild_parameter", Kind::RebuildParameter, {}},
};

}  // namespace

const Global* find_global(std::string_view name) {
  const auto* found = std::ranges::find(globals, name, &Global::name);
  return found == std::end(globals) ? nullptr : found;
}

}  // namespace croze::pytorch
