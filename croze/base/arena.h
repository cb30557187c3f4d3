// Bump allocation for objects that die together.
//
// Memory comes in chunks of a fixed size, each aligned to that size and opening with a pointer to
// the arena's owner.  The owner of any object is therefore one mask and one load away, and objects
// need not store it: this is how a node of a graph finds its graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace croze {

class Arena {
 public:
  static constexpr int64_t chunk_bytes = 64 * 1024;

  // `owner` is what owner_of() returns for every pointer from this arena; it is not used otherwise.
  explicit Arena(void* owner) : owner_(owner) {}
  ~Arena() { clear(); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Uninitialised memory that lives as long as the arena.  `alignment` is a power of two up to 64.
  void* allocate(int64_t bytes, int64_t alignment = 8) {
    uintptr_t start =
        (next_ + static_cast<uintptr_t>(alignment) - 1) & ~(static_cast<uintptr_t>(alignment) - 1);
    if (start + static_cast<uintptr_t>(bytes) > end_)
      return allocate_in_new_chunk(bytes, alignment);
    next_ = start + static_cast<uintptr_t>(bytes);
    bytes_used_ += bytes;
    return reinterpret_cast<void*>(start);
  }

  // An object that is never destroyed, only forgotten.
  template <typename T, typename... Args>
  T* create(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }

  // Room for `count` objects, uninitialised.
  template <typename T>
  T* allocate_array(int64_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    return static_cast<T*>(allocate(count * static_cast<int64_t>(sizeof(T)), alignof(T)));
  }

  // The owner of the arena that `object` came from.  `object` points where allocate() returned, or
  // anywhere within the first chunk_bytes of a larger allocation.
  static void* owner_of(const void* object) {
    uintptr_t chunk =
        reinterpret_cast<uintptr_t>(object) & ~static_cast<uintptr_t>(chunk_bytes - 1);
    return *reinterpret_cast<void* const*>(chunk);
  }

  // Frees everything.
  void clear() noexcept;

  // Bytes handed out, and bytes taken from the system for them.
  int64_t bytes_used() const { return bytes_used_; }
  int64_t bytes_reserved() const { return bytes_reserved_; }

 private:
  void* allocate_in_new_chunk(int64_t bytes, int64_t alignment);
  void* allocate_oversize(int64_t bytes);
  std::byte* add_block(int64_t bytes);
  void open_chunk(std::byte* chunk);

  void* owner_;
  uintptr_t next_ = 0;              // first free byte of the open chunk
  uintptr_t end_ = 0;               // end of the open chunk
  std::byte* spare_ = nullptr;      // chunks of the newest block that are not open yet ...
  std::byte* spare_end_ = nullptr;  // ... end here
  int64_t block_chunks_ = 1;        // size of the next block; grows with the arena
  int64_t bytes_used_ = 0;
  int64_t bytes_reserved_ = 0;
  std::vector<std::byte*> blocks_;
};

}  // namespace croze
