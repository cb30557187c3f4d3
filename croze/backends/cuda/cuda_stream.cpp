// cuda_stream.cpp -- work that is enqueued, and who is named when it fails.
//
// A kernel that fails does so when it runs: the driver tells the next call, whatever that is about.
// So a stream knows which kernels it has launched since it was last waited for, and an error names
// them: the kernel at fault is one of these.
#include "croze/backends/cuda/cuda_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "croze/base/error.h"
#include "croze/device/recorded_batch.h"

namespace croze::cuda {
namespace {

Address begin_of(const MemoryView& view) {
  return address_of(view.memory) + static_cast<Address>(view.offset);
}

}  // namespace

Shared::Shared(const Driver& driver, Ordinal ordinal, const std::string& name)
    : context(driver, ordinal, name), order(context), memory(context, order) {
  context.enter();
  stream = std::make_unique<CudaStream>(context, order);
}

Shared::~Shared() = default;

CudaStream::CudaStream(Context& context, StreamOrder& order)
    : context_(context), order_(order), handle_(order.make_stream()), staging_(context) {}

CudaStream::~CudaStream() {
  if (context_.try_enter()) context_.driver().finish_stream(handle_);
  for (const auto& [id, r] : recorded_) drop(r);
  order_.destroy_stream(handle_);
}

template <typename Work>
void CudaStream::enqueue(Work work) {
  context_.enter();
  context_.loss().named(launches_, [&] { work(context_.driver()); });
}

void CudaStream::launch(std::span<const Sequence> sequences) {
  for (const Sequence& s : sequences) {
    ensure(s.blocks.empty(), "a sequence of blocks on a device with groups");
    launch(static_cast<const CudaProgram&>(*s.nests[0].program), s.nests[0].buffers,
           s.nests[0].variables);
  }
}

void CudaStream::launch(const CudaProgram& program, std::span<const MemoryView> buffers,
                        std::span<const std::int64_t> variables) {
  enqueue([&](const Driver&) { program.launch_on(handle_, buffers, variables); });
  launches_.note(program.info().name);
}

void CudaStream::copy_in(MemoryView to, std::span<const std::byte> from) {
  check_copy(to, std::ssize(from));
  enqueue([&](const Driver&) { staging_.copy_in(handle_, begin_of(to), from); });
}

void CudaStream::copy_out(std::span<std::byte> to, MemoryView from) {
  check_copy(from, std::ssize(to));
  if (to.empty()) return;
  enqueue([&](const Driver&) { staging_.copy_out(handle_, to, begin_of(from)); });
  launches_.forget();  // the bytes are there, so all before is done
}

void CudaStream::copy(MemoryView to, MemoryView from) {
  check_copy(to, from.bytes);
  check_copy(from, to.bytes);
  if (from.bytes == 0) return;
  enqueue([&](const Driver& driver) {
    context_.check(
        driver.copy(begin_of(to), begin_of(from), static_cast<std::size_t>(from.bytes), handle_),
        "copy within the device");
  });
}

void CudaStream::copy_from(MemoryView to, const Context& source, MemoryView from) {
  check_copy(to, from.bytes);
  check_copy(from, to.bytes);
  enqueue([&](const Driver& driver) {
    context_.check(driver.copy_peer(begin_of(to), context_.handle(), begin_of(from),
                                    source.handle(), static_cast<std::size_t>(from.bytes), handle_),
                   fmt::format("copy from {}", source.name()));
  });
}

void CudaStream::finish() {
  enqueue([&](const Driver& driver) {
    context_.check(driver.finish_stream(handle_), "waiting for what was enqueued");
  });
  launches_.forget();
}

// ---- graphs -------------------------------------------------------------------------------------

// Making a graph takes longer than it saves at one launch, so the second time makes it.  What is
// copied from and to the host goes through memory that is used for other copies, too: no graph.
bool CudaStream::submit(const RecordedBatch& batch) {
  if (batch.size() < 2 || batch.copies_host_memory()) return false;
  const bool is_new = !recorded_.contains(batch.id());
  Recorded& r = recorded(batch.id());
  if (is_new || r.cannot_be_captured) return false;
  if (!r.graph && !capture(batch, r)) return false;
  enqueue([&](const Driver& driver) {
    context_.check(driver.launch_graph(r.graph, handle_),
                   fmt::format("launch of {}", r.kernels.text()));
  });
  launches_.add(r.kernels);
  return true;
}

CudaStream::Recorded& CudaStream::recorded(std::uint64_t id) {
  if (!recorded_.contains(id) && recorded_.size() == most_recorded) {
    const auto oldest = std::ranges::min_element(
        recorded_, {}, [](const auto& entry) { return entry.second.last_use; });
    drop(oldest->second);
    recorded_.erase(oldest);
  }
  Recorded& r = recorded_[id];
  r.last_use = ++uses_;
  return r;
}

// What is enqueued while a stream is captured is not done.
bool CudaStream::capture(const RecordedBatch& batch, Recorded& into) {
  const Driver& driver = context_.driver();
  context_.enter();
  const auto held = order_.hold();
  context_.check(driver.begin_capture(handle_, capture_thread_local), "beginning a graph");
  BegunLaunches before = std::exchange(launches_, {});
  GraphHandle graph = nullptr;
  try {
    batch.enqueue(*this);
  } catch (...) {
    driver.end_capture(handle_, &graph);
    if (graph) driver.destroy_graph(graph);
    launches_ = std::move(before);
    throw;
  }
  into.kernels = std::exchange(launches_, std::move(before));
  const bool is_graph = driver.end_capture(handle_, &graph) == Status::Success &&
                        driver.instantiate(&into.graph, graph, 0) == Status::Success;
  if (graph) driver.destroy_graph(graph);
  into.cannot_be_captured = !is_graph;
  return is_graph;
}

void CudaStream::drop(const Recorded& recorded) noexcept {
  if (recorded.graph && context_.try_enter()) {
    context_.driver().destroy_graph_exec(recorded.graph);
  }
}

}  // namespace croze::cuda
