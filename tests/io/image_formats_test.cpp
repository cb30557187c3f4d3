// Pictures that libraries read: TIFF, WebP and JPEG 2000.  The files are the seeds of the fuzzer,
// whose samples are what Pillow says of them; then files that lie.
#include <fmt/format.h>
#include <sys/resource.h>

#include "io/images.h"

namespace croze {
namespace {

using test::Samples;
using namespace std::string_literals;

class ImageFormats : public test::ImagesTest {
 protected:
  static std::string seed(const std::string& name) { return CORPUS "/image/" + name; }

  static void expect_seed(const std::string& name, const Shape& shape, const Samples& samples) {
    SCOPED_TRACE(name);
    expect_image(load_image(seed(name)), shape, samples);
  }
  // Sample i is 37 i, modulo 256.
  static void expect_pattern(const std::string& name, std::int64_t channels) {
    Samples samples;
    for (int i = 0; i < 20 * channels; i++) samples.push_back(37 * i % 256);
    expect_seed(name, {4, 5, channels}, samples);
  }
  // What of a seed is left if it is cut short, at each length from `least` on.
  static void expect_cuts_refused(const std::string& name, std::size_t least) {
    const std::string whole = content(seed(name));
    for (std::size_t size = least; size < whole.size(); size++) {
      SCOPED_TRACE(fmt::format("{} of {}", size, name));
      refusal(whole.substr(0, size));
    }
  }
  // A seed with other bytes at `at`.
  static std::string refusal_of(const std::string& name, std::size_t at, const std::string& bytes) {
    return refusal(content(seed(name)).replace(at, bytes.size(), bytes));
  }
};

#if CROZE_HAVE_TIFF

TEST_F(ImageFormats, ATiffIsRead) {
  Samples steps;
  for (int i = 0; i < 12; i++) steps.push_back(i);
  expect_seed("colours.tif", {2, 2, 3}, steps);
  expect_seed("packed.tif", {2, 2, 3}, steps);
  expect_seed("bits.tif", {1, 9, 1}, {0, 255, 0, 255, 0, 255, 0, 255, 0});  // where 0 is white
  expect_seed("deep.tif", {1, 2, 1}, {128, 255});
  expect_seed("palette.tif", {1, 3, 3}, {0, 16, 32, 1, 17, 33, 2, 18, 34});
  Samples rows;
  for (int y = 0; y < 9; y++) {
    for (int x = 0; x < 20; x++) rows.push_back((32 * y + x) % 256);
  }
  expect_seed("tiles.tif", {9, 20, 1}, rows);
}

constexpr std::size_t kind_of_alpha = 0x72;  // in alpha.tif

TEST_F(ImageFormats, AlphaOfATiffLeavesColoursAsTheyAre) {
  expect_seed("alpha.tif", {1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  // 1: the colours were multiplied by alpha.  255 * 2 / 3 = 170; none is more than 255.
  expect(content(seed("alpha.tif")).replace(kind_of_alpha, 1, "\1"), {1, 2, 4},
         {0, 85, 170, 3, 146, 182, 219, 7});
}

TEST_F(ImageFormats, ATiffThatLiesIsRefused) {
  for (const char* name : {"colours.tif", "packed.tif", "alpha.tif", "bits.tif", "deep.tif",
                           "palette.tif", "tiles.tif"}) {
    expect_cuts_refused(name, 4);
  }
  constexpr std::size_t width = 0x12, height = 0x1e;  // in colours.tif
  EXPECT_HAS(refusal_of("colours.tif", height, "\xff\xff"), "not a whole TIFF");
  EXPECT_HAS(refusal_of("colours.tif", width, "\0\0"s), "zero scanline");
  EXPECT_HAS(refusal_of("alpha.tif", kind_of_alpha + 8, "\xff\xff\xff\xff"), "bad");
  const std::string huge = content(seed("colours.tif")).replace(height, 2, "\x00\x60"s);
  EXPECT_HAS(refusal(std::string(huge).replace(width, 2, "\x00\x20"s)), "8192 x 24576 pixels");
  EXPECT_HAS(refusal(std::string(huge).replace(width, 2, "\x00\x02"s)), "37748736 samples");
}

#endif
#if CROZE_HAVE_WEBP

TEST_F(ImageFormats, AWebpIsRead) {
  expect_pattern("colours.webp", 3);
  expect_pattern("alpha.webp", 4);
  const Tensor lossy = load_image(seed("lossy.webp"));
  EXPECT_EQ(lossy.shape(), (Shape{7, 9, 3}));
  EXPECT_EQ((lossy[0][0].to_vector<int>()), (Samples{206, 100, 51}));
  EXPECT_EQ((load_image(seed("lossy_alpha.webp"))[0][0].to_vector<int>()),
            (Samples{206, 100, 51, 30}));
}

TEST_F(ImageFormats, AWebpThatLiesIsRefused) {
  expect_cuts_refused("colours.webp", 12);
  expect_cuts_refused("lossy.webp", 12);
  EXPECT_HAS(refusal(content(seed("moves.webp"))), "moves");
  // The width less 1 in 14 bits, then the height.
  EXPECT_HAS(refusal_of("colours.webp", 21, "\xff\xff\xff"), "50331648 samples");
}

#endif
#if CROZE_HAVE_JPEG2000

TEST_F(ImageFormats, AJpeg2000IsRead) {
  expect_pattern("grey.jp2", 1);
  expect_pattern("grey_alpha.jp2", 2);
  expect_pattern("colours.jp2", 3);
  expect_pattern("alpha.jp2", 4);
  expect_pattern("colours.j2k", 3);
  expect_seed("deep.jp2", {2, 3, 1}, {0, 255, 128, 1, 0, 2});
  const Samples tiles = load_image(seed("tiles.j2k")).to_vector<int>();
  ASSERT_EQ(tiles.size(), 240U);
  for (int i = 0; i < 240; i++) EXPECT_NEAR(tiles[static_cast<std::size_t>(i)], i, 2);
}

TEST_F(ImageFormats, AJpeg2000ThatLiesIsRefused) {
  expect_cuts_refused("grey.jp2", 12);
  expect_cuts_refused("colours.j2k", 4);
  expect_cuts_refused("tiles.j2k", 4);
  EXPECT_HAS(refusal(content(seed("ycc.jp2"))), "colours other than");
  // Places in colours.j2k, behind its first marker of sizes.
  constexpr std::size_t right = 8, bottom = 12, tile_width = 24, components = 40, step = 43;
  EXPECT_HAS(refusal_of("colours.j2k", right, "\0\0\0\0"s), "0 x 4 pixels");
  EXPECT_HAS(refusal_of("colours.j2k", right, "\xff\xff\xff\xff"), "pixels");
  EXPECT_HAS(refusal_of("colours.j2k", right, "\0\x20\0\0"s), "419431 x 1 tiles");
  EXPECT_HAS(refusal_of("colours.j2k", bottom + 2, "\xff\xff"), "tiles");
  EXPECT_HAS(refusal_of("colours.j2k", tile_width, "\0\0\0\0"s), "tiles of 0 x 4");
  EXPECT_HAS(refusal_of("colours.j2k", tile_width, "\0\0\0\1"s), "4 tiles are missing");
  EXPECT_HAS(refusal_of("colours.j2k", components, "\x40\0"s), "16384 components");
  EXPECT_HAS(refusal_of("colours.j2k", step, "\2"), "differ in size");
  EXPECT_HAS(refusal_of("grey.jp2", 12, "\0\0\0\0"s), "a box without an end");
}

#endif

TEST_F(ImageFormats, LiesTakeLittleMemory) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const long before = usage.ru_maxrss;
  for (const char* name : {"colours.tif", "tiles.tif", "colours.webp", "colours.j2k", "grey.jp2"}) {
    const std::string whole = content(seed(name));
    for (std::size_t at = 4; at + 4 < whole.size(); at++) {
      test::error_if_any([&] { decoded(std::string(whole).replace(at, 4, "\xff\xff\xff\xff")); });
    }
  }
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss - before, 192 << 10);  // KiB
}

}  // namespace
}  // namespace croze
