// machine.h -- runs decoded programs.
#pragma once

#include <span>
#include <string>

#include "croze/backends/interp/bytecode.h"
#include "croze/device/device.h"

namespace croze::interp {

// A parameter's memory, as the host sees it.
struct View {
  std::byte* base;
  std::int64_t bytes;
};

// Runs all tasks, or all groups of items, in order.  The items of a group take turns: each runs
// alone until the next barrier, so a program that lacks a barrier computes something else than it
// would with one.  Throws Error, naming kernel, buffer and index, where an access leaves its
// buffer.
void run(const Code& code, const ProgramInfo& info, std::span<const View> buffers,
         std::span<const std::int64_t> variables);

}  // namespace croze::interp
