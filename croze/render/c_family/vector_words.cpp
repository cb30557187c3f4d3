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

DType unsigned_of(std::int64_t bytes) {
  switch (bytes) {
    case 1: return DType::UInt8;
    case 2: return DType::UInt16;
    case 4: return DType::UInt32;
    default: return DType::UInt64;
  }
}

}  // namespace croze::c_family
