// The POSIX calls behind files that are opened without waiting, mapped, and replaced whole.
//
// A file under construction has a name that only this code makes, and its writer holds a lock on it
// that the system drops with the process.  So whoever can take the lock knows that the writer is
// dead, on whichever machine it ran, and may remove the file.
#include "croze/base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "croze/base/error.h"

namespace croze {
namespace {

std::string describe(int error_number) { return std::generic_category().message(error_number); }

// ---- opening ----------------------------------------------------------------------------------

// Neither a FIFO without a writer nor a device holds up an open that does not block.
FileDescriptor open_regular(int folder, const char* name, int flags, const std::string& path) {
  FileDescriptor file(openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags));
  const bool is_link = !file.is_open() && errno == ELOOP && (flags & O_NOFOLLOW) != 0;
  check(file.is_open(), "cannot open {}: {}", path,
        is_link ? "it is a symbolic link" : describe(errno));
  struct stat status {};
  check(fstat(file.number(), &status) == 0, "cannot read {}: {}", path, describe(errno));
  check(S_ISREG(status.st_mode), "cannot read {}: it is not a regular file", path);
  return file;
}

FileDescriptor open_folder(const std::string& path) {
  return FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Fills memory from the beginning of a file.  False if the file ends before.
bool read_whole(const FileDescriptor& file, std::span<std::byte> to) {
  size_t filled = 0;
  while (filled < to.size()) {
    const ssize_t count =
        pread(file.number(), to.data() + filled, to.size() - filled, static_cast<off_t>(filled));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    filled += static_cast<size_t>(count);
  }
  return true;
}

// Asks the system for huge pages where it fetches a file from the disk: those that read it through
// and through, as weights are read for each token, would else wait for entries of the TLB.
void ask_for_huge_pages(std::span<std::byte> mapped) {
#ifdef MADV_HUGEPAGE
  madvise(mapped.data(), mapped.size(), MADV_HUGEPAGE);
#endif
}

// What is written at once: huge pages, of which each is whole.
constexpr size_t piece_bytes = size_t{4} << 20;

// ---- names of files under construction --------------------------------------------------------

constexpr std::string_view temporary_prefix = ".croze-", temporary_suffix = ".tmp";
constexpr size_t temporary_digits = 16;

std::string new_temporary_name() {
  uint64_t number = 0;
  check(getrandom(&number, sizeof number, 0) == sizeof number, "the system has no random numbers");
  return fmt::format("{}{:016x}{}", temporary_prefix, number, temporary_suffix);
}

// Takes the lock that says that a file is being written.
bool lock(const FileDescriptor& file) { return flock(file.number(), LOCK_EX | LOCK_NB) == 0; }

// Locks a file that has just been made.  False if another process was faster, took it for one that
// nobody writes and removes it.  A file system without locks is let off: nothing is removed there.
bool keep_temporary(const FileDescriptor& file) {
  struct stat status {};
  if (!lock(file) && errno == EWOULDBLOCK) return false;
  return fstat(file.number(), &status) == 0 && status.st_nlink > 0;
}

// ---- where a path leads to --------------------------------------------------------------------

struct Destination {
  std::string path;  // behind all symbolic links
  bool exists = false;
  struct stat old {};  // of the file, if it exists
};

Destination destination_of(const std::string& path) {
  constexpr int max_links = 40;  // as the system allows
  // The system is asked first: it may forbid a link that another user has laid.
  Destination result{.path = path};
  const FileDescriptor probe(open(path.c_str(), O_PATH | O_CLOEXEC));
  check(probe.is_open() || errno == ENOENT, "cannot write {}: {}", path, describe(errno));
  result.exists = probe.is_open() && fstat(probe.number(), &result.old) == 0;
  check(!result.exists || S_ISREG(result.old.st_mode),
        "cannot write {}: what stands there is not a regular file", path);
  namespace fs = std::filesystem;
  std::error_code no_link;
  for (int links = 0; links < max_links; links++) {
    const fs::path link = fs::read_symlink(result.path, no_link);
    if (no_link) return result;
    result.path = fs::path(result.path).parent_path() / link;  // `link` alone if it is absolute
  }
  fail({}, "cannot write {}: {}", path, describe(ELOOP));
}

// Gives a new file the owner of the one that it replaces.  Returns the mode of the latter, without
// the rights of a group that could not be kept.
unsigned take_over(const FileDescriptor& file, const struct stat& old) {
  const int number = file.number();
  const bool same_group = fchown(number, old.st_uid, old.st_gid) == 0 ||
                          fchown(number, static_cast<uid_t>(-1), old.st_gid) == 0;
  return old.st_mode & (same_group ? 0777 : 0707);
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (is_open()) close(number_);
}

FileDescriptor open_file(const std::string& path) {
  return open_regular(AT_FDCWD, path.c_str(), 0, path);
}

FileDescriptor open_file(const FileDescriptor& folder, const std::string& name,
                         const std::string& path) {
  return open_regular(folder.number(), name.c_str(), O_NOFOLLOW, path);
}

// ---- MappedFile -------------------------------------------------------------------------------

MappedFile::MappedFile(const std::string& path) : MappedFile(open_file(path), path) {}

MappedFile::MappedFile(const FileDescriptor& file, std::string path) : path_(std::move(path)) {
  struct stat status {};
  check(fstat(file.number(), &status) == 0, "cannot read {}: {}", path_, describe(errno));
  if (status.st_size == 0) return;
  const auto size = static_cast<size_t>(status.st_size);
  const bool copied = status.st_size <= max_copied_bytes;
  // Writable, because tensors may stand on it: what they write is a private copy of the page.
  const int flags = MAP_PRIVATE | MAP_NORESERVE | (copied ? MAP_ANONYMOUS : 0);
  void* start = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, copied ? -1 : file.number(), 0);
  check(start != MAP_FAILED, "cannot map {}: {}", path_, describe(errno));
  const std::span<std::byte> memory(static_cast<std::byte*>(start), size);
  if (copied && !read_whole(file, memory)) {
    munmap(start, size);
    fail({}, "cannot read {}: it was cut short meanwhile", path_);
  }
  if (!copied) ask_for_huge_pages(memory);
  data_ = memory;
}

MappedFile MappedFile::inside(const std::string& folder, std::string_view name) {
  const std::string path = fmt::format("{}/{}", folder, name);
  check(!name.empty() && name.find('\0') == name.npos, "{} is not a name of a file", path);
  FileDescriptor above = open_folder(folder);
  // Each part of the name is opened from the folder before it, so nothing can be swapped under us.
  for (size_t begin = 0;;) {
    check(above.is_open(), "cannot open {}: {}", path, describe(errno));
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string part(name.substr(begin, end - begin));
    check(!part.empty() && part != "..", "{}: the name must stay inside its folder", path);
    if (end == name.size()) {
      const FileDescriptor file = open_file(above, part, path);
      struct stat status {};
      check(fstat(file.number(), &status) == 0, "cannot read {}: {}", path, describe(errno));
      check(status.st_nlink == 1, "{} has other names elsewhere (it is a hard link)", path);
      return MappedFile(file, path);
    }
    above = FileDescriptor(
        openat(above.number(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    begin = end + 1;
  }
}

MappedFile::~MappedFile() {
  if (!data_.empty()) munmap(const_cast<std::byte*>(data_.data()), data_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), data_(std::exchange(other.data_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  return *this;
}

// ---- FileWriter -------------------------------------------------------------------------------

FileWriter::FileWriter(std::string path) : path_(std::move(path)) {
  const Destination to = destination_of(path_);
  const size_t slash = to.path.rfind('/');
  name_ = to.path.substr(slash + 1);  // all of it if there is no slash
  check(!name_.empty(), "cannot write \"{}\": it is not the name of a file", path_);
  own_folder_ = open_folder(slash == to.path.npos ? "." : to.path.substr(0, slash + 1));
  if (!own_folder_.is_open()) fail_to_write(errno);
  folder_ = own_folder_.number();
  remove_abandoned_files(own_folder_);
  make_temporary(to.exists ? 0600 : 0666);
  if (to.exists) final_mode_ = take_over(file_, to.old);
}

FileWriter::FileWriter(const FileDescriptor& folder, std::string name, std::string path)
    : path_(std::move(path)),
      folder_(folder.number()),
      name_(std::move(name)),
      waits_for_disk_(false) {
  make_temporary(0600);
}

void FileWriter::make_temporary(unsigned mode) {
  constexpr int max_tries = 100;
  for (int i = 0; i < max_tries; ++i) {
    temporary_name_ = new_temporary_name();
    file_ = FileDescriptor(
        openat(folder_, temporary_name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!file_.is_open() && errno != EEXIST) fail_to_write(errno);
    // Between the two calls another process may take the file for one that nobody writes.
    if (file_.is_open() && keep_temporary(file_)) return;
  }
  fail_to_write(EEXIST);
}

FileWriter::~FileWriter() {
  if (file_.is_open()) unlinkat(folder_, temporary_name_.c_str(), 0);
}

void FileWriter::write(std::span<const std::byte> data) {
  if (!waiting_.empty()) {
    const size_t count = std::min(data.size(), piece_bytes - waiting_.size());
    waiting_.insert(waiting_.end(), data.begin(), data.begin() + static_cast<ptrdiff_t>(count));
    data = data.subspan(count);
    if (waiting_.size() < piece_bytes) return;
    write_now(waiting_);
    waiting_.clear();
  }
  const size_t whole = data.size() - data.size() % piece_bytes;
  write_now(data.first(whole));
  waiting_.assign(data.begin() + static_cast<ptrdiff_t>(whole), data.end());
}

void FileWriter::write_now(std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t written = ::write(file_.number(), data.data(), data.size());
    if (written < 0 && errno != EINTR) fail_to_write(errno);
    if (written > 0) data = data.subspan(static_cast<size_t>(written));
  }
}

void FileWriter::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void FileWriter::commit() {
  ensure(file_.is_open(), "{} is committed twice", path_);
  write_now(waiting_);
  waiting_.clear();
  // A file system that has no such modes is let off; the file is the user's alone then.
  if (final_mode_ >= 0) static_cast<void>(fchmod(file_.number(), static_cast<mode_t>(final_mode_)));
  if (waits_for_disk_ && fsync(file_.number()) != 0) fail_to_write(errno);
  if (renameat(folder_, temporary_name_.c_str(), folder_, name_.c_str()) != 0) fail_to_write(errno);
  file_ = FileDescriptor();
  // The rename itself must reach the disk; a file system that cannot sync folders is let off.
  if (waits_for_disk_) fsync(folder_);
}

void FileWriter::fail_to_write(int error_number) const {
  fail({}, "cannot write {}: {}", path_, describe(error_number));
}

void write_file(const std::string& path, std::span<const std::byte> data) {
  FileWriter file(path);
  file.write(data);
  file.commit();
}

std::vector<std::string> names_in(const FileDescriptor& folder) {
  struct CloseFolder {
    void operator()(DIR* opened) const { closedir(opened); }
  };
  std::vector<std::string> names;
  // Opened anew, because reading moves on in what is open.
  const int copy = openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseFolder> opened(copy < 0 ? nullptr : fdopendir(copy));
  if (!opened) {
    if (copy >= 0) close(copy);
    return names;
  }
  while (const dirent* entry = readdir(opened.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

bool is_name_under_construction(std::string_view name) {
  if (name.size() != temporary_prefix.size() + temporary_digits + temporary_suffix.size())
    return false;
  const std::string_view digits = name.substr(temporary_prefix.size(), temporary_digits);
  return name.starts_with(temporary_prefix) && name.ends_with(temporary_suffix) &&
         digits.find_first_not_of("0123456789abcdef") == digits.npos;
}

void remove_abandoned_files(const FileDescriptor& folder) {
  for (const std::string& name : names_in(folder)) {
    if (!is_name_under_construction(name)) continue;
    // Open for writing: some network file systems lock nothing else.
    const FileDescriptor file(openat(folder.number(), name.c_str(),
                                     O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status {};
    const bool is_ours = file.is_open() && fstat(file.number(), &status) == 0 &&
                         S_ISREG(status.st_mode) && status.st_uid == geteuid();
    if (is_ours && lock(file)) unlinkat(folder.number(), name.c_str(), 0);
  }
}

}  // namespace croze
