// compile_cache.cpp -- files of the form: header, key, program.
#include "device/compile_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/options.h"

namespace croze {
namespace {

namespace fs = std::filesystem;

struct Header {
  char mark[8] = {'c', 'r', 'o', 'z', 'e', 'p', 'r', 'g'};
  std::uint32_t format = 1;  // of the file; grows when this struct changes
  std::uint32_t padding = 0;
  std::uint64_t key_bytes = 0;
  std::uint64_t program_bytes = 0;
  std::uint64_t checksum = 0;  // of key and program
};
static_assert(sizeof(Header) == 40);

Header header_of(std::string_view key, std::string_view program) {
  Header header;
  header.key_bytes = key.size();
  header.program_bytes = program.size();
  header.checksum = hash_bytes(program, hash_bytes(key));
  return header;
}

// The program in the bytes of a file, if it is what store() wrote for the key.
std::optional<std::string> program_in(std::span<const std::byte> file, std::string_view key) {
  Header header;
  if (file.size() < sizeof(header) + key.size()) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof(header));
  const std::string_view rest(reinterpret_cast<const char*>(file.data()) + sizeof(header),
                              file.size() - sizeof(header));
  const std::string_view program = rest.substr(key.size());
  const Header expected = header_of(key, program);
  if (std::memcmp(&header, &expected, sizeof(header)) != 0) return std::nullopt;
  if (!rest.starts_with(key)) return std::nullopt;
  return std::string(program);
}

// All or nothing: true if the file is there whole.  A file torn by a power cut is caught by its
// checksum, so nothing waits for the disk here.
bool write_beside(const std::string& path, std::initializer_list<std::string_view> parts) {
  static std::atomic<int> counter = 0;
  const std::string temporary = fmt::format("{}.{}.{}.tmp", path, getpid(), counter++);
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return false;
  bool written = true;
  for (std::string_view part : parts) {
    while (written && !part.empty()) {
      const ssize_t count = write(file, part.data(), part.size());
      if (count < 0 && errno == EINTR) continue;
      written = count > 0;
      if (written) part.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  written = close(file) == 0 && written;
  written = written && rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) unlink(temporary.c_str());
  return written;
}

struct StoredFile {
  fs::path path;
  fs::file_time_type time;
  std::int64_t bytes = 0;
};

std::vector<StoredFile> files_in(const std::string& directory) {
  std::vector<StoredFile> result;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::error_code unreadable;
    StoredFile file{it->path(), it->last_write_time(unreadable), 0};
    file.bytes = static_cast<std::int64_t>(it->file_size(unreadable));
    if (!unreadable) result.push_back(std::move(file));
  }
  return result;
}

// Removes the oldest files until three quarters of the limit are left.  Returns the bytes left.
std::int64_t trim(const std::string& directory, std::int64_t max_bytes) {
  std::vector<StoredFile> files = files_in(directory);
  std::int64_t total = 0;
  for (const StoredFile& file : files) total += file.bytes;
  if (total <= max_bytes) return total;
  std::ranges::sort(files, {}, &StoredFile::time);
  for (const StoredFile& file : files) {
    if (total <= max_bytes / 4 * 3) break;
    std::error_code ignored;
    if (fs::remove(file.path, ignored)) total -= file.bytes;
  }
  return total;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string default_directory() {
  if (const std::string cache = environment("XDG_CACHE_HOME"); cache.starts_with('/')) {
    return cache + "/croze";
  }
  const std::string home = environment("HOME");
  return home.empty() ? "" : home + "/.cache/croze";
}

}  // namespace

struct CompileCache::Usage {
  std::mutex mutex;
  std::int64_t bytes = -1;  // -1: not counted yet
};

CompileCache::CompileCache(std::string directory, std::int64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes), usage_(std::make_unique<Usage>()) {}
CompileCache::~CompileCache() = default;
CompileCache::CompileCache(CompileCache&&) noexcept = default;
CompileCache& CompileCache::operator=(CompileCache&&) noexcept = default;

CompileCache CompileCache::from_environment() {
  if (!Options::flag(Option::Cache)) return CompileCache("");
  const std::string chosen = Options::text(Option::CacheDir);
  return CompileCache(chosen.empty() ? default_directory() : chosen);
}

std::string CompileCache::path_of(std::string_view key) const {
  return fmt::format("{}/{:016x}{:016x}.bin", directory_, hash_bytes(key, 1), hash_bytes(key, 2));
}

std::optional<std::string> CompileCache::find(std::string_view key) const {
  if (!enabled()) return std::nullopt;
  const std::string path = path_of(key);
  if (access(path.c_str(), R_OK) != 0) return std::nullopt;
  try {
    return program_in(MappedFile(path).data(), key);
  } catch (const Error&) {
    return std::nullopt;  // it went away, or is no file
  }
}

void CompileCache::store(std::string_view key, std::string_view program) {
  if (!enabled()) return;
  std::error_code ignored;
  fs::create_directories(directory_, ignored);
  const Header header = header_of(key, program);
  const std::string_view header_text(reinterpret_cast<const char*>(&header), sizeof(header));
  if (!write_beside(path_of(key), {header_text, key, program})) return;
  account(static_cast<std::int64_t>(sizeof(header) + key.size() + program.size()));
}

// Looks at the directory at the first store of a process, and again when what it stored itself
// reaches the limit.
void CompileCache::account(std::int64_t bytes) {
  const std::lock_guard lock(usage_->mutex);
  if (usage_->bytes >= 0) usage_->bytes += bytes;
  if (usage_->bytes < 0 || usage_->bytes > max_bytes_) usage_->bytes = trim(directory_, max_bytes_);
}

}  // namespace croze
