// memory_file.h -- bytes as a file that has a path and is nowhere on disk.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace croze::test {

class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("input", 0)) {
    while (size > 0) {
      const ssize_t written = write(descriptor_, data, size);
      if (written <= 0) break;
      data += written;
      size -= static_cast<std::size_t>(written);
    }
  }
  explicit MemoryFile(std::string_view bytes)
      : MemoryFile(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()) {}
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace croze::test
