// BMP: every kind of pixels, put together here by hand, and files that lie.
#include <utility>

#include "io/images.h"

namespace croze {
namespace {

using test::Samples;
using namespace std::string_literals;

class Bmp : public test::ImagesTest {};

std::string bytes_of(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; i++) text += static_cast<char>(value >> (8 * i));
  return text;
}
std::string u16(std::uint64_t value) { return bytes_of(value, 2); }
std::string u32(std::uint64_t value) { return bytes_of(value, 4); }

struct Parts {
  int width = 2, height = 1, bits = 24;
  std::uint32_t packing = 0;
  std::string before_pixels;  // masks or a palette
  std::string pixels;
  std::uint32_t colours = 0;
  std::uint32_t header = 40;  // bytes; what is longer holds the masks
};

std::string bmp(const Parts& p) {
  std::string header = u32(p.header);
  if (p.header == 12) {
    header += u16(static_cast<std::uint64_t>(p.width)) + u16(static_cast<std::uint64_t>(p.height)) +
              u16(1) + u16(static_cast<std::uint64_t>(p.bits));
  } else {
    header += u32(static_cast<std::uint64_t>(p.width)) + u32(static_cast<std::uint64_t>(p.height)) +
              u16(1) + u16(static_cast<std::uint64_t>(p.bits)) + u32(p.packing) + u32(0) + u32(0) +
              u32(0) + u32(p.colours) + u32(0);
  }
  header += p.before_pixels;
  if (header.size() < p.header) header.resize(p.header);
  return "BM" + u32(14 + header.size() + p.pixels.size()) + u32(0) + u32(14 + header.size()) +
         header + p.pixels;
}

TEST_F(Bmp, RowsComeFromTheBottomUnlessTheHeightIsNegative) {
  const std::string low = "\x01\x02\x03\0"s, high = "\x04\x05\x06\0"s;
  expect(bmp({.width = 1, .height = 2, .pixels = low + high}), {2, 1, 3}, {6, 5, 4, 3, 2, 1});
  expect(bmp({.width = 1, .height = -2, .pixels = low + high}), {2, 1, 3}, {3, 2, 1, 6, 5, 4});
}

TEST_F(Bmp, TheFourthByteOfAPixelIsAlphaOnlyIfAMaskSaysSo) {
  const std::string pixel = "\x01\x02\x03\x04";
  expect(bmp({.width = 1, .bits = 32, .pixels = pixel}), {1, 1, 3}, {3, 2, 1});
  const std::string colours = u32(0xff) + u32(0xff00) + u32(0xff0000), alpha = u32(0xff000000);
  expect(bmp({.width = 1, .bits = 32, .packing = 3, .before_pixels = colours, .pixels = pixel}),
         {1, 1, 3}, {1, 2, 3});
  const Parts with_alpha{
      .width = 1, .bits = 32, .packing = 6, .before_pixels = colours + alpha, .pixels = pixel};
  expect(bmp(with_alpha), {1, 1, 4}, {1, 2, 3, 4});
  for (const std::uint32_t header : {56U, 108U, 124U}) {
    Parts longer = with_alpha;
    longer.packing = 3;
    longer.header = header;
    expect(bmp(longer), {1, 1, 4}, {1, 2, 3, 4});
  }
}

TEST_F(Bmp, SamplesUnderMasksAreScaledTo8Bits) {
  const std::string white_and_1 = u16(0x7fff) + u16(0x0421);
  expect(bmp({.bits = 16, .pixels = white_and_1}), {1, 2, 3}, {255, 255, 255, 8, 8, 8});
  const std::string masks = u32(0xf800) + u32(0x07e0) + u32(0x001f);
  expect(
      bmp({.bits = 16, .packing = 3, .before_pixels = masks, .pixels = u16(0xffff) + u16(0x0421)}),
      {1, 2, 3}, {255, 255, 255, 0, 134, 8});
  const std::string wide = u32(0x3ff00000) + u32(0xffc00) + u32(0);
  expect(bmp({.width = 1,
              .bits = 32,
              .packing = 3,
              .before_pixels = wide,
              .pixels = u32((1023U << 20) | (512U << 10) | 77)}),
         {1, 1, 3}, {255, 128, 0});
}

TEST_F(Bmp, PalettesAreLookedUp) {
  const std::string palette = "\x01\x02\x03\0\x04\x05\x06\0"s;
  expect(bmp({.width = 9, .bits = 1, .before_pixels = palette, .pixels = "\x81\x80\0\0"s}),
         {1, 9, 3},
         {6, 5, 4, 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1, 6, 5, 4, 6, 5, 4});
  expect(bmp({.width = 3,
              .bits = 4,
              .before_pixels = palette,
              .pixels = "\x01\x10\0\0"s,
              .colours = 2}),
         {1, 3, 3}, {3, 2, 1, 6, 5, 4, 6, 5, 4});
  // The header of OS/2, whose palettes have three bytes a colour.
  expect(bmp({.bits = 1,
              .before_pixels = "\x01\x02\x03\x04\x05\x06",
              .pixels = "\x40\0\0\0"s,
              .header = 12}),
         {1, 2, 3}, {3, 2, 1, 6, 5, 4});
}

// Grey pixels, so that places in the palette are what is seen.
Parts runs(int width, int height, int bits, const std::string& packed) {
  std::string palette;
  for (int i = 0; i < (1 << bits); i++) palette += std::string(3, static_cast<char>(i)) + '\0';
  return {.width = width,
          .height = height,
          .bits = bits,
          .packing = bits == 8 ? 1U : 2U,
          .before_pixels = palette,
          .pixels = packed};
}

Samples thrice(const Samples& grey) {
  Samples colours;
  for (const int sample : grey) colours.insert(colours.end(), 3, sample);
  return colours;
}

TEST_F(Bmp, RunsAreUnpacked) {
  // Three 7s; the next row: 1 2 3 as they are; the end.
  expect(bmp(runs(3, 2, 8, "\x03\x07\0\0\0\x03\x01\x02\x03\0\0\x01"s)), {2, 3, 3},
         thrice({1, 2, 3, 7, 7, 7}));
  // Two pixels on and one row up, where a 9 stands; what was passed over is 0.
  expect(bmp(runs(3, 2, 8, "\0\x02\x02\x01\x01\x09\0\x01"s)), {2, 3, 3},
         thrice({0, 0, 9, 0, 0, 0}));
  // Runs of 4 bits repeat two pixels.
  expect(bmp(runs(5, 1, 4, "\x05\x12\0\x01"s)), {1, 5, 3}, thrice({1, 2, 1, 2, 1}));
  expect(bmp(runs(5, 1, 4, "\0\x05\x12\x34\x50\0\0\x01"s)), {1, 5, 3}, thrice({1, 2, 3, 4, 5}));
}

TEST_F(Bmp, RunsThatLeaveThePictureAreRefused) {
  for (const std::string& packed : {"\x04\x07\0\x01"s, "\0\x04\x01\x02\x03\x04\0\x01"s,
                                    "\0\x02\x03\0\x01\x07\0\x01"s, "\0\0\0\0\x01\x07\0\x01"s}) {
    EXPECT_HAS(refusal(bmp(runs(3, 2, 8, packed))), "leaves the picture of 3 x 2 pixels");
  }
  EXPECT_HAS(refusal(bmp(runs(3, 2, 8, "\x03\x07"))), "bad");     // no end
  EXPECT_HAS(refusal(bmp(runs(3, 2, 8, "\0\x09\x01"s))), "bad");  // 9 bytes as they are
  EXPECT_HAS(refusal(bmp(runs(3, -2, 8, "\0\x01"s))), "lowest row");
  EXPECT_HAS(refusal(bmp(runs(9'000, 9'000, 8, "\0\x01"s))), "81000000 samples");
}

TEST_F(Bmp, WhatLiesIsRefused) {
  const Parts good{.pixels = "\1\2\3\4\5\6\0\0"s};
  const std::string whole = bmp(good);
  for (std::size_t size = 2; size < whole.size(); size++) refusal(whole.substr(0, size));
  const auto changed = [&](auto change) {
    Parts parts = good;
    change(parts);
    return refusal(bmp(parts));
  };
  EXPECT_HAS(changed([](Parts& p) { p.bits = 7; }), "7 bits a pixel");
  EXPECT_HAS(changed([](Parts& p) { p.packing = 4; }), "compression 4");
  EXPECT_HAS(changed([](Parts& p) { p.packing = 1; }), "24 bits a pixel and compression 1");
  EXPECT_HAS(changed([](Parts& p) { p.width = 0; }), "0 x 1 pixels");
  EXPECT_HAS(changed([](Parts& p) { p.width = -1; }), "pixels");
  EXPECT_HAS(changed([](Parts& p) { p.height = INT32_MIN; }), "2 x 2147483648 pixels");
  EXPECT_HAS(changed([](Parts& p) { p.height = 10'000; }), "80000 bytes of pixels were expected");
  EXPECT_HAS(changed([](Parts& p) { p.header = 41; }), "no header of BMP has 41 bytes");
  EXPECT_HAS(changed([](Parts& p) {
               p.bits = 1;
               p.colours = 3;
             }),
             "a palette of 3 colours for pixels of 1 bits");
  EXPECT_HAS(changed([](Parts& p) {
               p.bits = 8;
               p.colours = 1;
               p.before_pixels = u32(0);
             }),
             "a pixel of colour 1, where the palette has 1");
  EXPECT_HAS(changed([](Parts& p) {
               p.bits = 16;
               p.packing = 3;
               p.before_pixels = u32(5) + u32(0) + u32(0);
             }),
             "do not stand together");
}

}  // namespace
}  // namespace croze
