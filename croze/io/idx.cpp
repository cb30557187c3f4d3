// idx.cpp -- header: two zero bytes, a type code, the number of axes, then each size in 32 bits,
// all big-endian; the elements follow.
#include "croze/io/idx.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "croze/base/bytes.h"
#include "croze/base/error.h"
#include "croze/io/byte_size.h"
#include "croze/io/gzip.h"

namespace croze {
namespace {

std::optional<DType> dtype_from_code(std::uint8_t code) {
  switch (code) {
    case 0x08: return DType::UInt8;
    case 0x09: return DType::Int8;
    case 0x0b: return DType::Int16;
    case 0x0c: return DType::Int32;
    case 0x0d: return DType::Float32;
    case 0x0e: return DType::Float64;
    default: return std::nullopt;
  }
}

void swap_bytes(std::vector<std::byte>& bytes, std::int64_t element_bytes) {
  for (auto it = bytes.begin(); it != bytes.end(); it += element_bytes) {
    std::reverse(it, it + element_bytes);
  }
}

}  // namespace

IdxArray read_idx(const std::string& path, std::int64_t max_bytes) {
  GzipReader file(path);
  const std::vector<std::byte> magic = file.read(4);
  check(magic.size() == 4 && magic[0] == std::byte{0} && magic[1] == std::byte{0},
        "{} is not an IDX file: it does not begin with two zero bytes", path);
  const std::optional<DType> dtype = dtype_from_code(static_cast<std::uint8_t>(magic[2]));
  check(dtype.has_value(), "{} is not an IDX file: {} is no type code", path,
        static_cast<int>(magic[2]));
  const int axes = static_cast<int>(magic[3]);
  check(axes >= 1 && axes <= 8, "{}: {} axes, where 1 to 8 are supported", path, axes);

  IdxArray array{.dtype = *dtype, .shape = {}, .bytes = {}};
  const std::vector<std::byte> sizes = file.read_exactly(std::int64_t{4} * axes);
  ByteReader reader(sizes, path);
  for (int i = 0; i < axes; i++) array.shape.push_back(reader.read_big_endian<std::uint32_t>());
  const std::optional<std::int64_t> bytes = byte_size(array.shape, *dtype);
  check(bytes && *bytes <= max_bytes,
        "{}: an array of shape {} takes more than the limit of {} bytes", path,
        to_text(array.shape), max_bytes);
  array.bytes = file.read_exactly(*bytes);
  check(file.at_end(), "{} is longer than its header says", path);
  if constexpr (std::endian::native == std::endian::little) {
    if (size_of(*dtype) > 1) swap_bytes(array.bytes, size_of(*dtype));
  }
  return array;
}

}  // namespace croze
