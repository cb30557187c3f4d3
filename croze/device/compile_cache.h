// compile_cache.h -- compiled programs on disk, so that a kernel is compiled once per machine.
//
// One file per program.  Its name is a hash of the key; the whole key stands inside, so that two
// keys of one hash are told apart.  There may be many, so how large they are together is kept in a
// tally (cache_tally.h).  Whatever is wrong with a file or with the folder, the worst
// that happens is that a program is compiled again.
//
// What is found is run, so it must come from the user.  Programs stand in a folder of the cache's
// own, which only the user may enter and which holds CACHEDIR.TAG, the mark of folders that can be
// deleted; nothing is removed from a folder without it, and no file that is not named as programs
// are.  A folder or a program that belongs to somebody else, or that others may write, is not used;
// a warning says so once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "croze/base/file.h"

namespace croze {

class CompileCache {
 public:
  static constexpr std::int64_t default_max_bytes = std::int64_t{512} << 20;
  static constexpr std::string_view folder_name = "croze-programs";

  // Programs in the folder `folder_name` of `directory`; both are made when the first one is
  // stored.  An empty name turns the cache off.  When the files together grow over `max_bytes`,
  // those go that have not been used for longest.
  explicit CompileCache(const std::string& directory, std::int64_t max_bytes = default_max_bytes);
  ~CompileCache();
  CompileCache(CompileCache&&) noexcept;
  CompileCache& operator=(CompileCache&&) noexcept;

  // In CROZE_CACHE_DIR, or croze/ in the user's cache directory, with at most CROZE_CACHE_SIZE
  // megabytes; off if CROZE_CACHE is 0.
  static CompileCache from_environment();

  bool enabled() const { return !folder_.empty(); }
  // Where the programs are; empty if the cache is off.
  const std::string& folder() const { return folder_; }

  // What was stored under the key.  The key must name everything that the program depends on: the
  // kernel, the device's architecture, the version of the compiler.
  std::optional<std::string> find(std::string_view key) const;

  // Keeps `program`, if the disk lets it.  Safe from many threads and processes at once: a reader
  // sees the whole file or none.
  void store(std::string_view key, std::string_view program);

 private:
  struct State;  // what this process knows of the folder

  std::optional<FileDescriptor> open_folder() const;
  void account(const FileDescriptor& folder, std::int64_t bytes);
  void distrust(std::string_view path) const;

  std::string folder_;
  std::int64_t max_bytes_;
  std::unique_ptr<State> state_;
};

}  // namespace croze
