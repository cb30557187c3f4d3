// linked_malloc.cpp -- what malloc and its kin are in croze's own library of LLVM.
//
// The linker (--wrap) has all calls in that library come here, those of the C++ library too, which
// is linked into it; no other code of the process does.  What comes from the C library
// nevertheless, as strdup's results do, or is large or aligned, goes back there.
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "croze/device/llvm/small_blocks.h"

namespace blocks = croze::small_blocks;

extern "C" {

void* __real_malloc(std::size_t bytes);
void __real_free(void* block);
void* __real_calloc(std::size_t count, std::size_t bytes);
void* __real_realloc(void* block, std::size_t bytes);
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
int __real_posix_memalign(void** result, std::size_t alignment, std::size_t bytes);

void* __wrap_malloc(std::size_t bytes) {
  void* const block = bytes <= blocks::most_bytes ? blocks::allocate(bytes) : nullptr;
  return block ? block : __real_malloc(bytes);
}

void __wrap_free(void* block) { blocks::owns(block) ? blocks::release(block) : __real_free(block); }

void* __wrap_calloc(std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  const bool is_small = !__builtin_mul_overflow(count, bytes, &all) && all <= blocks::most_bytes;
  void* const block = is_small ? blocks::allocate(all) : nullptr;
  return block ? std::memset(block, 0, all) : __real_calloc(count, bytes);
}

void* __wrap_realloc(void* block, std::size_t bytes) {
  if (!block) return __wrap_malloc(bytes);
  if (!blocks::owns(block)) return __real_realloc(block, bytes);
  const std::size_t had = blocks::bytes_of(block);
  if (bytes <= had && bytes >= had / 2) return block;
  void* const result = __wrap_malloc(bytes);
  if (!result) return nullptr;
  std::memcpy(result, block, bytes < had ? bytes : had);
  blocks::release(block);
  return result;
}

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (alignment <= alignof(std::max_align_t)) return __wrap_malloc(bytes);
  return __real_aligned_alloc(alignment, bytes);
}

int __wrap_posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
  if (alignment > alignof(std::max_align_t)) return __real_posix_memalign(result, alignment, bytes);
  *result = __wrap_malloc(bytes);
  return *result ? 0 : ENOMEM;
}
}
