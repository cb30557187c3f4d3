// inflate.h -- decompression in bounded reads: memory grows with what is there, never with what a
// header promises.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace croze {

// One deflated stream in memory, unpacked as it is asked for.
class Inflater {
 public:
  enum class Format { Raw, Gzip };  // a stream as in a zip archive; with gzip's head and checksum

  // `name` is what messages call the stream; `source` outlives the reader.
  Inflater(std::span<const std::byte> source, Format format, std::string name);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills `to` as far as the stream reaches, and returns how many bytes there were.  Throws Error
  // if the stream is damaged or cut short.
  std::int64_t read(std::span<std::byte> to);

  // Whether the end of the stream has been seen, and what follows it in the source.
  bool ended() const { return ended_; }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::size_t step(std::span<std::byte> to);

  std::span<const std::byte> rest_;  // not consumed yet
  std::string name_;
  z_stream stream_{};
  bool ended_ = false;
};

// What unpacked data seldom exceed, as a multiple of the packed ones.
inline constexpr std::int64_t usual_ratio = 16;

// Up to `count` bytes from `read_into`, which fills a span and returns how many bytes there were:
// fewer than asked for only at the end.  Memory for `usual_bytes` is asked for at once, for more as
// it comes.
template <typename F>
std::vector<std::byte> read_growing(std::int64_t count, std::int64_t usual_bytes, F read_into) {
  constexpr std::int64_t chunk_bytes = 1 << 20;
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(std::min(count, usual_bytes)));
  while (count > 0) {
    const std::int64_t want = std::min(count, chunk_bytes);
    const std::size_t before = bytes.size();
    bytes.resize(before + static_cast<std::size_t>(want));
    const std::int64_t got = read_into(std::span(bytes).subspan(before));
    bytes.resize(before + static_cast<std::size_t>(got));
    if (got < want) break;
    count -= got;
  }
  return bytes;
}

}  // namespace croze
