#include "croze/log/record_frame.h"

#include <array>

#include "croze/base/bytes.h"
#include "croze/base/error.h"

namespace croze::logs {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table() {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // Castagnoli's, the lowest power first
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); i++) {
    std::uint32_t rest = i;
    for (int bit = 0; bit < 8; bit++) rest = rest >> 1 ^ (rest & 1 ? polynomial : 0);
    table[i] = rest;
  }
  return table;
}

// As the format wants it: a checksum of bytes that hold their own checksum says little.
std::uint32_t masked(std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8; }

std::uint32_t masked_crc(std::string_view text) {
  return masked(crc32c(std::as_bytes(std::span(text))));
}

template <typename T>
void append_number(std::string& text, T value) {
  for (std::size_t i = 0; i < sizeof(T); i++, value >>= 8) text += static_cast<char>(value);
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static constexpr std::array<std::uint32_t, 256> table = crc_table();
  std::uint32_t crc = ~std::uint32_t{0};
  for (const std::byte b : bytes) {
    crc = crc >> 8 ^ table[(crc ^ static_cast<std::uint32_t>(b)) & 255];
  }
  return ~crc;
}

void append_record(std::string& file, std::string_view record) {
  std::string length;
  append_number(length, std::uint64_t{record.size()});
  file += length;
  append_number(file, masked_crc(length));
  file += record;
  append_number(file, masked_crc(record));
}

std::int64_t frame_size(std::span<const std::byte> bytes, std::string_view name) {
  if (std::ssize(bytes) < frame_head_bytes) return 0;
  ByteReader reader(bytes, name);
  const auto length = reader.read<std::uint64_t>();
  const auto crc = reader.read<std::uint32_t>();
  check(crc == masked(crc32c(bytes.first(sizeof(length)))),
        "{} is damaged, or is no event file: the checksum of a record's length is wrong", name);
  check(length <= std::uint64_t{INT64_MAX} - frame_bytes, "{} is damaged: a record of {} bytes",
        name, length);
  return static_cast<std::int64_t>(length) + frame_bytes;
}

std::span<const std::byte> record_in(std::span<const std::byte> frame, std::string_view name) {
  ByteReader reader(frame, name);
  reader.skip(frame_head_bytes);
  const std::span<const std::byte> record = reader.bytes(std::ssize(frame) - frame_bytes);
  check(reader.read<std::uint32_t>() == masked(crc32c(record)),
        "{} is damaged: the checksum of a record is wrong", name);
  return record;
}

}  // namespace croze::logs
