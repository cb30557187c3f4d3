// compile_cache_test.cpp -- what is stored comes back; whatever else is there counts as nothing.
#include "croze/device/compile_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "croze/base/hash.h"
#include "croze/base/log.h"
#include "croze/base/options.h"
#include "support/files.h"

namespace croze {
namespace {

namespace fs = std::filesystem;

class CompileCacheTest : public test::FilesTest {
 protected:
  void SetUp() override {
    FilesTest::SetUp();
    set_log_sink(
        [](void* lines, std::string_view line) { *static_cast<std::string*>(lines) += line; },
        &warnings_);
  }
  void TearDown() override {
    set_log_sink(nullptr, nullptr);
    FilesTest::TearDown();
  }

  std::string directory() const { return path("deep/cache"); }
  fs::path programs() const { return path("deep/cache/croze-programs"); }
  // The programs in the folder of the cache.
  std::vector<fs::path> files() const {
    std::vector<fs::path> result;
    if (!fs::exists(programs())) return result;
    for (const auto& entry : fs::directory_iterator(programs())) {
      if (entry.path().extension() == ".bin") result.push_back(entry.path());
    }
    return result;
  }
  // How often the cache has warned.
  int warnings() const {
    int count = 0;
    for (std::size_t at = 0; (at = warnings_.find("does not use", at)) != warnings_.npos; at++)
      count++;
    return count;
  }

