#include "croze/base/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "croze/base/error.h"

namespace croze {

// Nothing at the path can be waited for: a FIFO without a reader is not opened at all.
AppendFile::AppendFile(std::string path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666)) {
  check(file_.is_open(), "cannot write {}: {}", path_, std::strerror(errno));
  struct stat status {};
  check(::fstat(file_.number(), &status) == 0 && S_ISREG(status.st_mode),
        "cannot write {}: it is no regular file", path_);
  check(::ftruncate(file_.number(), 0) == 0, "cannot write {}: {}", path_, std::strerror(errno));
}

std::optional<AppendFile> AppendFile::create(std::string path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  check(file.is_open() || errno == EEXIST, "cannot write {}: {}", path, std::strerror(errno));
  if (!file.is_open()) return std::nullopt;
  return AppendFile(std::move(path), std::move(file));
}

void AppendFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    check(written > 0, "cannot write {}: {}", path_, std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace croze
