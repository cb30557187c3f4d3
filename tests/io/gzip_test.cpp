// Compressed files: whole, plain, cut short, damaged, and larger than they look.
#include "croze/io/gzip.h"

#include <zlib.h>

#include <vector>

#include "support/files.h"

namespace croze {
namespace {

using test::error_of;

std::string compressed(std::string_view text, int level = 6) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 100'000; i++) text += std::to_string(i * 7919 % 10'007) + ' ';
  return text;
}

class Gzip : public test::FilesTest {
 protected:
  std::string read_all(const std::string& path) {
    GzipReader reader(path);
    const std::string text = text_of(reader.read(1 << 30));
    EXPECT_TRUE(reader.at_end());
    return text;
  }
};

TEST_F(Gzip, ReadsWhatWasCompressed) {
  const std::string text = long_text();
  EXPECT_EQ(read_all(file("a.gz", compressed(text))), text);
}

TEST_F(Gzip, ReadsInPartsOfAnySize) {
  const std::string text = long_text();
  GzipReader reader(file("a.gz", compressed(text)));
  std::string joined;
  for (std::int64_t part = 1; joined.size() < text.size(); part = part * 3 + 1) {
    joined += text_of(reader.read(part));
  }
  EXPECT_EQ(joined, text);
  EXPECT_TRUE(reader.at_end());
  EXPECT_TRUE(reader.read(10).empty());
}

TEST_F(Gzip, ReadsSeveralMembersAsOne) {
  EXPECT_EQ(read_all(file("a.gz", compressed("one ") + compressed("") + compressed("two"))),
            "one two");
}

TEST_F(Gzip, ReadsAPlainFileAsItIs) {
  EXPECT_EQ(read_all(file("a", "no gzip")), "no gzip");
  EXPECT_EQ(read_all(file("empty", "")), "");
  EXPECT_EQ(read_all(file("one", "\x1f")), "\x1f");
}

TEST_F(Gzip, RefusesEveryTruncation) {
  const std::string whole = compressed("some text that is compressed, text text text");
  for (std::size_t size = 2; size < whole.size(); size++) {
    const std::string cut = file("cut.gz", std::string_view(whole).substr(0, size));
    EXPECT_NE(error_of([&] { read_all(cut); }).find("cut.gz is truncated"), std::string::npos)
        << size;
  }
}

TEST_F(Gzip, RefusesAFalseChecksum) {
  std::string bad = compressed(long_text());
  bad[bad.size() - 6] = static_cast<char>(bad[bad.size() - 6] ^ 1);
  EXPECT_NE(error_of([&] { read_all(file("bad.gz", bad)); }).find("damaged"), std::string::npos);
}

TEST_F(Gzip, NoticesAFlippedBitAnywhereBehindTheHeader) {
  const std::string text = "some text that is compressed, text text text";
  const std::string whole = compressed(text);
  for (std::size_t i = 10; i < whole.size(); i++) {
    std::string bad = whole;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_NE(error_of([&] { read_all(file("bad.gz", bad)); }), "") << i;
  }
}

TEST_F(Gzip, DoesNotDecompressMoreThanIsAskedFor) {
  // Forty megabytes of zeros in forty kilobytes.
  GzipReader reader(file("bomb.gz", compressed(std::string(40 << 20, '\0'))));
  EXPECT_EQ(reader.read(1000).size(), 1000u);
  EXPECT_FALSE(reader.at_end());
}

TEST_F(Gzip, SaysThatTheDataEndEarly) {
  GzipReader reader(file("short.gz", compressed("short")));
  EXPECT_NE(error_of([&] { reader.read_exactly(INT64_MAX); }).find("too short"), std::string::npos);
}

TEST_F(Gzip, NamesAMissingFile) {
  EXPECT_NE(error_of([&] { GzipReader reader(path("none.gz")); }).find("none.gz"),
            std::string::npos);
}

}  // namespace
}  // namespace croze
