// What reaches a terminal of a text from outside.
#include "croze/base/printable.h"

#include <gtest/gtest.h>

#include "croze/base/error.h"

namespace croze {
namespace {

TEST(Printable, LeavesTextsAsTheyAre) {
  for (const char* text :
       {"", "plain", "two\nlines\tand a tab", "gr\u00fc\u00df", "\u65e5\u672c", "\U0001f980"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, SpellsOutWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable(std::string_view("a\0b\r\x7f", 5)), "a\\x00b\\x0d\\x7f");
  EXPECT_EQ(printable("\u009b31m"), "\\xc2\\x9b31m");  // one character, as good as ESC [
  EXPECT_EQ(printable("\u202egnp.exe"), "\\xe2\\x80\\xaegnp.exe");  // from right to left
}

TEST(Printable, SpellsOutWhatIsNotUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\x9b"), "\\x9b");
  EXPECT_EQ(printable("\xc3("), "\\xc3(");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                    // cut short
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");                    // longer than it need be
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a pair
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");  // beyond the last
}

TEST(Printable, MessagesOfErrorsAreFitForATerminal) {
  try {
    fail({.op = "\x1b[2J"}, "no tensor \"{}\"", "\x1b]0;title\x07");
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "no tensor \"\\x1b]0;title\\x07\"");
    EXPECT_EQ(std::string(error.what()), "\\x1b[2J: " + error.message());
  }
}

}  // namespace
}  // namespace croze
