// Untrusted bytes, mapped files, and files that are whole or absent.
#include "base/bytes.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <limits>
#include <vector>

#include "base/error.h"
#include "support/files.h"

namespace croze {
namespace {

using Files = test::FilesTest;

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

TEST_F(Files, AMappedFileShowsWhatWasWritten) {
  write_file(path("a"), bytes_of({1, 2, 3}));
  MappedFile file(path("a"));
  MappedFile moved(std::move(file));
  EXPECT_EQ(moved.data().size(), 3u);
  EXPECT_EQ(moved.reader().read<uint16_t>(), 0x201);
  write_file(path("empty"), {});
  EXPECT_TRUE(MappedFile(path("empty")).data().empty());
}

TEST_F(Files, MappingWhatIsNoFileIsAnError) {
  EXPECT_THROW(MappedFile(path("missing")), Error);
  EXPECT_THROW(MappedFile{folder()}, Error);
}

TEST_F(Files, WritingReplacesTheOldFileOnlyAtCommit) {
  write_file(path("a"), std::as_bytes(std::span("old", 3)));
  {
    FileWriter writer(path("a"));
    writer.write("new ");
    writer.write("text");
    EXPECT_EQ(content(path("a")), "old");
    writer.commit();
  }
  EXPECT_EQ(content(path("a")), "new text");
  { FileWriter(path("a")).write("abandoned"); }
  EXPECT_EQ(content(path("a")), "new text");
  EXPECT_EQ(file_count(), 1);
}

TEST_F(Files, TwoWritersOfOneFileDoNotMix) {
  FileWriter first(path("a")), second(path("a"));
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(content(path("a")), "first");
  EXPECT_EQ(file_count(), 1);
}

TEST_F(Files, AFullDiskIsAnErrorAndLeavesTheOldFile) {
  write_file(path("a"), std::as_bytes(std::span("old", 3)));
  // A limit on the size of files stands in for a full disk: write() fails half-way just the same.
  auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  rlimit limit = old_limit;
  limit.rlim_cur = 1000;
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_THROW(write_file(path("a"), std::vector<std::byte>(5000)), Error);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_EQ(file_count(), 1);
}

TEST_F(Files, AMissingFolderIsAnErrorThatNamesTheFile) {
  try {
    FileWriter writer(path("missing/a"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("missing/a"), std::string::npos);
  }
}

}  // namespace
}  // namespace croze
