// buffers.cpp -- the storage behind Buffer nodes.
#include "run/buffers.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "base/checked.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/options.h"
#include "run/devices.h"

namespace croze {
namespace {

struct Entry {
  Memory memory;  // null handle: not allocated yet
  std::int64_t bytes = 0;
  int device = 0;
  bool owned = true;  // by this table: released with the entry
  bool random_key = false;
  std::shared_ptr<const void> owner;  // keeps adopted memory alive
};

// Process-wide: named in docs/architecture.md as global state.
struct Table {
  std::mutex mutex;
  std::unordered_map<std::int64_t, Entry> entries;
  std::int64_t next_id = 1;
  std::uint64_t seed = static_cast<std::uint64_t>(Options::integer(Option::Seed));
  std::uint64_t key_counter = 0;
  MemoryUse use;
};

Table& table() {
  static Table& instance = *new Table;  // never destroyed: tensors may outlive any static
  return instance;
}

std::int64_t add_entry(Entry entry) {
  std::lock_guard lock(table().mutex);
  const std::int64_t id = table().next_id++;
  table().entries.emplace(id, std::move(entry));
  table().use.buffers++;
  return id;
}

// Allocates the memory of the entry if it has none.
void materialise(Entry& e) {
  if (e.memory.handle) return;
  e.memory = device(e.device).allocate(std::max<std::int64_t>(e.bytes, 1));
  MemoryUse& use = table().use;
  use.bytes += e.bytes;
  use.peak_bytes = std::max(use.peak_bytes, use.bytes);
}

Entry& entry_of(UOp buffer) {
  auto it = table().entries.find(buffer.buffer_id());
  ensure(it != table().entries.end(), "buffer {} has no storage", buffer.buffer_id());
  return it->second;
}

std::uint64_t fresh_key() {
  std::lock_guard lock(table().mutex);
  return hash_mix(table().seed, ++table().key_counter);
}

}  // namespace

UOp new_buffer(Graph& graph, DType dtype, std::int64_t elements, int device) {
  Entry entry;
  entry.bytes = checked_mul(elements, size_of(dtype));
  entry.device = device;
  return graph.buffer(dtype, add_entry(std::move(entry)), elements, device);
}

UOp adopt_buffer(Graph& graph, DType dtype, std::span<const std::byte> bytes,
                 std::shared_ptr<const void> owner, int index) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  const std::int64_t elements = size / size_of(dtype);
  std::byte* address = const_cast<std::byte*>(bytes.data());
  const MemoryView view{{address, size}, 0, size};
  if (device(index).host_address(view) == address && size > 0) {
    Entry entry{.memory = view.memory,
                .bytes = size,
                .device = index,
                .owned = false,
                .random_key = false,
                .owner = std::move(owner)};
    return graph.buffer(dtype, add_entry(std::move(entry)), elements, index);
  }
  const UOp buffer = new_buffer(graph, dtype, elements, index);
  write_buffer(buffer, bytes);
  return buffer;
}

MemoryView buffer_memory(UOp buffer) {
  std::lock_guard lock(table().mutex);
  Entry& e = entry_of(buffer);
  materialise(e);
  return {e.memory, 0, e.bytes};
}

void write_buffer(UOp buffer, std::span<const std::byte> bytes) {
  const MemoryView view = buffer_memory(buffer);
  ensure(static_cast<std::int64_t>(bytes.size()) == view.bytes,
         "writing {} bytes to a buffer of {}", bytes.size(), view.bytes);
  if (!bytes.empty()) device(buffer.buffer_device()).copy_in(view, bytes);
}

void read_buffer(UOp buffer, std::span<std::byte> bytes) {
  bool written = false;
  {
    std::lock_guard lock(table().mutex);
    written = entry_of(buffer).memory.handle != nullptr;
  }
  if (!written) {
    std::ranges::fill(bytes, std::byte{0});
    return;
  }
  const MemoryView view = buffer_memory(buffer);
  ensure(static_cast<std::int64_t>(bytes.size()) == view.bytes,
         "reading {} bytes of a buffer of {}", bytes.size(), view.bytes);
  if (!bytes.empty()) device(buffer.buffer_device()).copy_out(bytes, view);
}

void release_buffer(std::int64_t buffer_id) noexcept {
  std::lock_guard lock(table().mutex);
  auto it = table().entries.find(buffer_id);
  if (it == table().entries.end()) return;
  Entry& e = it->second;
  if (e.owned && e.memory.handle) {
    device(e.device).release(e.memory);
    table().use.bytes -= e.bytes;
  }
  table().use.buffers--;
  table().entries.erase(it);
}

UOp new_random_key(Graph& graph, int device) {
  Entry entry{
      .memory = {}, .bytes = 8, .device = device, .owned = true, .random_key = true, .owner = {}};
  const UOp buffer = graph.buffer(DType::UInt64, add_entry(std::move(entry)), 1, device);
  refresh_random_key(buffer);
  return buffer;
}

bool is_random_key(std::int64_t buffer_id) {
  std::lock_guard lock(table().mutex);
  auto it = table().entries.find(buffer_id);
  return it != table().entries.end() && it->second.random_key;
}

void refresh_random_key(UOp buffer) {
  const std::uint64_t key = fresh_key();
  write_buffer(buffer, std::as_bytes(std::span(&key, 1)));
}

void seed_random(std::uint64_t seed) {
  std::lock_guard lock(table().mutex);
  table().seed = seed;
  table().key_counter = 0;
}

MemoryUse memory_use() {
  std::lock_guard lock(table().mutex);
  return table().use;
}

}  // namespace croze
