// npy_target.cpp -- libFuzzer: any bytes are an array, an archive of arrays, or an Error.
#include "croze/base/error.h"
#include "croze/io/npy.h"
#include "libfuzzer/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const croze::test::MemoryFile file(data, size);
  try {
    croze::load_npy(file.path());
  } catch (const croze::Error&) {
  }
  try {
    croze::load_npz(file.path());
  } catch (const croze::Error&) {
  }
  return 0;
}
