// compile_cache_test.cpp -- what is stored comes back; whatever else is there counts as nothing.
#include "device/compile_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/options.h"

namespace croze {
namespace {

namespace fs = std::filesystem;

class CompileCacheTest : public testing::Test {
 protected:
  CompileCacheTest() {
    std::string pattern = (fs::temp_directory_path() / "croze-cache-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~CompileCacheTest() override {
    fs::permissions(root_, fs::perms::owner_all);
    fs::remove_all(root_);
  }

  std::string directory() const { return (root_ / "deep" / "cache").string(); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> result;
    if (!fs::exists(directory())) return result;
    for (const auto& entry : fs::directory_iterator(directory())) result.push_back(entry.path());
    return result;
  }

  fs::path root_;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_over(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

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
  const std::string whole = read_file(file);
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
  write_over(root_ / "deep", "a file where the directory should be");
  CompileCache cache(directory());
  cache.store("key", "program");
  EXPECT_FALSE(cache.find("key"));
}

TEST_F(CompileCacheTest, AReadOnlyDirectoryIsReadAndNotWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  CompileCache cache(directory());
  cache.store("key", "program");
  fs::permissions(directory(), fs::perms::owner_read | fs::perms::owner_exec);
  cache.store("another", "program");
  EXPECT_EQ(cache.find("key"), "program");
  EXPECT_FALSE(cache.find("another"));
  fs::permissions(directory(), fs::perms::owner_all);
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

TEST_F(CompileCacheTest, TheOldestGoFirst) {
  const std::string program(1000, 'x');
  CompileCache large(directory());
  large.store("old", program);
  fs::last_write_time(files().at(0), fs::file_time_type::clock::now() - std::chrono::hours(1));
  large.store("young", program);
  CompileCache small(directory(), 2500);
  small.store("new", program);
  EXPECT_FALSE(small.find("old"));
  EXPECT_TRUE(small.find("new"));
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
  EXPECT_EQ(CompileCache::from_environment().directory(), directory());
  const Options::Scope off{{Option::Cache, false}};
  CompileCache cache = CompileCache::from_environment();
  EXPECT_FALSE(cache.enabled());
  cache.store("key", "program");
  EXPECT_FALSE(cache.find("key"));
}

}  // namespace
}  // namespace croze
