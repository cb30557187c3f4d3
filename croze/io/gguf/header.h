// header.h -- what stands before the data of a GGUF file: metadata and the list of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "croze/io/gguf/ggml_type.h"
#include "croze/io/gguf/value.h"
#include "croze/tensor/shape.h"

namespace croze {

inline constexpr int max_gguf_rank = 4;   // of ggml
inline constexpr int max_gguf_depth = 4;  // of arrays in arrays

// A tensor of the list.  Its bytes lie in the data.
struct GgufEntry {
  std::string name;
  Shape shape;  // row-major: the reverse of how the file says it
  const GgmlTypeInfo* type = nullptr;
  std::int64_t offset = 0;  // from the beginning of the file
  std::int64_t bytes = 0;
};

struct GgufHeader {
  int version = 0;
  bool big_endian = false;
  GgufMetadata metadata;
  std::vector<std::string> metadata_order;  // their names in the order of the file
  std::vector<GgufEntry> entries;           // in the order of the file
};

// Reads the header of a file of these bytes; `path` is what messages call it.  Throws Error for a
// header that is damaged and for tensors whose data are not there, overlap or are not aligned.
GgufHeader read_gguf_header(std::span<const std::byte> file, const std::string& path);

// Bytes of the data of a tensor; nothing if they do not fit 64 bits.
std::optional<std::int64_t> gguf_data_bytes(const Shape& shape, const GgmlTypeInfo& type);

// The alignment of the data by the metadata of a file.  Throws Error if it is no power of two.
std::int64_t gguf_alignment(const GgufMetadata& metadata, const std::string& path);

}  // namespace croze
