// pytorch_target.cpp -- libFuzzer: any bytes are a checkpoint of PyTorch or an Error.
#include "croze/base/error.h"
#include "croze/io/pytorch/pytorch.h"
#include "libfuzzer/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const croze::test::MemoryFile file(data, size);
  try {
    croze::load_pytorch(file.path());
  } catch (const croze::Error&) {
  }
  return 0;
}
