// globals.h -- the classes and functions of Python that a checkpoint may name.
#pragma once

#include <optional>
#include <string_view>

#include "croze/graph/dtype.h"

namespace croze::pytorch {

enum class GlobalKind {
  OrderedDict,
  Set,
  Bytes,               // bytes(), which is how old protocols write an empty one
  Encode,              // _codecs.encode(text, "latin1"), which is how they write others
  Size,                // torch.Size(tuple)
  Device,              // torch.device(text, number)
  DType,               // torch.float32
  Storage,             // torch.FloatStorage
  UntypedStorage,      // of bytes
  RebuildTensor,       // (storage, offset, sizes, strides, ..)
  RebuildTypedTensor,  // the same with a dtype at the seventh place
  RebuildParameter,    // (tensor, ..)
};

struct Global {
  std::string_view name;  // "module.name"
  GlobalKind kind;
  std::optional<DType> dtype;  // of a dtype or a storage, if croze has it
};

// Null for all others.
const Global* find_global(std::string_view name);

}  // namespace croze::pytorch
