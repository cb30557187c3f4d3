// cache_tally.cpp -- 64-bit numbers, one behind the other.
#include "croze/device/cache_tally.h"

#include <fcntl.h>
#include <unistd.h>

#include <span>

#include "croze/base/checked.h"
#include "croze/base/error.h"

namespace croze {
namespace {

constexpr const char* tally_name = "sizes";
// Read in less than a millisecond.
constexpr std::int64_t most_numbers = 1 << 16;

}  // namespace

bool add_to_tally(const FileDescriptor& folder, std::int64_t bytes) {
  const FileDescriptor file(openat(folder.number(), tally_name,
                                   O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return file.is_open() && write(file.number(), &bytes, sizeof(bytes)) == sizeof(bytes);
}

std::optional<std::int64_t> read_tally(const FileDescriptor& folder) {
  try {
    const MappedFile file(open_file(folder, tally_name, tally_name), tally_name);
    ByteReader numbers = file.reader();
    constexpr std::int64_t most_bytes = most_numbers * 8;
    if (numbers.remaining() > most_bytes || numbers.remaining() % 8 != 0) return {};
    std::int64_t sum = 0;
    while (!numbers.at_end()) {
      const auto bytes = numbers.read<std::int64_t>();
      if (bytes < 0) return {};
      sum = checked_add(sum, bytes);
    }
    return sum;
  } catch (const Error&) {
    return {};
  }
}

void begin_tally(const FileDescriptor& folder, std::int64_t bytes, const std::string& path) {
  FileWriter file(folder, tally_name, path);
  file.write(std::as_bytes(std::span(&bytes, 1)));
  file.commit();
}

}  // namespace croze
