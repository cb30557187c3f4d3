// Bounded reads.
#include "croze/base/bytes.h"

#include <fmt/format.h>

#include "croze/base/checked.h"
#include "croze/base/error.h"

namespace croze {

std::span<const std::byte> ByteReader::bytes(int64_t count) {
  if (count < 0 || count > remaining()) {
    fail_here(
        fmt::format("the data ends early: {} bytes wanted where {} remain", count, remaining()));
  }
  auto result = data_.subspan(static_cast<size_t>(offset_), static_cast<size_t>(count));
  offset_ += count;
  return result;
}

std::string_view ByteReader::text(int64_t count) { return as_text(bytes(count)); }

std::span<const std::byte> ByteReader::elements(int64_t count, int64_t element_bytes) {
  if (count < 0) fail_here(fmt::format("{} elements wanted", count));
  return bytes(checked_mul(count, element_bytes));
}

void ByteReader::seek(int64_t offset) {
  if (offset < 0 || offset > static_cast<int64_t>(data_.size())) {
    fail_here(fmt::format("offset {} is outside the {} bytes", offset, data_.size()));
  }
  offset_ = offset;
}

void ByteReader::fail_here(std::string_view problem) const {
  fail({}, "{}: {} (at offset {})", name_, problem, offset_);
}

}  // namespace croze
