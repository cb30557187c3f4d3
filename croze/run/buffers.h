// buffers.h -- the storage behind Buffer nodes: a process-wide table from buffer id to memory.
//
// A Buffer node is a name; its memory is allocated when first written.  The tensor graph's
// collector tells the table when a Buffer node has died (release_buffer).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device/device.h"
#include "graph/graph.h"

namespace croze {

// A new Buffer node with an id of its own and no memory yet.
UOp new_buffer(Graph& graph, DType dtype, std::int64_t elements, int device);

// A Buffer over memory of the host that `owner` keeps alive.  On devices that see host memory
// nothing is copied; on others the bytes are copied in now.
UOp adopt_buffer(Graph& graph, DType dtype, std::span<const std::byte> bytes,
                 std::shared_ptr<const void> owner, int device);

// Host copies of the whole buffer.  Sizes must match.  Reading a buffer never written gives zeros.
void write_buffer(UOp buffer, std::span<const std::byte> bytes);
void read_buffer(UOp buffer, std::span<std::byte> bytes);

// The memory of the buffer, allocated if need be.
MemoryView buffer_memory(UOp buffer);

// Frees the memory of a Buffer that nothing refers to any more.  Unknown ids are ignored.
void release_buffer(std::int64_t buffer_id) noexcept;

// A Buffer of one UInt64 holding a fresh random key: the seed mixed with a counter that advances
// with each call.  A captured step gives such buffers a new key at each replay
// (refresh_random_key).
UOp new_random_key(Graph& graph, int device);
bool is_random_key(std::int64_t buffer_id);
void refresh_random_key(UOp buffer);
void seed_random(std::uint64_t seed);  // restarts the counter

struct MemoryUse {
  std::int64_t bytes = 0;  // now, in buffers and arenas, all devices
  std::int64_t peak_bytes = 0;
  std::int64_t buffers = 0;
};
MemoryUse memory_use();

}  // namespace croze
