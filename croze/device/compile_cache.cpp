// compile_cache.cpp -- files of the form: header, key, program.
#include "croze/device/compile_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/hash.h"
#include "croze/base/log.h"
#include "croze/base/options.h"
#include "croze/device/cache_tally.h"

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

// They are few: to map them takes the system longer than to read them, most of all while other
// threads map theirs.  Throws Error if the file is cut short meanwhile.
std::string bytes_of(const FileDescriptor& file, const std::string& path) {
  struct stat status {};
  check(fstat(file.number(), &status) == 0, "cannot read {}", path);
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n =
        pread(file.number(), bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    check(n > 0, "cannot read {}", path);
    at += static_cast<std::size_t>(n);
  }
  return bytes;
}

// The program in the bytes of a file, if it is what store() wrote for the key.
std::optional<std::string> program_in(std::string_view file, std::string_view key) {
  Header header;
  if (file.size() < sizeof(header) + key.size()) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof(header));
  const std::string_view rest = file.substr(sizeof(header));
  const std::string_view program = rest.substr(key.size());
  const Header expected = header_of(key, program);
  if (std::memcmp(&header, &expected, sizeof(header)) != 0) return std::nullopt;
  if (!rest.starts_with(key)) return std::nullopt;
  return std::string(program);
}

// ---- the folder -------------------------------------------------------------------------------

constexpr std::string_view name_digits = "0123456789abcdef", name_suffix = ".bin";
constexpr std::size_t name_length = 32;  // without the suffix

std::string name_of(std::string_view key) {
  return fmt::format("{:016x}{:016x}{}", hash_bytes(key, 1), hash_bytes(key, 2), name_suffix);
}

bool is_name_of_program(std::string_view name) {
  return name.size() == name_length + name_suffix.size() && name.ends_with(name_suffix) &&
         name.find_first_not_of(name_digits) == name_length;
}

