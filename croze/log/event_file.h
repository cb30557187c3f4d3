// event_file.h -- an event file that may still be growing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/base/file.h"
#include "croze/log/event.h"

namespace croze::logs {

class EventFile {
 public:
  // Throws Error if the file cannot be opened, and for all that is no regular file.
  explicit EventFile(std::string path);

  // Appends the events that were written since the last call, as far as `max_bytes` of the file go,
  // or one event that is longer.  Returns whether there may be more.  Throws Error where the file
  // is damaged or has become shorter; what stands before that has been appended, and nothing comes
  // after it.
  bool read_more(std::vector<Event>& events, std::int64_t max_bytes = 4 << 20);

  const std::string& path() const { return path_; }

 private:
  std::vector<std::byte> bytes_from(std::int64_t offset, std::int64_t count) const;

  std::string path_;
  FileDescriptor file_;
  std::int64_t offset_ = 0;  // of the first record that was not read
};

// Whether a file has the name of an event file.
bool is_event_file_name(std::string_view name);

}  // namespace croze::logs
