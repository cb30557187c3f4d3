#include "croze/log/event_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "croze/base/error.h"
#include "croze/log/record_frame.h"

namespace croze::logs {

EventFile::EventFile(std::string path) : path_(std::move(path)), file_(open_file(path_)) {}

// Less where the file ends.
std::vector<std::byte> EventFile::bytes_from(std::int64_t offset, std::int64_t count) const {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t more = ::pread(file_.number(), bytes.data() + have, bytes.size() - have,
                                 offset + static_cast<std::int64_t>(have));
    if (more < 0 && errno == EINTR) continue;
    check(more >= 0, "cannot read {}: {}", path_, std::strerror(errno));
    if (more == 0) break;
    have += static_cast<std::size_t>(more);
  }
  bytes.resize(have);
  return bytes;
}

bool EventFile::read_more(std::vector<Event>& events, std::int64_t max_bytes) {
  struct stat status {};
  check(::fstat(file_.number(), &status) == 0, "cannot read {}: {}", path_, std::strerror(errno));
  const std::int64_t size = status.st_size;
  check(size >= offset_, "{} has become shorter than what was read of it", path_);
  const std::int64_t rest = size - offset_;
  std::vector<std::byte> bytes = bytes_from(offset_, std::min(rest, max_bytes));
  const std::int64_t first = frame_size(bytes, path_);
  if (first > rest) return false;  // it is being written
  if (first > std::ssize(bytes)) bytes = bytes_from(offset_, first);
  const std::int64_t read = read_events(bytes, path_, events);
  offset_ += read;
  return read > 0 && offset_ < size;
}

bool is_event_file_name(std::string_view name) {
  return name.find("tfevents") != std::string_view::npos;
}

}  // namespace croze::logs
