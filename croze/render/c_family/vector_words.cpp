// vector_words.cpp -- what languages with vectors share.
#include "croze/render/c_family/vector_words.h"

namespace croze::c_family {

DType signed_of(std::int64_t bytes) {
  switch (bytes) {
    case 1: return DType::Int8;
    case 2: return DType::Int16;
    case 4: return DType::Int32;
    default: return DType::Int64;
  }
}

DType unsigned_of(std::int64_t bytes) { return bytes == 8 ? DType::UInt64 : DType::UInt32; }

bool has_operators(DType t) { return t != DType::Bool && size_of(t) >= 4; }

}  // namespace croze::c_family
