// gguf_target.cpp -- libFuzzer: any bytes are metadata and tensors, whose decoding can be recorded,
// or an Error.
#include "croze/base/error.h"
#include "croze/io/gguf/gguf.h"
#include "libfuzzer/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const croze::test::MemoryFile file(data, size);
  try {
    for (const croze::GgufTensor& t : croze::load_gguf(file.path()).tensors) t.decoded();
  } catch (const croze::Error&) {
  }
  return 0;
}