// Whether a file or folder is the user's and nobody else can change it.
bool is_private(const FileDescriptor& opened) {
  struct stat status {};
  return fstat(opened.number(), &status) == 0 && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

constexpr const char* marker_name = "CACHEDIR.TAG";
// The first line is the same in all folders that are caches: https://bford.info/cachedir
constexpr std::string_view marker =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Programs that croze has compiled.  This folder may be deleted at any time.\n";

bool is_marked(const FileDescriptor& folder) {
  if (faccessat(folder.number(), marker_name, F_OK, AT_SYMLINK_NOFOLLOW) != 0) return false;
  const MappedFile file(open_file(folder, marker_name, marker_name), marker_name);
  ByteReader reader = file.reader();
  return reader.text(reader.remaining()) == marker;
}

// Marks a folder that holds nothing but programs; false if it may be somebody else's.
bool mark(const FileDescriptor& folder, const std::string& path) {
  if (is_marked(folder)) return true;
  for (const std::string& name : names_in(folder)) {
    const bool is_ours = is_name_of_program(name) || is_name_under_construction(name) ||
                         name == marker_name;  // torn by a power cut
    if (!is_ours) return false;
  }
  FileWriter file(folder, marker_name, path);
  file.write(marker);
  file.commit();
  return true;
}

// ---- the limit --------------------------------------------------------------------------------

struct StoredProgram {
  std::string name;
  std::pair<std::int64_t, std::int64_t> used;  // seconds, nanoseconds
  std::int64_t bytes = 0;
};

std::vector<StoredProgram> programs_in(const FileDescriptor& folder) {
  std::vector<StoredProgram> result;
  for (std::string& name : names_in(folder)) {
    struct stat status {};
    if (!is_name_of_program(name)) continue;
    if (fstatat(folder.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(status.st_mode)) continue;
    result.push_back({std::move(name),
                      {status.st_mtim.tv_sec, status.st_mtim.tv_nsec},
                      static_cast<std::int64_t>(status.st_size)});
  }
  return result;
}

// Removes what has not been used for longest until three quarters of the limit are left.  Returns
// the bytes left.
std::int64_t trim(const FileDescriptor& folder, std::int64_t max_bytes) {
  remove_abandoned_files(folder);
  std::vector<StoredProgram> programs = programs_in(folder);
  std::int64_t total = 0;
  for (const StoredProgram& p : programs) total += p.bytes;
  if (total <= max_bytes) return total;
  std::ranges::sort(programs, {}, &StoredProgram::used);
  for (const StoredProgram& p : programs) {
    if (total <= max_bytes / 4 * 3) break;
    if (unlinkat(folder.number(), p.name.c_str(), 0) == 0) total -= p.bytes;
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

struct CompileCache::State {
  std::mutex mutex;
  std::optional<std::int64_t> bytes;  // in the folder, as far as this process knows
  std::once_flag warned;
};

CompileCache::CompileCache(const std::string& directory, std::int64_t max_bytes)
    : folder_(directory.empty() ? "" : fmt::format("{}/{}", directory, folder_name)),
      max_bytes_(max_bytes),
      state_(std::make_unique<State>()) {}
CompileCache::~CompileCache() = default;
CompileCache::CompileCache(CompileCache&&) noexcept = default;
CompileCache& CompileCache::operator=(CompileCache&&) noexcept = default;

CompileCache CompileCache::from_environment() {
  if (!Options::flag(Option::Cache)) return CompileCache("");
  const std::string chosen = Options::text(Option::CacheDir);
  return CompileCache(chosen.empty() ? default_directory() : chosen,
                      Options::integer(Option::CacheSize) << 20);
}

// Whoever can write there could have any code run.
void CompileCache::distrust(std::string_view path) const {
  std::call_once(state_->warned, [&] {
    log_warning(fmt::format(
        "the cache does not use {}: it is not this user's own, or others may write it", path));
  });
}

// Nothing if there is none, or none that can be trusted.
std::optional<FileDescriptor> CompileCache::open_folder() const {
  FileDescriptor folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open() && errno == ENOENT) return std::nullopt;
  if (folder.is_open() && is_private(folder)) return folder;
  distrust(folder_);
  return std::nullopt;
}

std::optional<std::string> CompileCache::find(std::string_view key) const {
  if (!enabled()) return std::nullopt;
  const std::optional<FileDescriptor> folder = open_folder();
  const std::string name = name_of(key), path = fmt::format("{}/{}", folder_, name);
  if (!folder || faccessat(folder->number(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
    return std::nullopt;
  }
  try {
    const FileDescriptor file = open_file(*folder, name, path);
    if (!is_private(file)) {
      distrust(path);
      return std::nullopt;
    }
    std::optional<std::string> program = program_in(bytes_of(file, path), key);
    if (program)
      futimens(file.number(), nullptr);  // used now; a disk that is read-only does without
    return program;
  } catch (const Error&) {
    return std::nullopt;  // it went away, or is no file
  }
}

void CompileCache::store(std::string_view key, std::string_view program) {
  if (!enabled()) return;
  std::error_code ignored;
  fs::create_directories(fs::path(folder_).parent_path(), ignored);
  mkdir(folder_.c_str(), 0700);
  const std::optional<FileDescriptor> folder = open_folder();
  if (!folder) return;
  try {
    if (!mark(*folder, folder_)) return distrust(folder_);
    const Header header = header_of(key, program);
    FileWriter file(*folder, name_of(key), folder_);
    file.write(std::as_bytes(std::span(&header, 1)));
    file.write(key);
    file.write(program);
    file.commit();
    account(*folder, static_cast<std::int64_t>(sizeof(header) + key.size() + program.size()));
  } catch (const Error&) {
    // The disk does not let it.
  }
}

// Counts the programs where nobody has, and when they may have grown too many.  Then, too, what
// writers that died have left is removed (trim).
void CompileCache::account(const FileDescriptor& folder, std::int64_t bytes) {
  const std::lock_guard lock(state_->mutex);
  const bool has_tally = add_to_tally(folder, bytes);
  if (!has_tally) {
    state_->bytes = {};
  } else if (state_->bytes) {
    *state_->bytes += bytes;
  } else {
    state_->bytes = read_tally(folder);
  }
  if (state_->bytes && *state_->bytes <= max_bytes_) return;
  state_->bytes = trim(folder, max_bytes_);
  begin_tally(folder, *state_->bytes, folder_);
}

}  // namespace croze
