// UTF-8 that is none, and normal forms.
#include "croze/llm/tokenizer/unicode.h"

#include <gtest/gtest.h>

namespace croze::llm {
namespace {

const std::string mark = "\xef\xbf\xbd";  // U+FFFD

std::string marks(int count) {
  std::string text;
  for (int i = 0; i < count; i++) text += mark;
  return text;
}

// The examples of the Unicode standard, tables 3-8 to 3-11.
TEST(Utf8, EachMaximalSubpartIsReplacedOnce) {
  EXPECT_EQ(to_valid_utf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), marks(8) + "A");
  EXPECT_EQ(to_valid_utf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), marks(8) + "A");
  EXPECT_EQ(to_valid_utf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), marks(5) + "A" + marks(2) + "B");
  EXPECT_EQ(to_valid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), marks(4) + "A");
}

TEST(Utf8, APieceOfACharacterWaitsForTheRest) {
  const std::string text = "a\u00e9\u3042\U0001F600z";
  Utf8Assembler assembler;
  std::string result;
  for (const char c : text) {
    assembler.push({&c, 1}, result);
    EXPECT_TRUE(is_valid_utf8(result));
  }
  EXPECT_EQ(result, text);
  assembler.push("\xF0\x9F\x98", result);
  EXPECT_EQ(result, text);
  assembler.finish(result);
  EXPECT_EQ(result, text + mark);
}

TEST(NormalForms, AreThoseOfTheStandard) {
  EXPECT_EQ(normalized("e\u0301", NormalForm::C), "\u00e9");
  EXPECT_EQ(normalized("\u00e9", NormalForm::D), "e\u0301");
  EXPECT_EQ(normalized("\ufb01", NormalForm::C), "\ufb01");
  EXPECT_EQ(normalized("\ufb01\uff21", NormalForm::KC), "fiA");
  // Marks below come before marks above.
  EXPECT_EQ(normalized("a\u0308\u0323", NormalForm::D), "a\u0323\u0308");
  EXPECT_EQ(normalized("a\u0308\u0323", NormalForm::C), "\u1ea1\u0308");
  EXPECT_EQ(normalized("\u1100\u1161\u11a8", NormalForm::C), "\uac01");
  EXPECT_EQ(normalized("x\u00e9ya\u0308\u0323\u00f6", NormalForm::D),
            "xe\u0301ya\u0323\u0308o\u0308");
  EXPECT_EQ(normalized("\u0958", NormalForm::C), "\u0915\u093c");  // excluded from composition
  EXPECT_EQ(normalized("\ufdfa", NormalForm::KD).size(), 33u);
  // Marks join the character before them, also behind ones that stay as they are.
  EXPECT_EQ(normalized("\u00e4be\u0301\u00e9\u0323\u3042a\u030a", NormalForm::C),
            "\u00e4b\u00e9\u1eb9\u0301\u3042\u00e5");
}

// A sort by exchanging neighbours would take hours.
TEST(NormalForms, AMillionMarksOfOneCharacterAreOrderedSoon) {
  std::string text = "a", below = "a", above;
  for (int i = 0; i < 500'000; i++) {
    text += "\u0308\u0323";
    below += "\u0323";
    above += "\u0308";
  }
  EXPECT_EQ(normalized(text, NormalForm::D), below + above);
}

TEST(Properties, AreThoseOfUnicode) {
  EXPECT_TRUE(is_whitespace(0x3000));
  EXPECT_FALSE(is_whitespace(0x180E));
  EXPECT_FALSE(is_whitespace(0x200B));
  EXPECT_TRUE(is_punctuation('$'));
  EXPECT_TRUE(is_punctuation(0x3002));
  EXPECT_FALSE(is_punctuation('a'));
  EXPECT_TRUE(is_number(0x2167));
  EXPECT_TRUE(is_nonspacing_mark(0x301));
  EXPECT_TRUE(is_mark(0x903));
  EXPECT_FALSE(is_nonspacing_mark(0x903));
  EXPECT_TRUE(is_other(0xAD));
  std::string text;
  append_lowered(text, 0x130);
  append_lowered(text, 0xC9);
  EXPECT_EQ(text, "i\u0307\u00e9");
}

}  // namespace
}  // namespace croze::llm
