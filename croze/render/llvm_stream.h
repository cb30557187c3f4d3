// llvm_stream.h -- results that are written past the caches.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/render/program.h"

namespace croze {

// The slots of large buffers that the program writes by whole cache lines and reads nothing of, if
// it is known to access at least as much as the last cache holds.  None if that is 0.
std::vector<std::int64_t> streamed_slots(const LinearProgram& program,
                                         std::int64_t last_cache_bytes);

}  // namespace croze
