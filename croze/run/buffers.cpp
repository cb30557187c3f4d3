// buffers.cpp -- the storage behind Buffer nodes.
#include "croze/run/buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/hash.h"
#include "croze/base/options.h"
#include "croze/run/devices.h"
#include "croze/run/memory_limit.h"
#include "croze/run/random_state.h"
#include "croze/run/trace/recorder.h"

namespace croze {

// Guarded by the mutex of the table.
struct MemoryAccess::State {
  bool is_over = false;
  std::exception_ptr failure;
};

struct BufferEntry {
  using Access = std::shared_ptr<const MemoryAccess::State>;

  Memory memory;  // null handle: not allocated yet
  std::int64_t bytes = 0;
  int device = 0;
  bool owned = true;  // by this table, not adopted
  bool random_key = false;
  bool stands_in = false;
  bool is_spare = false;              // nobody's (SpareBuffers)
  std::shared_ptr<const void> owner;  // keeps the memory alive
  std::string name;                   // "blocks.0.query.weight"; mostly there is none
  std::int64_t traced_id = 0;         // under which a trace knows the memory: the first one

  Access writer;                // the last
  std::vector<Access> readers;  // since then
};

namespace {

using Entry = BufferEntry;

// Process-wide: named in docs/architecture.md as global state.
struct Table {
  std::mutex mutex;
  std::condition_variable access_over;
  std::unordered_map<std::int64_t, Entry> entries;
  std::int64_t next_id = 1;
  RandomState random{.seed = static_cast<std::uint64_t>(Options::integer(Option::Seed))};
  MemoryUse use;  // of all devices
  std::vector<MemoryUse> by_device;

