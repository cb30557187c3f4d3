// llvm_stream.h -- results that are written past the caches.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/render/program.h"

namespace croze {

// The slots of buffers that the program writes by whole cache lines, reads nothing of, and that
// are known to have at least so many bytes.  None if that is 0.
std::vector<std::int64_t> streamed_slots(const LinearProgram& program, std::int64_t least_bytes);

}  // namespace croze
