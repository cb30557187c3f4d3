// idx.h -- the IDX format of the MNIST family: one array of numbers, compressed with gzip or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "croze/graph/dtype.h"
#include "croze/tensor/shape.h"

namespace croze {

// An array in the memory of the host, row by row, in the byte order of the machine.
struct IdxArray {
  DType dtype = DType::Void;
  Shape shape;
  std::vector<std::byte> bytes;
};

// Reads a whole file.  Throws Error naming the file if it is missing, damaged, truncated, longer
// than its header says, or larger than `max_bytes`.
IdxArray read_idx(const std::string& path, std::int64_t max_bytes = std::int64_t{4} << 30);

}  // namespace croze
