// compile_cache.h -- compiled programs on disk, so that a kernel is compiled once per machine.
//
// One file per program.  Its name is a hash of the key; the whole key stands inside, so that two
// keys of one hash are told apart.  Whatever is wrong with a file or with the directory, the worst
// that happens is that a program is compiled again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace croze {

class CompileCache {
 public:
  static constexpr std::int64_t default_max_bytes = std::int64_t{512} << 20;

  // Programs in `directory`, which is made when the first one is stored; an empty name turns the
  // cache off.  When the files together grow over `max_bytes`, the oldest go.
  explicit CompileCache(std::string directory, std::int64_t max_bytes = default_max_bytes);
  ~CompileCache();
  CompileCache(CompileCache&&) noexcept;
  CompileCache& operator=(CompileCache&&) noexcept;

  // CROZE_CACHE_DIR, or croze/ in the user's cache directory; off if CROZE_CACHE is 0.
  static CompileCache from_environment();

  bool enabled() const { return !directory_.empty(); }
  const std::string& directory() const { return directory_; }

  // What was stored under the key.  The key must name everything that the program depends on: the
  // kernel, the device's architecture, the version of the compiler.
  std::optional<std::string> find(std::string_view key) const;

  // Keeps `program`, if the disk lets it.  Safe from many threads and processes at once: a reader
  // sees the whole file or none.
  void store(std::string_view key, std::string_view program);

 private:
  struct Usage;  // what the directory holds, as far as this process knows

  std::string path_of(std::string_view key) const;
  void account(std::int64_t bytes);

  std::string directory_;
  std::int64_t max_bytes_;
  std::unique_ptr<Usage> usage_;
};

}  // namespace croze
