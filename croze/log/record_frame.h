// record_frame.h -- internal to log/: the frames in which TFRecord files hold their records: a
// length, its checksum, the bytes, their checksum.
//
// https://www.tensorflow.org/tutorials/load_data/tfrecord
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace croze::logs {

// CRC-32C (Castagnoli), as iSCSI has it (RFC 3720).
std::uint32_t crc32c(std::span<const std::byte> bytes);

inline constexpr std::int64_t frame_head_bytes = 12, frame_bytes = 16;

// Appends the record in its frame.
void append_record(std::string& file, std::string_view record);

// How many bytes the frame at the front of `bytes` takes, which may be more than there are; 0 where
// not even its head is there.  Throws Error, naming the file, if the head is damaged.
std::int64_t frame_size(std::span<const std::byte> bytes, std::string_view name);
// The record in the frame at the front, all of which is there.  Throws Error if it is damaged.
std::span<const std::byte> record_in(std::span<const std::byte> frame, std::string_view name);

}  // namespace croze::logs
