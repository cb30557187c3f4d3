// buffers.h -- the storage behind Buffer nodes: a process-wide table from buffer id to memory.
//
// A Buffer node is a name; its memory is allocated when first written.  The tensor graph's
// collector tells the table when a Buffer node has died (release_buffer).
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/device/device.h"
#include "croze/graph/graph.h"
#include "croze/run/statistics.h"

namespace croze {

// A new Buffer node with an id of its own and no memory yet.
UOp new_buffer(Graph& graph, DType dtype, std::int64_t elements, int device);

// A Buffer that stands for others and never has memory.  Throws Error where its value is asked for.
UOp new_stand_in(Graph& graph, DType dtype, std::int64_t elements, int device);
bool is_stand_in(std::int64_t buffer_id);

// A Buffer over memory of the host that `owner` keeps alive.  On devices that see host memory
// nothing is copied; on others the bytes are copied in now.
UOp adopt_buffer(Graph& graph, DType dtype, std::span<const std::byte> bytes,
                 std::shared_ptr<const void> owner, int device);

// Host copies of the whole buffer.  Sizes must match.  Reading a buffer never written gives zeros.
void write_buffer(UOp buffer, std::span<const std::byte> bytes);
void read_buffer(UOp buffer, std::span<std::byte> bytes);

// The memory of a buffer.  It stays where it is for as long as `owner` is held, even if the buffer
// is released meanwhile.
struct HeldMemory {
  MemoryView view;
  std::shared_ptr<const void> owner;
};

// The memory of the buffer, allocated if need be.  Throws Error if there is none left.
HeldMemory buffer_memory(UOp buffer);

// What a thread is about to do with the memory of some buffers, in its place among what all threads
// do: as if each access happened at once when it is made.  It comes after the writes of what it
// reads or writes, and after the reads of what it writes; all else is free to go on beside it.
class MemoryAccess {
 public:
  struct Use {
    UOp buffer;
    bool writes = false;
  };

  // Allocates memory that was never written.  Throws Error if there is none left.
  explicit MemoryAccess(std::span<const Use> uses);
  // Ends it.  If end() was not called, what it was to write is lost: see wait().
  ~MemoryAccess();
  MemoryAccess(MemoryAccess&&) noexcept = default;
  MemoryAccess& operator=(MemoryAccess&&) = delete;

  // Of the buffers, in order.
  std::span<const HeldMemory> memory() const { return memory_; }

  // Returns when it is this one's turn.  Throws what a thread failed with that was to write to one
  // of the buffers before.
  void wait() const;
  void end();
  void fail(std::exception_ptr failure);

 private:
  friend struct BufferEntry;
  struct State;
  struct Before {
    std::shared_ptr<const State> state;
    bool writes = false;
  };

  std::vector<HeldMemory> memory_;
  std::vector<Before> before_;
  std::shared_ptr<State> state_;
};

// read_buffer() in two steps: the first takes its place among what is done with the buffer, the
// second needs no graph.
class BufferRead {
 public:
  explicit BufferRead(UOp buffer);
  void finish(std::span<std::byte> bytes);
  // Or else where the bytes stand, if the host sees them, which stay there as long as that is held;
  // null if it does not, and then finish() is still to come.
  std::shared_ptr<const std::byte> finish_in_place();

 private:
  int device_;
  std::optional<MemoryAccess> access_;  // none if the buffer was never written
};

// The memory of the Buffer under a new id, which the old one loses.
UOp renamed_buffer(UOp buffer);

// What people call the contents: "blocks.0.query.weight".  The end of the name that a Buffer has
// does not replace it, so that a part of a model may be named alone later.  Unknown ids are
// ignored.
void name_buffer(std::int64_t buffer_id, std::string_view name);
// "" if it has none.
std::string name_of_buffer(std::int64_t buffer_id);

// Lets go of the memory of a Buffer that nothing refers to any more.  Unknown ids are ignored.
void release_buffer(std::int64_t buffer_id) noexcept;

// Buffers that were let go of before anything else came to know their nodes, for results of later
// runs: to make and to collect nodes and entries of the table takes longer than a small kernel.
// What they take counts as free.  The nodes are those of one graph, and stay until it is collected.
class SpareBuffers {
 public:
  // Lets go of the memory, unless it is small; of the node of the oldest, too, where enough are
  // there.
  void put(UOp buffer) noexcept;
  // One whose contents may be anything; null if there is none like that.
  UOp take(DType dtype, std::int64_t elements, int device);
  // To be called before the graph is collected, whose collector lets go of them.
  void clear() { buffers_.clear(); }

 private:
  std::vector<UOp> buffers_;
};

// A Buffer of one UInt64 holding a fresh random key: the seed mixed with a counter that advances
// with each call.  A captured step gives such buffers a new key at each replay
// (refresh_random_key).  random_state.h reads and sets seed and counter.
UOp new_random_key(Graph& graph, int device);
bool is_random_key(std::int64_t buffer_id);
// The number that the next such buffer would hold.
std::uint64_t fresh_random_key();
void refresh_random_key(UOp buffer);

// Of one device; memory_use() of statistics.h is of all together.
MemoryUse memory_use(int device);

}  // namespace croze
