// step_target.cpp -- libFuzzer: any bytes, behind a hash that is right, are the head of a step, or
// an Error.  What a step without kernels does, which is to copy, stays in its memory.
#include "croze/base/error.h"
#include "croze/prepared/prepared_step.h"
#include "libfuzzer/memory_file.h"
#include "support/step_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::int64_t most_memory = 1 << 20;
  const croze::test::StepFile step{{reinterpret_cast<const char*>(data), size}, {}};
  const croze::test::MemoryFile file(step.sealed());
  try {
    const croze::PreparedStep loaded = croze::load_step(file.path());
    const croze::StepSizes sizes = loaded.sizes();
    if (sizes.kernels == 0 && sizes.memory_bytes <= most_memory) loaded.instance().run();
  } catch (const croze::Error&) {
  }
  return 0;
}
