// onnx_target.cpp -- libFuzzer: any bytes are a model or an Error.
#include "croze/base/error.h"
#include "croze/io/onnx/model.h"
#include "libfuzzer/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const croze::test::MemoryFile file(data, size);
  try {
    const croze::onnx::Model model(file.path());
    model.summary();
  } catch (const croze::Error&) {
  }
  using croze::onnx::Recorded;
  for (const Recorded kind : {Recorded::Tensor, Recorded::Sequence, Recorded::Optional}) {
    try {
      croze::onnx::load_recorded(file.path(), kind);
    } catch (const croze::Error&) {
    }
  }
  return 0;
}
