// idx_target.cpp -- libFuzzer: any bytes are an array, packed or not, or an Error.
#include "croze/base/error.h"
#include "croze/io/idx.h"
#include "libfuzzer/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const croze::test::MemoryFile file(data, size);
  try {
    croze::read_idx(file.path());
  } catch (const croze::Error&) {
  }
  return 0;
}
