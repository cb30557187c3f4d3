// message_pack_test.cpp -- notes of code objects, read from their bytes.
#include "targets/message_pack.h"

#include <gtest/gtest.h>

#include <string>

#include "croze/base/error.h"

namespace croze::targets {
namespace {

using namespace std::string_literals;

TEST(MessagePack, ReadsNumbersOfEachSize) {
  EXPECT_EQ(unpack_message("\x07").number, 7);
  EXPECT_EQ(unpack_message("\xff").number, -1);
  EXPECT_EQ(unpack_message("\xcc\xff").number, 255);
  EXPECT_EQ(unpack_message("\xcd\x01\x02"s).number, 258);
  EXPECT_EQ(unpack_message("\xce\x00\x01\x00\x00"s).number, 65536);
  EXPECT_EQ(unpack_message("\xd0\x80").number, -128);
  EXPECT_EQ(unpack_message("\xd1\xff\x00"s).number, -256);
  EXPECT_EQ(unpack_message("\xc3").number, 1);
}

TEST(MessagePack, ReadsTextsListsAndMembers) {
  const PackedValue v = unpack_message("\x82\xa1n\x2a\xa1l\x92\xa1x\xd9\x02yz");
  EXPECT_EQ(v["n"].number, 42);
  ASSERT_EQ(v["l"].items.size(), 2u);
  EXPECT_EQ(v["l"].items[0].text, "x");
  EXPECT_EQ(v["l"].items[1].text, "yz");
  EXPECT_TRUE(v["absent"].members.empty());
}

TEST(MessagePack, RefusesWhatEndsTooEarlyOrNestsTooDeeply) {
  EXPECT_THROW(unpack_message("\xa3xy"), Error);
  EXPECT_THROW(unpack_message("\x92\x01"), Error);
  EXPECT_THROW(unpack_message(std::string(100, '\x91')), Error);
  EXPECT_THROW(unpack_message("\xca\x00\x00\x00\x00"s), Error);
}

}  // namespace
}  // namespace croze::targets
