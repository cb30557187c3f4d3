// small_blocks.h -- memory for LLVM, which asks for a hundred thousand small pieces a second.
//
// A tenth of the time that a kernel takes to compile is malloc and free of the C library: it
// counts, merges and splits what LLVM soon wants again in the same sizes, and threads that compile
// side by side wait for each other.  Here each thread keeps what it frees by size and gives it out
// again, whoever had it first; nothing is merged and nothing goes back to the system.  What is
// large is left to the C library.
#pragma once

#include <cstddef>

namespace croze::small_blocks {

inline constexpr std::size_t most_bytes = 8 << 10;

// So many bytes, aligned as malloc's, of which there are at most most_bytes; null if there is no
// memory.
void* allocate(std::size_t bytes);

// Whether allocate() has given it.  Any pointer may be asked about.
bool owns(const void* block);

// Of what allocate() gave, on whichever thread: how large it is, at least what was asked for; and
// that it is not wanted any more.
std::size_t bytes_of(const void* block);
void release(void* block);

}  // namespace croze::small_blocks
