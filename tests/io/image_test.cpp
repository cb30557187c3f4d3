// Pictures: known files, round trips, and files that lie.  PNG files are put together here by hand.
#include "croze/io/image.h"

#include <sys/resource.h>
#include <zlib.h>

#include <cstdlib>
#include <numeric>
#include <vector>

#include "io/images.h"

namespace croze {
namespace {

using test::error_of;
using test::Samples;
using namespace std::string_literals;

class Images : public test::ImagesTest {
 protected:
  // 7 rows of 5 pixels.
  static Tensor pattern(int channels) {
    std::vector<std::uint8_t> samples(static_cast<std::size_t>(35 * channels));
    for (std::size_t i = 0; i < samples.size(); i++) samples[i] = static_cast<std::uint8_t>(i * 37);
    return Tensor::from_data(samples, {7, 5, channels});
  }
};

// ---- PPM --------------------------------------------------------------------------------------

TEST_F(Images, APpmIsRead) {
  expect("P6\n# by hand\n2 1\n255\n\x01\x02\x03\xff\xfe\x00"s, {1, 2, 3}, {1, 2, 3, 255, 254, 0});
  expect("P5 1\t2 255 \x07\x08", {2, 1, 1}, {7, 8});
  expect("P5 3 1 15\n\x00\x05\x0f"s, {1, 3, 1}, {0, 85, 255});
}

TEST_F(Images, APpmThatLiesIsRefused) {
  EXPECT_HAS(refusal("P6"), "too few numbers");
  EXPECT_HAS(refusal("P6 2 2 255"), "no end");
  EXPECT_HAS(refusal("P6 2 2 255 abc"), "12 bytes of samples were expected, 3 are there");
  EXPECT_HAS(refusal("P6 0 2 255 "), "0 x 2 pixels");
  EXPECT_HAS(refusal("P6 2 2 65535 "), "255 is the most");
  EXPECT_HAS(refusal("P6 99999999999999999999 1 255 "), "too large");
  EXPECT_HAS(refusal("P6 2147483647 2147483647 255 "), "pixels");
  EXPECT_HAS(refusal("P6 -1 1 255 "), "too few numbers");
}

TEST_F(Images, APpmComesBackAsItWasSaved) {
  for (const int channels : {1, 3}) {
    save_image(path("a.ppm"), pattern(channels));
    EXPECT_EQ(load_image(path("a.ppm")).to_bytes(), pattern(channels).to_bytes());
  }
  EXPECT_HAS(error_of([&] { save_image(path("b.ppm"), pattern(4)); }), "4 channels");
}

// ---- what can be saved ------------------------------------------------------------------------

TEST_F(Images, AMatrixIsSavedAsGrey) {
  save_image(path("a.ppm"), pattern(1).reshape({7, 5}));
  EXPECT_EQ(load_image(path("a.ppm")).shape(), (Shape{7, 5, 1}));
}

TEST_F(Images, OnlyPicturesAreSaved) {
  EXPECT_HAS(error_of([&] { save_image(path("a.png"), Tensor::zeros({2, 2, 3})); }), "float32");
  EXPECT_HAS(error_of([&] { save_image(path("a.png"), pattern(1).reshape({35})); }), "(35,)");
  EXPECT_HAS(error_of([&] { save_image(path("a.png"), pattern(5)); }), "5 channels");
  EXPECT_HAS(error_of([&] { save_image(path("a.gif"), pattern(3)); }), "no format");
  EXPECT_HAS(error_of([&] { save_image(path("a.jpg"), pattern(3), {.jpeg_quality = 0}); }),
             "quality");
  EXPECT_EQ(file_count(), 0);
}

TEST_F(Images, WhatIsNoPictureIsRefused) {
  EXPECT_HAS(refusal(""), "not a picture");
  EXPECT_HAS(refusal("GIF89a"), "not a picture");
  EXPECT_HAS(error_of([&] { load_image(path("missing")); }), "missing");
}

TEST_F(Images, ADtypeMayBeAskedFor) {
  const Tensor image = load_image(file("a", "P5 2 1 255\n\x01\xff"), {.dtype = DType::Float32});
  EXPECT_EQ(image.dtype(), DType::Float32);
  EXPECT_EQ(image.to_vector<float>(), (std::vector<float>{1, 255}));
}

#if CROZE_HAVE_PNG

// ---- PNG --------------------------------------------------------------------------------------

std::string big_endian(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

std::string chunk(const std::string& kind, const std::string& data) {
  const std::string content = kind + data;
  const auto* bytes = reinterpret_cast<const Bytef*>(content.data());
  const auto sum = static_cast<std::uint32_t>(crc32_z(0, bytes, content.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + content + big_endian(sum);
}

constexpr char Grey = 0, Rgb = 2, Palette = 3, GreyAlpha = 4, Rgba = 6;

// A PNG of these rows, each without the byte before it that says that it is not filtered.
std::string png(std::uint32_t width, std::uint32_t height, char bits, char colour,
                const std::vector<std::string>& rows, const std::string& chunks = "") {
  std::string raw;
  for (const std::string& row : rows) raw += '\0' + row;
  std::string packed(compressBound(raw.size()), '\0');
  uLongf bytes = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &bytes,
           reinterpret_cast<const Bytef*>(raw.data()), raw.size());
  packed.resize(bytes);
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", big_endian(width) + big_endian(height) + bits + colour + "\0\0\0"s) +
         chunks + chunk("IDAT", packed) + chunk("IEND", "");
}

TEST_F(Images, APngOfBytesIsRead) {
  expect(png(2, 1, 8, Rgb, {"\x01\x02\x03\xff\xfe\x00"s}), {1, 2, 3}, {1, 2, 3, 255, 254, 0});
  expect(png(1, 2, 8, Grey, {"\x07", "\x08"}), {2, 1, 1}, {7, 8});
  expect(png(1, 1, 8, GreyAlpha, {"\x07\x80"}), {1, 1, 2}, {7, 128});
  expect(png(1, 1, 8, Rgba, {"\x01\x02\x03\x04"}), {1, 1, 4}, {1, 2, 3, 4});
}

TEST_F(Images, APngOfOtherSamplesBecomesBytes) {
  expect(png(9, 1, 1, Grey, {"\xaa\x80"}), {1, 9, 1}, {255, 0, 255, 0, 255, 0, 255, 0, 255});
  expect(png(2, 1, 16, Grey, {"\xff\xff\x80\x80"}), {1, 2, 1}, {255, 128});
  const std::string palette = chunk("PLTE", "\x0a\x0b\x0c\x14\x15\x16");
  expect(png(2, 1, 8, Palette, {"\x01\x00"s}, palette), {1, 2, 3}, {20, 21, 22, 10, 11, 12});
  expect(png(2, 1, 8, Palette, {"\x01\x00"s}, palette + chunk("tRNS", "\x80")), {1, 2, 4},
         {20, 21, 22, 255, 10, 11, 12, 128});
}

// Gamma says how a picture is to be shown; the samples are those of the file.
TEST_F(Images, GammaIsNotApplied) {
  expect(png(1, 1, 8, Grey, {"\x40"}, chunk("gAMA", big_endian(100000))), {1, 1, 1}, {64});
}

TEST_F(Images, APngComesBackAsItWasSaved) {
  for (int channels = 1; channels <= 4; channels++) {
    save_image(path("a.PNG"), pattern(channels));
    const Tensor back = load_image(path("a.PNG"));
    EXPECT_EQ(back.shape(), (Shape{7, 5, channels}));
    EXPECT_EQ(back.to_bytes(), pattern(channels).to_bytes());
  }
}

TEST_F(Images, APngThatIsCutShortOrDamagedIsRefused) {
  const std::string whole = png(2, 1, 8, Rgb, {"\x01\x02\x03\xff\xfe\x00"s});
  for (std::size_t size = 8; size < whole.size(); size++) {
    EXPECT_HAS(refusal(whole.substr(0, size)), "not a whole PNG");
  }
  std::string damaged = whole;
  damaged[45] = static_cast<char>(damaged[45] ^ 1);
  EXPECT_HAS(refusal(damaged), "not a whole PNG");
  EXPECT_HAS(refusal(png(2, 2, 8, Rgb, {"\x01\x02\x03\xff\xfe\x00"s})), "not a whole PNG");
}

TEST_F(Images, APngMayNotPromiseMoreThanItsBytesCanHold) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_HAS(refusal(png(60'000, 60'000, 8, Rgb, {"few"})), "60000 x 60000 pixels");
  EXPECT_HAS(refusal(png(11'000, 11'000, 8, Rgba, {"few"})), "cannot unpack");
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 << 10);  // KiB
}

#endif

#if CROZE_HAVE_JPEG

// ---- JPEG -------------------------------------------------------------------------------------

// 16 rows of 24 pixels, the left half of one colour and the right half of another.
Tensor halves(std::initializer_list<int> left, std::initializer_list<int> right) {
  std::vector<std::uint8_t> samples;
  for (int i = 0; i < 16 * 24; i++) {
    for (const int sample : i % 24 < 12 ? left : right) {
      samples.push_back(static_cast<std::uint8_t>(sample));
    }
  }
  return Tensor::from_data(samples, {16, 24, static_cast<std::int64_t>(left.size())});
}

TEST_F(Images, AJpegComesBackNearlyAsItWasSaved) {
  for (const Tensor& image : {halves({200}, {10}), halves({250, 20, 30}, {10, 40, 240})}) {
    save_image(path("a.jpeg"), image, {.jpeg_quality = 100});
    const Tensor back = load_image(path("a.jpeg"));
    ASSERT_EQ(back.shape(), image.shape());
    const Samples saved = image.to_vector<int>(), loaded = back.to_vector<int>();
    const auto channels = static_cast<std::size_t>(image.shape()[2]);
    for (std::size_t i = 0; i < saved.size(); i++) {
      const std::size_t column = i / channels % 24;
      if (column >= 8 && column < 16) continue;  // colours stand for 2 pixels, so the edge blurs
      EXPECT_LE(std::abs(saved[i] - loaded[i]), 4) << i;
    }
  }
  EXPECT_HAS(error_of([&] { save_image(path("b.jpg"), pattern(4)); }), "4 channels");
}

TEST_F(Images, AJpegThatIsCutShortIsRefused) {
  save_image(path("a.jpg"), pattern(3));
  const std::string whole = content(path("a.jpg"));
  for (std::size_t size = 3; size < whole.size(); size += 5) {
    EXPECT_HAS(refusal(whole.substr(0, size)), "not a whole JPEG");
  }
}

// The height and width stand in the frame header, 5 bytes behind its mark.
std::string with_size(std::string jpeg, std::string_view mark, const std::string& size) {
  jpeg.replace(jpeg.find(mark) + 5, 4, size);
  return jpeg;
}

TEST_F(Images, AJpegMayNotPromiseMoreThanItHas) {
  save_image(path("a.jpg"), pattern(3));
  const std::string whole = content(path("a.jpg"));
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_HAS(refusal(with_size(whole, "\xff\xc0", "\xea\x60\xea\x60")), "60000 x 60000 pixels");
  EXPECT_HAS(refusal(with_size(whole, "\xff\xc0", "\x2a\x00\x2a\x00"s)), "cannot hold 10752");
  EXPECT_HAS(refusal(with_size(whole, "\xff\xc0", "\x00\xff\x00\xff"s)), "not a whole JPEG");
  EXPECT_HAS(refusal(with_size(whole, "\xff\xc0", "\x00\x00\x00\x05"s)), "bad");
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 << 10);  // KiB
}

#endif

}  // namespace
}  // namespace croze
