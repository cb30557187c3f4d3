// Drawing grey images as half blocks.
#include "tools/croze/picture.h"

#include <gtest/gtest.h>

namespace croze::tool {
namespace {

TEST(Picture, TwoPixelsMakeACharacter) {
  const std::uint8_t pixels[] = {0, 255, 0,   255,  //
                                 0, 0,   255, 255};
  const Picture picture{pixels, 2, 4, "four"};
  EXPECT_EQ(draw(std::span(&picture, 1), 1, false), " ▀▄█  \nfour  \n");
}

TEST(Picture, AnOddLastLineIsHalfDark) {
  const std::uint8_t pixels[] = {255, 255, 255};
  const Picture picture{pixels, 3, 1, ""};
  EXPECT_EQ(draw(std::span(&picture, 1), 1, false), "█  \n▀  \n   \n");
}

TEST(Picture, ColoursComeFromTheGreyRampAndAreReset) {
  const std::uint8_t pixels[] = {0, 255};
  const Picture picture{pixels, 2, 1, "x"};
  EXPECT_EQ(draw(std::span(&picture, 1), 1, true), "\033[38;5;232;48;5;255m▀\033[0m  \nx  \n");
}

TEST(Picture, RowsHoldAsManyAsTold) {
  const std::uint8_t pixels[] = {0, 0};
  const std::vector<Picture> three(3, Picture{pixels, 2, 1, "a"});
  EXPECT_EQ(draw(three, 2, false), "      \na  a  \n   \na  \n");
  EXPECT_EQ(draw({}, 2, false), "");
}

}  // namespace
}  // namespace croze::tool