 private:
  std::string warnings_;
};

void write_over(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

fs::perms mode_of(const fs::path& path) { return fs::status(path).permissions(); }

TEST_F(CompileCacheTest, WhatIsStoredComesBackInThisAndInALaterProcess) {
  const std::string key("key with \0 in it", 16), program(100000, '\xfe');
  CompileCache cache(directory());
  EXPECT_FALSE(cache.find(key));
  cache.store(key, program);
  cache.store("empty", "");
  EXPECT_EQ(cache.find(key), program);
  EXPECT_EQ(CompileCache(directory()).find(key), program);
  EXPECT_EQ(cache.find("empty"), "");
  EXPECT_FALSE(cache.find("another"));
  cache.store(key, "newer");
  EXPECT_EQ(cache.find(key), "newer");
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(CompileCacheTest, DamagedAndForeignFilesAreMisses) {
  CompileCache cache(directory());
  cache.store("key", "the program");
  const fs::path file = files().at(0);
  const std::string whole = content(file);
  for (std::size_t size = 0; size < whole.size(); size++) {
    write_over(file, whole.substr(0, size));
    EXPECT_FALSE(cache.find("key")) << size;
  }
  for (std::size_t i = 0; i < whole.size(); i++) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write_over(file, damaged);
    EXPECT_FALSE(cache.find("key")) << i;
  }
  write_over(file, whole + "more");
  EXPECT_FALSE(cache.find("key"));
  write_over(file, whole);
  EXPECT_EQ(cache.find("key"), "the program");
  cache.store("other", "else");
  fs::remove(file);
  fs::rename(files().at(0), file);  // as if both keys had one hash
  EXPECT_FALSE(cache.find("key"));
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(cache.find("key"));
  cache.store("key", "cannot replace a directory");
  EXPECT_FALSE(cache.find("key"));
}

TEST_F(CompileCacheTest, ADirectoryThatCannotBeMadeIsNoError) {
  write_over(path("deep"), "a file where the directory should be");
  CompileCache cache(directory());
  cache.store("key", "program");
  EXPECT_FALSE(cache.find("key"));
}

TEST_F(CompileCacheTest, AReadOnlyDirectoryIsReadAndNotWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  CompileCache cache(directory());
  cache.store("key", "program");
  fs::permissions(programs(), fs::perms::owner_read | fs::perms::owner_exec);
  cache.store("another", "program");
  EXPECT_EQ(cache.find("key"), "program");
  EXPECT_FALSE(cache.find("another"));
  fs::permissions(programs(), fs::perms::owner_all);
}

TEST_F(CompileCacheTest, OldProgramsGoWhenThereAreTooMany) {
  const std::string program(1000, 'x');
  CompileCache cache(directory(), 20000);
  for (int i = 0; i < 60; i++) cache.store(std::to_string(i), program);
  std::uintmax_t bytes = 0;
  for (const fs::path& file : files()) bytes += fs::file_size(file);
  EXPECT_LE(bytes, 20000u);
  EXPECT_GE(bytes, 10000u);
}

TEST_F(CompileCacheTest, WhatHasNotBeenUsedForLongestGoesFirst) {
  const std::string program(1000, 'x');
  CompileCache large(directory());
  for (const char* key : {"used", "unused"}) large.store(key, program);
  for (const fs::path& file : files()) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  EXPECT_TRUE(large.find("used"));
  CompileCache small(directory(), 3000);
  small.store("new", program);
  EXPECT_TRUE(small.find("used"));
  EXPECT_FALSE(small.find("unused"));
  EXPECT_TRUE(small.find("new"));
}

// Bytes of all programs there, as the tally has them: a single number where it has just begun.
std::int64_t number_in(const std::string& tally) {
  std::int64_t number = 0;
  EXPECT_EQ(tally.size(), sizeof(number));
  std::memcpy(&number, tally.data(), std::min(tally.size(), sizeof(number)));
  return number;
}

TEST_F(CompileCacheTest, TheNextProcessNeedNotCount) {
  CompileCache(directory()).store("key", "program");
  CompileCache(directory()).store("another", "program");
  EXPECT_EQ(content(programs() / "sizes").size(), 2 * sizeof(std::int64_t));
  CompileCache(directory(), 150).store("third", "program");
  EXPECT_LE(files().size(), 2u);
  EXPECT_LE(number_in(content(programs() / "sizes")), 150);
}

TEST_F(CompileCacheTest, ATallyThatIsDamagedOrTooHighIsCountedAnew) {
  const std::string huge = "\xff\xff\xff\xff\xff\xff\xff\x7f", negative(8, '\xff');
  for (const std::string& tally : {std::string("half"), negative, huge, huge + huge}) {
    CompileCache(directory()).store("key", "program");
    write_over(programs() / "sizes", tally);
    CompileCache(directory()).store("key", "program");
    EXPECT_EQ(number_in(content(programs() / "sizes")),
              static_cast<std::int64_t>(fs::file_size(files().at(0))));
  }
}

TEST_F(CompileCacheTest, NothingIsWrittenThroughALinkInPlaceOfTheTally) {
  CompileCache(directory()).store("key", "program");
  const fs::path victim = path("victim");
  write_over(victim, "kept");
  fs::remove(programs() / "sizes");
  fs::create_symlink(victim, programs() / "sizes");
  CompileCache(directory()).store("another", "program");
  EXPECT_EQ(content(victim), "kept");
  EXPECT_EQ(CompileCache(directory()).find("another"), "program");
}

TEST_F(CompileCacheTest, ManyThreadsMayStoreAndFind) {
  CompileCache cache(directory());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; i++) {
        const std::string key = std::to_string(i % 10);
        cache.store(key, key + " program");
        EXPECT_EQ(cache.find(key), key + " program");
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(files().size(), 10u);
}

TEST_F(CompileCacheTest, OptionsChooseTheDirectoryAndTurnItOff) {
  const Options::Scope chosen{{Option::CacheDir, directory()}, {Option::Cache, true}};
  EXPECT_EQ(CompileCache::from_environment().folder(), programs());
  const Options::Scope off{{Option::Cache, false}};
  CompileCache cache = CompileCache::from_environment();
  EXPECT_FALSE(cache.enabled());
  cache.store("key", "program");
  EXPECT_FALSE(cache.find("key"));
}

// ---- whose files these are --------------------------------------------------------------------

TEST_F(CompileCacheTest, OnlyTheUserMayEnterTheFolder) {
  const mode_t old_mask = umask(0);
  CompileCache(directory()).store("key", "program");
  umask(old_mask);
  EXPECT_EQ(mode_of(programs()), fs::perms::owner_all);
  EXPECT_EQ(mode_of(files().at(0)), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(CompileCacheTest, FilesOfOthersAreNeverRemoved) {
  fs::create_directories(directory());
  const std::string name(32, 'a');
  std::vector<fs::path> others = {directory() + "/thesis.tex", directory() + "/" + name + ".bin"};
  for (const fs::path& file : others) write_over(file, std::string(5000, 'x'));
  CompileCache cache(directory(), 2500);
  cache.store("key", "program");
  others.insert(others.end(), {programs() / "notes", programs() / ("A" + name.substr(1) + ".bin"),
                               programs() / (name + ".bin.old")});
  for (const fs::path& file : others) write_over(file, std::string(5000, 'x'));
  for (int i = 0; i < 10; i++) cache.store(std::to_string(i), std::string(1000, 'x'));
  EXPECT_LE(files().size(), 3u);
  for (const fs::path& file : others) EXPECT_TRUE(fs::exists(file)) << file;
}

TEST_F(CompileCacheTest, AFolderThatHoldsOtherThingsIsNotTakenOver) {
  fs::create_directories(programs());
  fs::permissions(programs(), fs::perms::owner_all);
  write_over(programs() / "thesis.tex", "years of work");
  CompileCache cache(directory());
  cache.store("key", "program");
  cache.store("another", "program");
  EXPECT_FALSE(cache.find("key"));
  EXPECT_EQ(files().size(), 0u);
  EXPECT_EQ(warnings(), 1);
}

TEST_F(CompileCacheTest, AnInterruptedBeginningIsMended) {
  fs::create_directories(programs());
  fs::permissions(programs(), fs::perms::owner_all);
  write_over(programs() / "CACHEDIR.TAG", "");
  write_over(programs() / ".croze-0123456789abcdef.tmp", "half");
  CompileCache cache(directory());
  cache.store("key", "program");
  EXPECT_EQ(cache.find("key"), "program");
  EXPECT_TRUE(content(programs() / "CACHEDIR.TAG").starts_with("Signature: 8a477f597d28d1"));
  EXPECT_FALSE(fs::exists(programs() / ".croze-0123456789abcdef.tmp"));
}

TEST_F(CompileCacheTest, AFolderThatOthersMayWriteIsNotUsed) {
  CompileCache cache(directory());
  cache.store("key", "program");
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(programs(), fs::perms::owner_all | others);
    EXPECT_FALSE(cache.find("key"));
    cache.store("more", "program");
    EXPECT_EQ(files().size(), 1u);
  }
  EXPECT_EQ(warnings(), 1);
  fs::permissions(programs(), fs::perms::owner_all);
  EXPECT_EQ(cache.find("key"), "program");
}

TEST_F(CompileCacheTest, AProgramThatOthersMayWriteIsNotUsed) {
  CompileCache cache(directory());
  cache.store("key", "program");
  fs::permissions(files().at(0), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(cache.find("key"));
  EXPECT_FALSE(cache.find("key"));
  EXPECT_EQ(warnings(), 1);
  cache.store("key", "compiled again");
  EXPECT_EQ(cache.find("key"), "compiled again");
}

TEST_F(CompileCacheTest, WhatBelongsToAnotherUserIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  constexpr uid_t another = 1234;
  CompileCache cache(directory());
  cache.store("key", "forged");
  ASSERT_EQ(chown(files().at(0).c_str(), another, another), 0);
  EXPECT_FALSE(cache.find("key"));
  cache.store("key", "program");
  EXPECT_EQ(cache.find("key"), "program");
  ASSERT_EQ(chown(programs().c_str(), another, another), 0);
  EXPECT_FALSE(cache.find("key"));
  cache.store("more", "program");
  EXPECT_EQ(files().size(), 1u);
  EXPECT_EQ(warnings(), 1);
}

TEST_F(CompileCacheTest, LinksAndFifosInPlaceOfAProgramAreNeitherFollowedNorWaitedFor) {
  CompileCache cache(directory());
  cache.store("key", "program");
  const fs::path file = files().at(0);
  fs::rename(file, path("elsewhere"));
  fs::create_symlink(path("elsewhere"), file);
  EXPECT_FALSE(cache.find("key"));
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(cache.find("key"));
  cache.store("key", "compiled again");
  EXPECT_EQ(cache.find("key"), "compiled again");
  EXPECT_TRUE(fs::exists(path("elsewhere")));
}

TEST_F(CompileCacheTest, ALinkInPlaceOfTheFolderIsNotFollowed) {
  CompileCache cache(directory());
  cache.store("key", "program");
  fs::rename(programs(), path("elsewhere"));
  fs::create_directory_symlink(path("elsewhere"), programs());
  EXPECT_FALSE(cache.find("key"));
  EXPECT_EQ(warnings(), 1);
}

// Whoever writes an entry can make its checksum right; the key inside tells that it is another's.
TEST_F(CompileCacheTest, TheWholeKeyIsComparedAndNotItsHashAlone) {
  CompileCache cache(directory());
  cache.store("key", "program");
  std::string bytes = content(files().at(0));
  const std::size_t key_at = bytes.find("keyprogram");
  ASSERT_NE(key_at, bytes.npos);
  bytes.replace(key_at, 3, "kez");
  const std::uint64_t sum = hash_bytes("program", hash_bytes("kez"));
  bytes.replace(key_at - sizeof(sum), sizeof(sum), reinterpret_cast<const char*>(&sum),
                sizeof(sum));
  write_over(files().at(0), bytes);
  EXPECT_FALSE(cache.find("key"));
}

}  // namespace
}  // namespace croze
