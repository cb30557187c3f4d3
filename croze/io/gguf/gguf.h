// gguf.h -- models in the GGUF format: metadata and tensors, many of them quantized.
//
// Versions 2 and 3 are read, in either byte order, and files that are split.  Loading maps a file
// of more than 1 MiB and copies nothing on devices that see host memory, but for big-endian
// numbers; so do not write into a file in place while tensors of it live.
//
//     GgufFile file = load_gguf("model.gguf");
//     std::string kind = file.metadata.text("general.architecture");
//     Tensor weight = file.tensor("blk.0.attn_q.weight").decoded();
//
// Decoding is ordinary arithmetic on the stored bytes, recorded and not computed: a product with a
// decoded weight reads the blocks.  Files are not trusted: every length is checked against what is
// there, and time and memory are bounded by the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "croze/io/gguf/ggml_type.h"
#include "croze/io/gguf/value.h"
#include "croze/nn/state.h"
#include "croze/tensor/tensor.h"

namespace croze {

struct GgufTensor {
  std::string name;
  Shape shape;  // row-major, so the reverse of how ggml says it
  GgmlType type = GgmlType::F32;
  int part = 0;             // which file of a split model, from 0
  std::int64_t offset = 0;  // of the bytes in that file
  // What the file holds.  Types of one element each: a tensor of `shape` and that dtype.  Types of
  // blocks: UInt8, and the last axis of `shape` is two, the blocks of a row and the bytes of one.
  Tensor stored;

  // The elements as numbers, of `shape`: block types become Float32 to the last bit as ggml
  // computes them, and then `dtype`.
  Tensor decoded(DType dtype = DType::Float32, Location at = Location::current()) const;
};

struct GgufFile {
  int version = 0;
  bool big_endian = false;
  int parts = 1;          // files; the others of these fields are those of the first
  GgufMetadata metadata;  // general.architecture, tokenizer.ggml.tokens, ...
  std::vector<GgufTensor> tensors;

  // The tensor of this name.  Throws Error if there is none.
  const GgufTensor& tensor(std::string_view name) const;
};

struct GgufOptions {
  std::string_view device = {};  // on which the tensors stand; the default device if not said
};

// Reads a file; of a split model any part, named as "model-00001-of-00003.gguf", and the others
// beside it.
//
// Throws Error naming the file and what is wrong with it: no such file, another version, counts and
// lengths beyond its end, values, arrays or tensors of a type that does not exist, a name that
// stands twice, data that overlap, are not aligned or not all there; of a split model, parts that
// are missing or belong to another one.
GgufFile load_gguf(const std::string& path, const GgufOptions& options = {});

// Writes tensors, computed first if need be, and metadata to `path`: version 3, little-endian, one
// file, so that values named "split." are left out.  The file appears whole or not at all: on any
// failure Error is thrown and a file that was there before is as it was.  Throws Error for a dtype
// that GGUF lacks (it has Float16, BFloat16, Float32, Float64 and the signed integers), for more
// than four axes, and if two tensors have one name.
void save_gguf(const std::string& path, const StateDict& tensors,
               const GgufMetadata::Map& metadata = {});

}  // namespace croze
