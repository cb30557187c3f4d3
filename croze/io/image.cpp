// image.cpp -- which format a picture has, and PPM.
#include "croze/io/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

#include "croze/base/error.h"
#include "croze/base/file.h"
#include "croze/io/image_codec.h"

namespace croze {
namespace {

// A format and how its files begin.
struct Format {
  std::string_view begin;
  Picture (*read)(std::span<const std::byte> file, const std::string& path);
};

using namespace std::string_view_literals;
constexpr Format formats[] = {
    {"\x89PNG\r\n\x1a\n", read_png},
    {"\xff\xd8\xff", read_jpeg},
    {"P5", read_ppm},
    {"P6", read_ppm},
    {"BM", read_bmp},
    {"II*\0"sv, read_tiff},  // of little-endian numbers, and of big-endian ones
    {"MM\0*"sv, read_tiff},
    {"II+\0"sv, read_tiff},  // with offsets of 64 bits
    {"MM\0+"sv, read_tiff},
    {"\0\0\0\x0cjP  \r\n\x87\n"sv, read_jpeg2000},
    {"\xff\x4f\xff\x51", read_jpeg2000},
};

Picture read_picture(std::span<const std::byte> file, const std::string& path) {
  const std::string_view text = as_text(file);
  for (const Format& format : formats) {
    if (text.starts_with(format.begin)) return format.read(file, path);
  }
  if (text.starts_with("RIFF") &&
      text.substr(std::min<std::size_t>(8, text.size())).starts_with("WEBP")) {
    return read_webp(file, path);
  }
  fail({}, "{} is not a picture in PNG, JPEG, TIFF, WebP, JPEG 2000, BMP or PPM", path);
}

Picture picture_from(const Tensor& image, const std::string& path) {
  const bool has_channels = image.ndim() == 3;
  check(image.dtype() == DType::UInt8 && (has_channels || image.ndim() == 2),
        "saving {}: {} of shape {}, where uint8 of shape (height, width, channels) is needed", path,
        name_of(image.dtype()), to_text(image.shape()));
  Picture picture{.height = image.shape()[0],
                  .width = image.shape()[1],
                  .channels = has_channels ? image.shape()[2] : 1,
                  .samples = {}};
  check_size(picture.height, picture.width, path);
  check(picture.channels >= 1 && picture.channels <= 4, "saving {}: {} channels, not 1 to 4", path,
        picture.channels);
  const std::vector<std::byte> bytes = image.to_bytes();
  picture.samples.resize(bytes.size());
  std::memcpy(picture.samples.data(), bytes.data(), bytes.size());
  return picture;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// ---- PPM: "P6", width, height, the largest sample, one white space, the samples ----------------

class PpmHeader {
 public:
  PpmHeader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  std::int64_t number() {
    skip_space();
    std::int64_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); at_++) {
      value = value * 10 + (text_[at_] - '0');
      check(value <= INT32_MAX, "{}: a number of its header is too large", path_);
    }
    check(at_ > begin, "{}: its header has too few numbers", path_);
    return value;
  }

  std::string_view samples() {
    check(at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])),
          "{}: its header has no end", path_);
    return text_.substr(at_ + 1);
  }

 private:
  void skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        at_++;
      } else {
        break;
      }
    }
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 2;  // behind "P6"
};

}  // namespace

void check_size(std::int64_t height, std::int64_t width, const std::string& path) {
  constexpr std::int64_t max_pixels = std::int64_t{1} << 27;
  check(height > 0 && width > 0 && height <= max_pixels / width,
        "{}: a picture of {} x {} pixels, where 1 to {} are read and written", path, width, height,
        max_pixels);
}

std::int64_t most_unpacked(std::size_t file_bytes) {
  constexpr std::int64_t always = std::int64_t{1} << 24;
  constexpr std::size_t ratio_of_deflate = 1032;
  return std::max(always, static_cast<std::int64_t>(file_bytes * ratio_of_deflate));
}

void check_unpacked(std::int64_t samples, std::size_t file_bytes, const std::string& path) {
  check(samples <= most_unpacked(file_bytes), "{}: {} bytes, of which {} samples are to be made",
        path, file_bytes, samples);
}

Picture read_ppm(std::span<const std::byte> file, const std::string& path) {
  PpmHeader header(as_text(file), path);
  Picture picture;
  picture.channels = as_text(file)[1] == '6' ? 3 : 1;
  picture.width = header.number();
  picture.height = header.number();
  check_size(picture.height, picture.width, path);
  const std::int64_t largest = header.number();
  check(largest >= 1 && largest <= 255, "{}: samples up to {}, where 255 is the most that is read",
        path, largest);
  const std::string_view samples = header.samples();
  const std::size_t bytes = static_cast<std::size_t>(picture.height) * picture.row_bytes();
  check(samples.size() >= bytes, "{} is too short: {} bytes of samples were expected, {} are there",
        path, bytes, samples.size());
  for (const char c : samples.substr(0, bytes)) {
    const auto sample = std::min<std::int64_t>(static_cast<unsigned char>(c), largest);
    picture.samples.push_back(static_cast<std::uint8_t>((sample * 255 + largest / 2) / largest));
  }
  return picture;
}

std::vector<std::byte> write_ppm(const Picture& picture, const std::string& path) {
  check(picture.channels == 1 || picture.channels == 3,
        "saving {}: {} channels, where PPM has 1 or 3", path, picture.channels);
  const std::string header = fmt::format("P{}\n{} {}\n255\n", picture.channels == 3 ? 6 : 5,
                                         picture.width, picture.height);
  std::vector<std::byte> file(header.size() + picture.samples.size());
  std::memcpy(file.data(), header.data(), header.size());
  std::memcpy(file.data() + header.size(), picture.samples.data(), picture.samples.size());
  return file;
}

Tensor load_image(const std::string& path, const TensorOptions& options) {
  const MappedFile file(path);
  return decode_image(file.data(), path, options);
}

Tensor decode_image(std::span<const std::byte> file, const std::string& name,
                    const TensorOptions& options) {
  const Picture picture = read_picture(file, name);
  const Tensor image = Tensor::from_bytes(std::as_bytes(std::span(picture.samples)), DType::UInt8,
                                          {picture.height, picture.width, picture.channels},
                                          {.dtype = std::nullopt, .device = options.device});
  return options.dtype ? image.cast(*options.dtype) : image;
}

void save_image(const std::string& path, const Tensor& image, const ImageOptions& options) {
  check(options.jpeg_quality >= 1 && options.jpeg_quality <= 100,
        "saving {}: a quality of {}, not 1 to 100", path, options.jpeg_quality);
  const std::string name = lower(path);
  const bool is_png = name.ends_with(".png");
  const bool is_jpeg = name.ends_with(".jpg") || name.ends_with(".jpeg");
  const bool is_ppm = name.ends_with(".ppm") || name.ends_with(".pgm");
  check(is_png || is_jpeg || is_ppm, "saving {}: no format is known by the end of this name", path);
  const Picture picture = picture_from(image, path);
  write_file(path, is_png    ? write_png(picture, path)
                   : is_jpeg ? write_jpeg(picture, options.jpeg_quality, path)
                             : write_ppm(picture, path));
}

}  // namespace croze
