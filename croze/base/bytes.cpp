// Bounded reads, and the POSIX calls behind mapped and atomically replaced files.
#include "base/bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/checked.h"
#include "base/error.h"

namespace croze {
namespace {

std::string describe(int error_number) { return std::generic_category().message(error_number); }

// Closes a descriptor at the end of a scope.
struct Descriptor {
  int number;
  explicit Descriptor(int opened) : number(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

int open_for_reading(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check(descriptor >= 0, "cannot open {}: {}", path, describe(errno));
  return descriptor;
}

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

std::span<const std::byte> ByteReader::bytes(int64_t count) {
  if (count < 0 || count > remaining()) {
    fail_here(fmt::format("{} bytes wanted where {} remain", count, remaining()));
  }
  auto result = data_.subspan(static_cast<size_t>(offset_), static_cast<size_t>(count));
  offset_ += count;
  return result;
}

std::string_view ByteReader::text(int64_t count) {
  auto raw = bytes(count);
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

std::span<const std::byte> ByteReader::elements(int64_t count, int64_t element_bytes) {
  if (count < 0) fail_here(fmt::format("{} elements wanted", count));
  return bytes(checked_mul(count, element_bytes));
}

void ByteReader::seek(int64_t offset) {
  if (offset < 0 || offset > static_cast<int64_t>(data_.size())) {
    fail_here(fmt::format("offset {} is outside the {} bytes", offset, data_.size()));
  }
  offset_ = offset;
}

void ByteReader::fail_here(std::string_view problem) const {
  fail({}, "{}: {} (at offset {})", name_, problem, offset_);
}

MappedFile::MappedFile(const std::string& path)
    : MappedFile(Descriptor(open_for_reading(path)).number, path) {}

MappedFile::MappedFile(int descriptor, std::string path) : path_(std::move(path)) {
  struct stat status {};
  check(fstat(descriptor, &status) == 0, "cannot read {}: {}", path_, describe(errno));
  check(S_ISREG(status.st_mode), "cannot read {}: it is not a regular file", path_);
  if (status.st_size == 0) return;
  auto size = static_cast<size_t>(status.st_size);
  // Writable, because tensors may stand on it: what they write is a private copy of the page.
  void* start =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
  check(start != MAP_FAILED, "cannot map {}: {}", path_, describe(errno));
  data_ = {static_cast<const std::byte*>(start), size};
}

MappedFile MappedFile::inside(const std::string& folder, std::string_view name) {
  const std::string path = fmt::format("{}/{}", folder, name);
  check(!name.empty() && name.find('\0') == name.npos, "{} is not a name of a file", path.c_str());
  int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Each part of the name is opened from the folder before it, so nothing can be swapped under us.
  for (size_t begin = 0; begin <= name.size();) {
    check(descriptor >= 0, "cannot open {}: {}", path, describe(errno));
    const Descriptor above(descriptor);
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string part(name.substr(begin, end - begin));
    check(!part.empty() && part != "..", "{}: the name must stay inside its folder", path);
    const int kind = end < name.size() ? O_DIRECTORY : O_NONBLOCK;
    descriptor = openat(above.number, part.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind);
    begin = end + 1;
  }
  const int error_number = errno;
  check(descriptor >= 0, "cannot open {}: {}", path,
        error_number == ELOOP ? "it is a symbolic link" : describe(error_number));
  const Descriptor file(descriptor);
  struct stat status {};
  check(fstat(file.number, &status) == 0, "cannot read {}: {}", path, describe(errno));
  check(S_ISREG(status.st_mode), "{} is not a regular file", path);
  check(status.st_nlink == 1, "{} has other names elsewhere (it is a hard link)", path);
  return MappedFile(file.number, path);
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

FileWriter::FileWriter(std::string path) : path_(std::move(path)) {
  // The number tells apart writers of one process, and this from what a crash left behind.
  for (int number = 0; descriptor_ < 0; ++number) {
    temporary_path_ = fmt::format("{}.{}-{}.tmp", path_, getpid(), number);
    descriptor_ = open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) fail_to_write(errno);
  }
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_path_.c_str());
}

void FileWriter::write(std::span<const std::byte> data) {
  while (!data.empty()) {
    ssize_t written = ::write(descriptor_, data.data(), data.size());
    if (written < 0 && errno != EINTR) fail_to_write(errno);
    if (written > 0) data = data.subspan(static_cast<size_t>(written));
  }
}

void FileWriter::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void FileWriter::commit() {
  ensure(descriptor_ >= 0, "{} is committed twice", path_);
  if (fsync(descriptor_) != 0) fail_to_write(errno);
  if (rename(temporary_path_.c_str(), path_.c_str()) != 0) fail_to_write(errno);
  close(std::exchange(descriptor_, -1));
  // The rename itself must reach the disk; a file system that cannot sync folders is let off.
  const Descriptor folder(open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.number >= 0) fsync(folder.number);
}

void FileWriter::fail_to_write(int error_number) const {
  fail({}, "cannot write {}: {}", path_, describe(error_number));
}

void write_file(const std::string& path, std::span<const std::byte> data) {
  FileWriter file(path);
  file.write(data);
  file.commit();
}

}  // namespace croze
