// Files that cannot make us wait, mapped files, and files that are whole or absent.
#include "croze/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <initializer_list>
#include <random>
#include <thread>
#include <vector>

#include "croze/base/error.h"
#include "support/files.h"

namespace croze {
namespace {

namespace fs = std::filesystem;
using Files = test::FilesTest;
using test::error_of;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

std::span<const std::byte> text_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

fs::perms mode_of(const std::string& path) { return fs::status(path).permissions(); }

// ---- reading ----------------------------------------------------------------------------------

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

TEST_F(Files, AFifoIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_NE(error_of([&] { MappedFile(path("fifo")); }).find("not a regular file"),
            std::string::npos);
  EXPECT_NE(error_of([&] { MappedFile::inside(folder(), "fifo"); }).find("not a regular file"),
            std::string::npos);
  EXPECT_NE(error_of([&] { MappedFile("/dev/null"); }).find("not a regular file"),
            std::string::npos);
}

TEST_F(Files, ASmallFileIsReadSoThatLaterChangesAreNotSeen) {
  const std::string small = file("small", "before");
  const MappedFile mapped(small);
  file("small", "after!");
  truncate(small.c_str(), 0);
  EXPECT_EQ(mapped.reader().text(6), "before");
}

TEST_F(Files, ALargeFileIsMapped) {
  const std::string text(MappedFile::max_copied_bytes + 1, 'x');
  const MappedFile mapped(file("large", text));
  EXPECT_EQ(mapped.reader().text(mapped.reader().remaining()), text);
}

// ---- writing ----------------------------------------------------------------------------------

TEST_F(Files, WritingReplacesTheOldFileOnlyAtCommit) {
  write_file(path("a"), text_bytes("old"));
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

TEST_F(Files, WhatIsWrittenInPartsOfAnySizeComesInOrder) {
  constexpr std::size_t megabyte = std::size_t{1} << 20;
  std::vector<std::byte> all;
  FileWriter writer(path("a"));
  // Parts that pieces of some megabytes are made of, that reach over their ends, and several
  // pieces.
  for (const std::size_t count : {std::size_t{0}, std::size_t{5}, 3 * megabyte, megabyte - 5,
                                  2 * megabyte, 9 * megabyte + 1, std::size_t{7}}) {
    std::vector<std::byte> part(count);
    for (std::size_t i = 0; i < count; i++)
      part[i] = static_cast<std::byte>((all.size() + i) * 2654435761u >> 13);
    writer.write(part);
    all.insert(all.end(), part.begin(), part.end());
  }
  writer.commit();
  EXPECT_TRUE(std::ranges::equal(MappedFile(path("a")).data(), all));
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
  write_file(path("a"), text_bytes("old"));
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

TEST_F(Files, ASymbolicLinkIsWrittenThrough) {
  fs::create_directory(path("far"));
  file("far/real", "old");
  fs::create_symlink("far/real", path("near"));
  fs::create_symlink(path("near"), path("link"));
  write_file(path("link"), text_bytes("new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("near")));
  EXPECT_EQ(content(path("far/real")), "new");
  EXPECT_EQ(file_count(), 3);
}

TEST_F(Files, ALinkToAFileThatIsNotThereYetMakesIt) {
  fs::create_symlink("real", path("link"));
  write_file(path("link"), text_bytes("new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_FALSE(fs::is_symlink(path("real")));
  EXPECT_EQ(content(path("real")), "new");
}

TEST_F(Files, ALinkThatLeadsToItselfIsAnError) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  EXPECT_NE(error_of([&] { FileWriter{path("a")}; }).find("symbolic links"), std::string::npos);
}

TEST_F(Files, TheModeOfTheOldFileIsKept) {
  for (const mode_t mode : {0400, 0600, 0640, 0755}) {
    write_file(path("a"), text_bytes("old"));
    ASSERT_EQ(chmod(path("a").c_str(), mode), 0);
    write_file(path("a"), text_bytes("new"));
    EXPECT_EQ(content(path("a")), "new");
    EXPECT_EQ(mode_of(path("a")), static_cast<fs::perms>(mode));
  }
  const mode_t old_mask = umask(027);
  write_file(path("b"), text_bytes("new"));
  umask(old_mask);
  EXPECT_EQ(mode_of(path("b")), static_cast<fs::perms>(0640));
}

TEST_F(Files, TheOwnerOfTheOldFileIsKept) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  write_file(path("a"), text_bytes("old"));
  ASSERT_EQ(chown(path("a").c_str(), 1234, 4321), 0);
  write_file(path("a"), text_bytes("new"));
  struct stat status {};
  ASSERT_EQ(stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 1234u);
  EXPECT_EQ(status.st_gid, 4321u);
}

TEST_F(Files, WhatIsNoRegularFileIsNotReplaced) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  fs::create_directory(path("folder"));
  fs::create_symlink("fifo", path("link"));
  for (const char* name : {"fifo", "folder", "folder/", "link"}) {
    EXPECT_NE(error_of([&] { FileWriter{path(name)}; }).find("not a regular file"),
              std::string::npos);
  }
  EXPECT_NE(error_of([&] { FileWriter{"/dev/null"}; }).find("not a regular file"),
            std::string::npos);
  EXPECT_TRUE(fs::is_fifo(path("fifo")));
  EXPECT_EQ(file_count(), 3);
}

TEST_F(Files, AFileOfAnOpenFolderIsForTheUserAlone) {
  const FileDescriptor opened(open(folder().c_str(), O_RDONLY | O_DIRECTORY));
  FileWriter writer(opened, "a", path("a"));
  writer.write("text");
  writer.commit();
  EXPECT_EQ(content(path("a")), "text");
  EXPECT_EQ(mode_of(path("a")), static_cast<fs::perms>(0600));
}

TEST_F(Files, OnlyWhatDeadWritersLeftIsRemoved) {
  file(".croze-0123456789abcdef.tmp", "left by a process that was killed");
  file(".croze-0123456789abcdeg.tmp", "not of ours");
  file(".croze-notes.tmp", "not of ours");
  file("a.tmp", "not of ours");
  ASSERT_EQ(mkfifo(path(".croze-fedcba9876543210.tmp").c_str(), 0600), 0);
  FileWriter living(path("b"));
  living.write("still written");
  write_file(path("a"), text_bytes("new"));
  EXPECT_FALSE(fs::exists(path(".croze-0123456789abcdef.tmp")));
  EXPECT_EQ(file_count(), 6);  // four, what is written, and a
  living.commit();
  EXPECT_EQ(content(path("b")), "still written");
}

// Each removes what it takes for abandoned, and must not take the others' files for that.
TEST_F(Files, WritersInOneFolderDoNotDisturbEachOther) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&, own = path(std::to_string(i))] {
      for (int round = 0; round < 100; ++round) {
        EXPECT_NO_THROW(write_file(own, text_bytes(own)));
        EXPECT_NO_THROW(write_file(path("shared"), text_bytes("shared")));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(content(path(std::to_string(i))), path(std::to_string(i)));
  EXPECT_EQ(content(path("shared")), "shared");
  EXPECT_EQ(file_count(), 5);
}

// Versions of a file: each of one letter, which tells its length.
std::string version_of(int number) {
  const int letter = number % 26;
  return std::string(static_cast<std::size_t>(100'000 + 1000 * letter),
                     static_cast<char>('a' + letter));
}

TEST_F(Files, AWriterThatIsKilledLeavesAWholeFile) {
  constexpr int kills = 200;
  std::mt19937 random(1);
  write_file(path("a"), text_bytes(version_of(0)));
  for (int i = 0; i < kills; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int number = 0;; ++number) write_file(path("a"), text_bytes(version_of(number)));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string text = content(path("a"));
    ASSERT_FALSE(text.empty());
    ASSERT_EQ(text, version_of(text[0] - 'a')) << "after kill " << i;
  }
  write_file(path("a"), text_bytes("the next"));
  EXPECT_EQ(file_count(), 1);
}

}  // namespace
}  // namespace croze