  MemoryUse& use_of(int device) {
    const auto i = static_cast<std::size_t>(device);
    if (i >= by_device.size()) by_device.resize(i + 1);
    return by_device[i];
  }
};

// Counts what was allocated, or let go of.
void count(MemoryUse& use, std::int64_t bytes, std::int64_t buffers) {
  use.bytes += bytes;
  use.peak_bytes = std::max(use.peak_bytes, use.bytes);
  use.buffers += buffers;
}

void count(Table& t, int device, std::int64_t bytes, std::int64_t buffers) {
  count(t.use, bytes, buffers);
  count(t.use_of(device), bytes, buffers);
}

Table& table() {
  static Table& instance = [] {
    tracing::start_as_environment_asks();
    return std::ref(*new Table);  // never destroyed: tensors may outlive any static
  }();
  return instance;
}

std::int64_t add_entry(Entry entry) {
  std::lock_guard lock(table().mutex);
  const std::int64_t id = table().next_id++;
  count(table(), entry.device, 0, 1);
  table().entries.emplace(id, std::move(entry));
  return id;
}

void check_has_value(const Entry& e) {
  check(
      !e.stands_in,
      "a tensor that a function made while it was traced for a loop was used outside of it, where "
      "it has no value: return it from the function");
}

Entry& entry_of(UOp buffer) {
  auto it = table().entries.find(buffer.buffer_id());
  ensure(it != table().entries.end(), "buffer {} has no storage", buffer.buffer_id());
  return it->second;
}

// The entry, whose memory is allocated if it has none.
Entry& materialised(UOp buffer) {
  Entry& e = entry_of(buffer);
  check_has_value(e);
  if (e.memory.handle) return e;
  struct Block {
    Device& device;
    Memory memory;
    ~Block() { device.release(memory); }
  };
  const std::int64_t held = table().use.bytes;
  if (e.bytes > memory_limit() - held) {
    check_memory(e.bytes, held, fmt::format("a buffer on {}", device_name(e.device)));
  }
  Device& d = device(e.device);
  auto block = std::make_shared<Block>(d, d.allocate(std::max<std::int64_t>(e.bytes, 1)));
  e.memory = block->memory;
  e.owner = std::move(block);
  count(table(), e.device, e.bytes, 0);
  e.traced_id = buffer.buffer_id();
  tracing::buffer_allocated(buffer, e.bytes, e.name);
  return e;
}

std::int64_t bytes_of(UOp buffer) {
  return checked_mul(buffer.buffer_elements(), size_of(buffer.dtype()));
}

}  // namespace

UOp new_buffer(Graph& graph, DType dtype, std::int64_t elements, int device) {
  Entry entry;
  entry.bytes = checked_mul(elements, size_of(dtype));
  entry.device = device;
  return graph.buffer(dtype, add_entry(std::move(entry)), elements, device);
}

UOp new_stand_in(Graph& graph, DType dtype, std::int64_t elements, int device) {
  Entry entry;
  entry.bytes = checked_mul(elements, size_of(dtype));
  entry.device = device;
  entry.stands_in = true;
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

HeldMemory buffer_memory(UOp buffer) {
  std::lock_guard lock(table().mutex);
  const Entry& e = materialised(buffer);
  return {{e.memory, 0, e.bytes}, e.owner};
}

void write_buffer(UOp buffer, std::span<const std::byte> bytes) {
  ensure(std::ssize(bytes) == bytes_of(buffer), "writing {} bytes to a buffer of {}", bytes.size(),
         bytes_of(buffer));
  const MemoryAccess::Use use[] = {{buffer, true}};
  MemoryAccess access(use);
  access.wait();
  if (!bytes.empty()) device(buffer.buffer_device()).copy_in(access.memory()[0].view, bytes);
  access.end();
}

void read_buffer(UOp buffer, std::span<std::byte> bytes) { BufferRead(buffer).finish(bytes); }

BufferRead::BufferRead(UOp buffer) : device_(buffer.buffer_device()) {
  {
    std::lock_guard lock(table().mutex);
    check_has_value(entry_of(buffer));
    if (!entry_of(buffer).memory.handle) return;
  }
  const MemoryAccess::Use use[] = {{buffer, false}};
  access_.emplace(use);
}

void BufferRead::finish(std::span<std::byte> bytes) {
  if (!access_) {
    std::ranges::fill(bytes, std::byte{0});
    return;
  }
  const MemoryView& view = access_->memory()[0].view;
  ensure(static_cast<std::int64_t>(bytes.size()) == view.bytes,
         "reading {} bytes of a buffer of {}", bytes.size(), view.bytes);
  access_->wait();
  if (!bytes.empty()) device(device_).copy_out(bytes, view);
  access_->end();
}

std::shared_ptr<const std::byte> BufferRead::finish_in_place() {
  if (!access_) return nullptr;
  const HeldMemory& held = access_->memory()[0];
  const std::byte* const address = device(device_).host_address(held.view);
  if (!address) return nullptr;
  access_->wait();
  access_->end();
  return {held.owner, address};
}

// ---- order ------------------------------------------------------------------------------------

MemoryAccess::MemoryAccess(std::span<const Use> uses) : state_(std::make_shared<State>()) {
  std::lock_guard lock(table().mutex);
  std::vector<Entry*> entries;
  entries.reserve(uses.size());
  memory_.reserve(uses.size());
  for (const Use& use : uses) {
    entries.push_back(&materialised(use.buffer));  // before anybody waits for this
  }
  for (std::size_t i = 0; i < uses.size(); i++) {
    const Use& use = uses[i];
    Entry& e = *entries[i];
    memory_.push_back({{e.memory, 0, e.bytes}, e.owner});
    const bool has_value = e.writer && e.writer->is_over && !e.writer->failure;
    if (e.writer && e.writer != state_ && !has_value) before_.push_back({e.writer, true});
    std::erase_if(e.readers, [](const auto& reader) { return reader->is_over; });
    if (!use.writes) {
      e.readers.push_back(state_);
      continue;
    }
    for (const auto& reader : e.readers) {
      if (reader != state_) before_.push_back({reader, false});
    }
    e.readers.clear();
    e.writer = state_;
  }
}

MemoryAccess::~MemoryAccess() {
  if (!state_) return;
  fail(std::make_exception_ptr(Error("a tensor has no value: computing it was given up")));
}

void MemoryAccess::wait() const {
  std::unique_lock lock(table().mutex);
  for (const Before& b : before_) {
    table().access_over.wait(lock, [&] { return b.state->is_over; });
    if (b.writes && b.state->failure) std::rethrow_exception(b.state->failure);
  }
}

void MemoryAccess::end() { fail(nullptr); }

void MemoryAccess::fail(std::exception_ptr failure) {
  {
    std::lock_guard lock(table().mutex);
    state_->is_over = true;
    state_->failure = std::move(failure);
  }
  table().access_over.notify_all();
  state_ = nullptr;
}

// ---- lifetime ---------------------------------------------------------------------------------

UOp renamed_buffer(UOp buffer) {
  std::int64_t id = 0;
  {
    std::lock_guard lock(table().mutex);
    entry_of(buffer);
    auto entry = table().entries.extract(buffer.buffer_id());
    id = table().next_id++;
    entry.key() = id;
    table().entries.insert(std::move(entry));
  }
  return buffer.graph().buffer(buffer.dtype(), id, buffer.buffer_elements(),
                               buffer.buffer_device());
}

void name_buffer(std::int64_t buffer_id, std::string_view name) {
  std::lock_guard lock(table().mutex);
  const auto it = table().entries.find(buffer_id);
  if (it == table().entries.end() || it->second.name == name) return;
  std::string& known = it->second.name;
  if (known.ends_with(fmt::format(".{}", name))) return;
  known = name;
  if (it->second.traced_id != 0) tracing::buffer_named(it->second.traced_id, name);
}

std::string name_of_buffer(std::int64_t buffer_id) {
  std::lock_guard lock(table().mutex);
  const auto it = table().entries.find(buffer_id);
  return it == table().entries.end() ? "" : it->second.name;
}

namespace {

// Of a buffer that nobody has from now on, or that somebody has again.
void count_again(const Entry& e, int sign) {
  const bool has_own = e.owned && e.memory.handle;
  count(table(), e.device, has_own ? sign * e.bytes : 0, sign);
}

// Leaves the entry of a buffer that nobody has.  Returns what keeps its memory alive, to be let go
// of without the lock.
std::shared_ptr<const void> without_memory(Entry& e) {
  if (!e.is_spare) {
    if (e.owned && e.memory.handle) tracing::buffer_released(e.traced_id);
    count_again(e, -1);
  }
  return std::move(e.owner);
}

// Whether nobody holds the memory, and nothing is under way that wants the contents, or that they
// depend on.
bool is_at_rest(const Entry& e) {
  const auto is_over = [](const auto& access) { return access->is_over; };
  return e.owner.use_count() == 1 && e.writer && e.writer->is_over && !e.writer->failure &&
         std::ranges::all_of(e.readers, is_over);
}

}  // namespace

void release_buffer(std::int64_t buffer_id) noexcept {
  std::shared_ptr<const void> owner;
  std::lock_guard lock(table().mutex);
  auto it = table().entries.find(buffer_id);
  if (it == table().entries.end()) return;
  owner = without_memory(it->second);
  table().entries.erase(it);
}

void SpareBuffers::put(UOp buffer) noexcept {
  constexpr std::size_t most = 8;
  constexpr std::int64_t most_bytes = 256 << 10;  // of memory that is kept with the entry
  // A trace knows memory by the number of its first buffer.
  if (tracing::is_tracing()) return release_buffer(buffer.buffer_id());
  if (buffers_.size() == most) {
    release_buffer(buffers_.front().buffer_id());
    buffers_.erase(buffers_.begin());
  }
  std::shared_ptr<const void> owner;
  std::lock_guard lock(table().mutex);
  const auto it = table().entries.find(buffer.buffer_id());
  if (it == table().entries.end()) return;
  Entry& e = it->second;
  if (e.bytes <= most_bytes && e.owned && e.name.empty() && is_at_rest(e)) {
    count_again(e, -1);
  } else {
    owner = without_memory(e);
    Entry bare;
    bare.bytes = e.bytes;
    bare.device = e.device;
    e = std::move(bare);
  }
  e.is_spare = true;
  buffers_.push_back(buffer);
}

UOp SpareBuffers::take(DType dtype, std::int64_t elements, int device) {
  const auto fits = [&](UOp b) {
    return b.dtype() == dtype && b.buffer_elements() == elements && b.buffer_device() == device;
  };
  const auto found = std::ranges::find_if(buffers_, fits);
  if (found == buffers_.end()) return UOp();
  const UOp buffer = *found;
  buffers_.erase(found);
  std::lock_guard lock(table().mutex);
  Entry& e = entry_of(buffer);
  e.is_spare = false;
  count_again(e, 1);
  if (e.memory.handle) tracing::buffer_allocated(buffer, e.bytes, e.name);
  return buffer;
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

bool is_stand_in(std::int64_t buffer_id) {
  std::lock_guard lock(table().mutex);
  auto it = table().entries.find(buffer_id);
  return it != table().entries.end() && it->second.stands_in;
}

std::uint64_t fresh_random_key() {
  std::lock_guard lock(table().mutex);
  return hash_mix(table().random.seed, ++table().random.draws);
}

void refresh_random_key(UOp buffer) {
  const std::uint64_t key = fresh_random_key();
  write_buffer(buffer, std::as_bytes(std::span(&key, 1)));
}

RandomState random_state() {
  std::lock_guard lock(table().mutex);
  return table().random;
}

void set_random_state(const RandomState& state) {
  std::lock_guard lock(table().mutex);
  table().random = state;
}

MemoryUse memory_use() {
  std::lock_guard lock(table().mutex);
  return table().use;
}

MemoryUse memory_use(int device) {
  std::lock_guard lock(table().mutex);
  return table().use_of(device);
}

}  // namespace croze
