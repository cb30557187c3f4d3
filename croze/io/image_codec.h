// image_codec.h -- pictures in memory, and what reads and writes them in each format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace croze {

// Rows from the top; in a row the channels of a pixel stand together.
struct Picture {
  std::int64_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> samples;

  std::size_t row_bytes() const { return static_cast<std::size_t>(width * channels); }
  std::uint8_t* row(std::int64_t y) {
    return samples.data() + static_cast<std::size_t>(y) * row_bytes();
  }
  const std::uint8_t* row(std::int64_t y) const {
    return samples.data() + static_cast<std::size_t>(y) * row_bytes();
  }
};

// Checks what a file says of its picture before memory goes to it: throws Error if there are no
// pixels or more than 2^27.
void check_size(std::int64_t height, std::int64_t width, const std::string& path);

// The samples that `file_bytes` may unpack to: some formats can say any number of equal pixels in a
// few bytes.  2^24 always, and of a long file as many as deflate could make of it.
std::int64_t most_unpacked(std::size_t file_bytes);

// Throws Error if these are more.
void check_unpacked(std::int64_t samples, std::size_t file_bytes, const std::string& path);

// Each throws Error, naming `path`, if the bytes are not a whole picture of the format or the
// library is missing.
Picture read_png(std::span<const std::byte> file, const std::string& path);
Picture read_jpeg(std::span<const std::byte> file, const std::string& path);
Picture read_tiff(std::span<const std::byte> file, const std::string& path);
Picture read_webp(std::span<const std::byte> file, const std::string& path);
Picture read_jpeg2000(std::span<const std::byte> file, const std::string& path);
Picture read_bmp(std::span<const std::byte> file, const std::string& path);
Picture read_ppm(std::span<const std::byte> file, const std::string& path);

// The bytes of a file.
std::vector<std::byte> write_png(const Picture& picture, const std::string& path);
std::vector<std::byte> write_jpeg(const Picture& picture, int quality, const std::string& path);
std::vector<std::byte> write_ppm(const Picture& picture, const std::string& path);

}  // namespace croze
