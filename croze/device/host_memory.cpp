// host_memory.cpp -- aligned allocation and checked copies.
#include "croze/device/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "croze/base/checked.h"
#include "croze/base/error.h"

namespace croze {

namespace {

constexpr std::int64_t scratch_alignment = 64;
// Of the memory of blocks, what a thread keeps for the next one.
constexpr std::int64_t most_kept = std::int64_t{32} << 20;
// That of malloc: what lies before an aligned address has room for a header.
constexpr std::int64_t least_alignment = 16;
// A masked access may reach so far beyond the end, though its mask leaves those bytes alone. Where
// they lie in a page that nobody has touched, the processor looks each time whether it must fault:
// hundreds of cycles for each access, for ever, since no access ever touches that page.
constexpr std::int64_t widest_vector = 64;
// Of x86-64, and of arm64 where small ones have 4 KiB.
constexpr std::int64_t huge_page = std::int64_t{2} << 20;

// Stands before the memory.
struct Header {
  void* block;  // of malloc
  std::int64_t bytes;
};
static_assert(sizeof(Header) <= least_alignment);

// Asks the system for huge pages, which it may offer only to those who ask: fewer faults where
// memory is fresh, and fewer entries of the TLB.
void ask_for_huge_pages(void* address, std::int64_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(address, static_cast<std::size_t>(bytes - bytes % huge_page), MADV_HUGEPAGE);
#endif
}

Header& header_of(void* address) { return static_cast<Header*>(address)[-1]; }

// Memory of a thread, as large as the largest that was asked for.
class Scratch {
 public:
  Scratch() = default;
  ~Scratch() { release_host(memory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* grown_to(std::int64_t bytes, std::string_view device) {
    if (memory_.bytes < bytes) {
      release_host(std::exchange(memory_, {}));
      memory_ = allocate_host(bytes, scratch_alignment, device);
    }
    return memory_.handle;
  }

 private:
  Memory memory_;
};

}  // namespace

Memory allocate_host(std::int64_t bytes, std::int64_t alignment, std::string_view device) {
  check(bytes >= 0 && bytes <= address_space, "{}: cannot allocate {} bytes", device, bytes);
  const bool has_huge_pages = bytes >= huge_page;
  alignment = std::max(alignment, has_huge_pages ? huge_page : least_alignment);
  // Not aligned_alloc: that of glibc before 2.38 leaves freed blocks of the same size unused, so
  // that a loop which allocates and frees grows for ever.
  void* block = std::malloc(static_cast<std::size_t>(alignment + bytes + widest_vector));
  check(block != nullptr, "{}: out of memory: cannot allocate {} bytes", device, bytes);
  const auto after =
      reinterpret_cast<std::uintptr_t>(block) + static_cast<std::uintptr_t>(alignment);
  void* address = reinterpret_cast<void*>(after - after % static_cast<std::uintptr_t>(alignment));
  header_of(address) = {block, bytes};  // touches what lies before, too
  if (has_huge_pages) ask_for_huge_pages(address, bytes);
  static_cast<std::byte*>(address)[bytes + widest_vector - 1] = {};
  return {.handle = address, .bytes = bytes};
}

void release_host(Memory memory) noexcept {
  if (memory.handle) std::free(header_of(memory.handle).block);
}

std::int64_t host_capacity(Memory memory) noexcept {
  return memory.handle ? header_of(memory.handle).bytes : 0;
}

void* thread_scratch(std::int64_t bytes, std::string_view device) {
  thread_local Scratch scratch;
  return scratch.grown_to(bytes, device);
}

BlockMemory::BlockMemory(std::int64_t bytes) {
  thread_local Scratch scratch;
  if (bytes <= most_kept) {
    address_ = static_cast<std::byte*>(scratch.grown_to(bytes, "a thread"));
  } else {
    own_ = allocate_host(bytes, scratch_alignment, "a thread");
    address_ = static_cast<std::byte*>(own_.handle);
  }
}

std::byte* host_bytes(const MemoryView& view) {
  ensure(view.offset >= 0 && view.bytes >= 0 && view.offset <= view.memory.bytes - view.bytes,
         "a view of bytes {} to {} leaves its memory of {} bytes", view.offset,
         view.offset + view.bytes, view.memory.bytes);
  return static_cast<std::byte*>(view.memory.handle) + view.offset;
}

void* kernel_address(const MemoryView& view) {
  alignas(64) static std::byte nothing[64];
  return view.bytes == 0 ? nothing : host_bytes(view);
}

void copy_to_host_memory(const MemoryView& to, std::span<const std::byte> from) {
  std::byte* target = host_bytes(to);
  ensure(to.bytes == static_cast<std::int64_t>(from.size()), "copy of {} bytes to {} bytes",
         from.size(), to.bytes);
  if (!from.empty()) std::memcpy(target, from.data(), from.size());
}

void copy_from_host_memory(std::span<std::byte> to, const MemoryView& from) {
  const std::byte* source = host_bytes(from);
  ensure(from.bytes == static_cast<std::int64_t>(to.size()), "copy of {} bytes to {} bytes",
         from.bytes, to.size());
  if (!to.empty()) std::memcpy(to.data(), source, to.size());
}

}  // namespace croze
