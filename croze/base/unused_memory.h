// unused_memory.h -- memory that was allocated, is free, and waits in the process.
#pragma once

namespace croze {

// Gives what malloc() keeps of freed memory back to the system, where it can be asked to: after
// work that takes much more for a while than what stays of it.
void return_unused_memory() noexcept;

}  // namespace croze
