// Untrusted bytes.
#include "croze/base/bytes.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <vector>

#include "croze/base/error.h"

namespace croze {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

TEST(ByteReader, ReadsBothByteOrders) {
  auto data = bytes_of({1, 2, 0, 0, 0x12, 0x34, 0, 0, 0x80, 0x3f, 'a', 'b'});
  ByteReader reader(data, "data");
  EXPECT_EQ(reader.read<uint32_t>(), 0x201u);
  EXPECT_EQ(reader.read_big_endian<uint16_t>(), 0x1234);
  EXPECT_EQ(reader.read<float>(), 1.0f);
  EXPECT_EQ(reader.text(2), "ab");
  EXPECT_TRUE(reader.at_end());
  reader.seek(3);
  EXPECT_EQ(reader.remaining(), 9);
}

TEST(ByteReader, NeverReadsBeyondTheEnd) {
  auto data = bytes_of({1, 2, 3});
  ByteReader reader(data, "short.bin");
  constexpr int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_THROW(reader.read<uint32_t>(), Error);
  EXPECT_THROW(reader.bytes(-1), Error);
  EXPECT_THROW(reader.bytes(huge), Error);
  EXPECT_THROW(reader.elements(huge / 2, 4), Error);
  EXPECT_THROW(reader.elements(-1, -1), Error);
  EXPECT_THROW(reader.seek(4), Error);
  EXPECT_THROW(reader.seek(-1), Error);
  EXPECT_EQ(reader.offset(), 0);
  try {
    reader.skip(2);
    reader.skip(2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("short.bin"), std::string::npos);
    EXPECT_NE(error.message().find("offset 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace croze
