// writer.h -- writes a GGUF file piece by piece, so that no more than a piece is in memory.
//
//     GgufWriter writer("out.gguf", {{"general.architecture", "llama"}}, {{"t", {2, 32}, Q8_0}});
//     writer.write(row);  // as often as it takes
//     writer.commit();
//
// The file is of version 3, little-endian, and appears whole at commit() or not at all.  Metadata
// and tensors stand in the order given, the data aligned as "general.alignment" says, and padding
// is zero: a file of this form that was read is written again byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "croze/base/file.h"
#include "croze/io/gguf/ggml_type.h"
#include "croze/io/gguf/value.h"
#include "croze/tensor/shape.h"

namespace croze {

using GgufNamedValue = std::pair<std::string, GgufValue>;

// What is said of a tensor before its data.
struct GgufTensorInfo {
  std::string name;
  Shape shape;  // row-major
  GgmlType type = GgmlType::F32;

  // Bytes of its data.  Throws Error for rows that are no whole number of blocks, and if they do
  // not fit 64 bits.
  std::int64_t bytes() const;
};

class GgufWriter {
 public:
  // Throws Error for names that stand twice, more than four axes, rows that are no whole number of
  // blocks, an alignment that is no power of two or above 1 MiB, and whatever FileWriter refuses.
  GgufWriter(const std::string& path, std::span<const GgufNamedValue> metadata,
             std::span<const GgufTensorInfo> tensors);

  // The next bytes of the data of all tensors, in their order.  One call writes no bytes of two
  // tensors; a tensor without elements takes no call.
  void write(std::span<const std::byte> bytes);
  // Throws Error if the disk is full; all data have been written before.
  void commit();

 private:
  // Goes on to the next tensor that has bytes.
  void advance();

  FileWriter file_;
  std::vector<std::int64_t> missing_;  // bytes of each tensor that are not yet written
  std::vector<std::int64_t> padding_;  // behind each
  std::size_t at_ = 0;
};

}  // namespace croze
