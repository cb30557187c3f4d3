// A bounded reader for bytes from outside.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace croze {

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads numbers and byte ranges one after another.  Every read is checked against what remains and
// throws Error, naming the source and the offset, when it asks for more.
class ByteReader {
 public:
  // `name` is what messages call the data, usually the path; both arguments outlive the reader.
  ByteReader(std::span<const std::byte> data, std::string_view name) : data_(data), name_(name) {}

  int64_t offset() const { return offset_; }
  int64_t remaining() const { return static_cast<int64_t>(data_.size()) - offset_; }
  bool at_end() const { return remaining() == 0; }

  // The next number, little- or big-endian.
  template <typename T>
  T read() {
    return read_number<T>(std::endian::little);
  }
  template <typename T>
  T read_big_endian() {
    return read_number<T>(std::endian::big);
  }

  // The next `count` bytes, not copied.  A negative count is an Error too.
  std::span<const std::byte> bytes(int64_t count);

  // The same, as text.
  std::string_view text(int64_t count);

  // The next `count` elements of `element_bytes` each; their product may not overflow.
  std::span<const std::byte> elements(int64_t count, int64_t element_bytes);

  // Moves to an absolute offset within the data.
  void seek(int64_t offset);
  void skip(int64_t count) { bytes(count); }

  // Throws Error with `problem`, the name and the offset.
  [[noreturn]] void fail_here(std::string_view problem) const;

 private:
  template <typename T>
  T read_number(std::endian order) {
    static_assert(std::is_arithmetic_v<T>);
    std::array<std::byte, sizeof(T)> raw;
    std::memcpy(raw.data(), bytes(sizeof(T)).data(), sizeof(T));
    if (order != std::endian::native) {
      for (size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(raw[i], raw[sizeof(T) - 1 - i]);
    }
    return std::bit_cast<T>(raw);
  }

  std::span<const std::byte> data_;
  std::string_view name_;
  int64_t offset_ = 0;
};

}  // namespace croze
