// memory.h -- how much memory a test uses.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace croze::test {

// What of the process lies in memory now, in bytes.
inline std::int64_t resident_bytes() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;  // the second number
  return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace croze::test
