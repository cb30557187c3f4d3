// machine.h -- runs decoded kernels: all groups, one after the other.
#pragma once

#include <span>

#include "croze/backends/ptx_interp/code.h"
#include "croze/device/device.h"

namespace croze::ptx_interp {

// A parameter's memory, as the host sees it.
struct View {
  std::byte* base;
  std::int64_t bytes;
};

// The items of a group take turns: each runs alone until the next barrier, or to an instruction
// that its warp does together.  Throws Error, naming the kernel and the line, where an access
// leaves its buffer or is not aligned; where two items race for shared memory, or read of it what
// nobody wrote; and where items of a group meet at different barriers, or some have ended.
void run(const Code& code, const ProgramInfo& info, std::span<const View> buffers,
         std::span<const std::int64_t> variables);

}  // namespace croze::ptx_interp
