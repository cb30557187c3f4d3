// dependencies.h -- internal to backends/opencl/: which commands of a queue that keeps no order
// have to be done before another one begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace croze::opencl {

// Bytes of some memory that a command reads, or also writes.  The host's memory is null, and its
// bytes have their addresses.
struct Access {
  const void* memory = nullptr;
  std::int64_t begin = 0, end = 0;
  bool writes = true;
};

// Commands have the numbers that who gives them to the queue counts them by.
class Dependencies {
 public:
  // The commands noted that touch the same bytes, one of the two writing them; in order.
  std::vector<std::size_t> of(std::span<const Access> accesses) const;
  void note(std::size_t command, std::span<const Access> accesses);
  // All commands are done.
  void forget() { noted_.clear(); }

 private:
  struct Noted {
    Access access;
    std::size_t command = 0;
  };
  std::unordered_map<const void*, std::vector<Noted>> noted_;  // by memory
};

}  // namespace croze::opencl
