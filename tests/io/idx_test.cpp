// IDX arrays: every element type, and every way in which a header can lie.
#include "croze/io/idx.h"

#include <sys/resource.h>

#include <cstring>
#include <vector>

#include "support/files.h"

namespace croze {
namespace {

using test::error_of;
using namespace std::string_literals;

std::string big_endian(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

std::string header(char type, std::vector<std::uint32_t> sizes) {
  std::string text = "\0\0"s + type + static_cast<char>(sizes.size());
  for (std::uint32_t size : sizes) text += big_endian(size);
  return text;
}

using Idx = test::FilesTest;

TEST_F(Idx, ReadsBytesWithTheirShape) {
  const IdxArray array = read_idx(file("a", header(0x08, {2, 3}) + "abcdef"));
  EXPECT_EQ(array.dtype, DType::UInt8);
  EXPECT_EQ(array.shape, Shape({2, 3}));
  EXPECT_EQ(std::memcmp(array.bytes.data(), "abcdef", 6), 0);
}

TEST_F(Idx, TurnsBigEndianNumbersAround) {
  const IdxArray ints =
      read_idx(file("i", header(0x0c, {2}) + big_endian(1) + big_endian(0xfffffffe)));
  ASSERT_EQ(ints.dtype, DType::Int32);
  std::int32_t values[2];
  std::memcpy(values, ints.bytes.data(), 8);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], -2);

  const IdxArray floats = read_idx(file("f", header(0x0d, {1}) + big_endian(0x3fc00000)));
  ASSERT_EQ(floats.dtype, DType::Float32);
  float value = 0;
  std::memcpy(&value, floats.bytes.data(), 4);
  EXPECT_EQ(value, 1.5f);
}

TEST_F(Idx, AcceptsAnArrayWithoutElements) {
  EXPECT_EQ(read_idx(file("a", header(0x08, {0, 3}))).bytes.size(), 0u);
}

TEST_F(Idx, RefusesWhatIsNoIdxFile) {
  EXPECT_NE(error_of([&] { read_idx(file("a", "")); }).find("not an IDX file"), std::string::npos);
  EXPECT_NE(error_of([&] { read_idx(file("a", "\x89PNG")); }).find("not an IDX file"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read_idx(file("a", "\0\0\x0a\1"s)); }).find("no type code"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read_idx(file("a", "\0\0\x08\0"s)); }).find("axes"), std::string::npos);
  EXPECT_NE(error_of([&] { read_idx(file("a", "\0\0\x08\xff"s)); }).find("axes"),
            std::string::npos);
}

TEST_F(Idx, RefusesDataThatDoNotFitTheHeader) {
  EXPECT_NE(error_of([&] {
              read_idx(file("a", header(0x08, {2, 3}) + "abcde"));
            }).find("too short"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              read_idx(file("a", header(0x08, {2, 3}) + "abcdefg"));
            }).find("longer"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read_idx(file("a", "\0\0\x08\x03\0\0"s)); }).find("too short"),
            std::string::npos);
}

TEST_F(Idx, RefusesSizesWhoseProductOverflows) {
  const std::string huge = header(0x0e, {0xffffffff, 0xffffffff, 0xffffffff});
  EXPECT_NE(error_of([&] { read_idx(file("a", huge)); }).find("more than the limit"),
            std::string::npos);
}

TEST_F(Idx, DoesNotReserveWhatAShortFilePromises) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const std::string lie = header(0x08, {0xffffffff}) + "few";
  EXPECT_NE(error_of([&] { read_idx(file("a", lie), INT64_MAX); }).find("too short"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read_idx(file("a", lie)); }), "");
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 << 10);  // KiB
}

}  // namespace
}  // namespace croze
