// opencl_stream.cpp -- commands, and which of them has failed.
#include "croze/backends/opencl/opencl_stream.h"

#include <fmt/format.h>

#include <utility>

#include "croze/backends/opencl/opencl_program.h"
#include "croze/device/recorded_batch.h"

namespace croze::opencl {
namespace {

Access access_to(const MemoryView& view, bool writes) {
  return {view.memory.handle, view.offset, view.offset + view.bytes, writes};
}

Access access_to(std::span<const std::byte> host, bool writes) {
  const auto begin = reinterpret_cast<std::int64_t>(host.data());
  return {nullptr, begin, begin + std::ssize(host), writes};
}

std::size_t size_of(const MemoryView& view) { return static_cast<std::size_t>(view.bytes); }
std::size_t offset_of(const MemoryView& view) { return static_cast<std::size_t>(view.offset); }

// Of two failures, who only waited for another one is not to blame.
constexpr cl_int failed_before = -14;  // CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST

}  // namespace

OpenClStream::OpenClStream(const Context& context)
    : context_((context.loss.check_alive(), context)),
      queue_(context.make_queue(
          context.has_queues_without_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0)) {
  if (context.command_buffers) buffers_.emplace(context);
}

OpenClStream::~OpenClStream() {
  for (cl_command_queue queue : {queue_, in_order_, timed_}) {
    if (queue) context_.cl.finish(queue);
  }
  begun_.clear();
  buffers_.reset();
  for (cl_command_queue queue : {queue_, in_order_, timed_}) {
    if (queue) context_.cl.release_command_queue(queue);
  }
}

cl_command_queue OpenClStream::in_order() {
  if (!context_.has_queues_without_order) return queue_;
  if (!in_order_) in_order_ = context_.make_queue(0);
  return in_order_;
}

cl_command_queue OpenClStream::timed() {
  if (!timed_) timed_ = context_.make_queue(CL_QUEUE_PROFILING_ENABLE);
  return timed_;
}

// ---- commands -----------------------------------------------------------------------------------

template <typename Enqueue>
void OpenClStream::begin_in(cl_command_queue queue, std::string what,
                            std::span<const Access> accesses, Enqueue enqueue) {
  context_.loss.check_alive();
  if (begun_.size() == most_begun) finish();
  std::vector<cl_event> before;
  if (context_.has_queues_without_order) {
    for (std::size_t command : dependencies_.of(accesses)) {
      before.push_back(begun_[command].event.get());
    }
  }
  const Waits waits{static_cast<cl_uint>(before.size()), before.empty() ? nullptr : before.data()};
  cl_event event = nullptr;
  context_.check(enqueue(queue, waits, &event), what);
  begun_.push_back({std::move(what), Event(context_.cl, event)});
  if (context_.has_queues_without_order) dependencies_.note(begun_.size() - 1, accesses);
  context_.check_begun(context_.cl.flush(queue), begun_.back().what);
}

template <typename Enqueue>
void OpenClStream::begin(std::string what, std::span<const Access> accesses, Enqueue enqueue) {
  begin_in(queue_, std::move(what), accesses, enqueue);
}

void OpenClStream::launch(std::span<const Sequence> sequences) {
  for (const Sequence& s : sequences) {
    ensure(s.blocks.empty(), "a sequence of blocks on a device with groups");
    launch(static_cast<OpenClProgram&>(*s.nests[0].program), s.nests[0].buffers,
           s.nests[0].variables);
  }
}

void OpenClStream::launch(OpenClProgram& program, std::span<const MemoryView> buffers,
                          std::span<const std::int64_t> variables) {
  check_launch(program.info(), buffers, variables);
  OpenClProgram::Sizes sizes;
  if (!program.sizes(variables, sizes)) return;
  const std::vector<Access> accesses = accesses_of(program.info(), buffers);
  program.with_arguments(buffers, variables, [&](cl_kernel kernel) {
    begin("kernel " + program.info().name, accesses,
          [&](cl_command_queue queue, const Waits& waits, cl_event* event) {
            return context_.cl.enqueue_nd_range_kernel(queue, kernel, 3, nullptr, sizes.global,
                                                       sizes.local, waits.count, waits.events,
                                                       event);
          });
  });
}

void OpenClStream::copy_in(MemoryView to, std::span<const std::byte> from) {
  check_copy(to, std::ssize(from));
  if (from.empty()) return;
  const Access accesses[] = {access_to(to, true), access_to(from, false)};
  begin("copy to the device", accesses,
        [&](cl_command_queue queue, const Waits& waits, cl_event* event) {
          return context_.cl.enqueue_write_buffer(queue, buffer_of(to.memory), CL_FALSE,
                                                  offset_of(to), from.size(), from.data(),
                                                  waits.count, waits.events, event);
        });
}

void OpenClStream::copy_out(std::span<std::byte> to, MemoryView from) {
  check_copy(from, std::ssize(to));
  if (to.empty()) return;
  const Access accesses[] = {access_to(to, true), access_to(from, false)};
  begin("copy from the device", accesses,
        [&](cl_command_queue queue, const Waits& waits, cl_event* event) {
          return context_.cl.enqueue_read_buffer(queue, buffer_of(from.memory), CL_FALSE,
                                                 offset_of(from), to.size(), to.data(), waits.count,
                                                 waits.events, event);
        });
}

void OpenClStream::copy(MemoryView to, MemoryView from) {
  check_copy(to, from.bytes);
  check_copy(from, to.bytes);
  if (from.bytes == 0) return;
  const Access accesses[] = {access_to(to, true), access_to(from, false)};
  begin("copy within the device", accesses,
        [&](cl_command_queue queue, const Waits& waits, cl_event* event) {
          return context_.cl.enqueue_copy_buffer(
              queue, buffer_of(from.memory), buffer_of(to.memory), offset_of(from), offset_of(to),
              size_of(to), waits.count, waits.events, event);
        });
}

// ---- many commands as one, and one that is timed ------------------------------------------------

bool OpenClStream::submit(const RecordedBatch& batch) {
  if (!buffers_ || batch.size() < 2 || batch.copies_host_memory()) return false;
  CommandBuffers::Recorded* const recorded = buffers_->find(batch, in_order());
  if (!recorded) return false;
  if (recorded->last) {  // it is not enqueued again while it is at work
    const cl_event last = recorded->last.get();
    context_.check_begun(context_.cl.wait_for_events(1, &last), recorded->names);
  }
  begin_in(in_order(), recorded->names, recorded->accesses,
           [&](cl_command_queue, const Waits& waits, cl_event* event) {
             return context_.command_buffers->enqueue(0, nullptr, recorded->buffer, waits.count,
                                                      waits.events, event);
           });
  recorded->last = begun_.back().event;
  return true;
}

std::optional<double> OpenClStream::launch_timed(std::span<const Sequence> sequences) {
  if (!context_.notes_times) return {};
  finish();
  const cl_command_queue queue = std::exchange(queue_, timed());
  try {
    launch(sequences);
  } catch (...) {
    queue_ = queue;
    throw;
  }
  queue_ = queue;
  const std::vector<Begun> timed = begun_;
  finish();
  double seconds = 0;
  for (const Begun& b : timed) context_.check(b.event.add_seconds(seconds), "time of " + b.what);
  return seconds;
}

// ---- waiting ------------------------------------------------------------------------------------

void check_done(const Context& context, const OpenClStream::Begun& begun) {
  const cl_int status = begun.event.status();
  if (status >= 0) return;
  context.check_begun(status, begun.what + ": failed while it ran");
}

std::optional<OpenClStream::Begun> OpenClStream::last() const {
  if (begun_.empty()) return {};
  return begun_.back();
}

// Of commands that failed the first is to blame; if the queue has failed, all that are not done may
// be.
void OpenClStream::finish() {
  context_.loss.check_alive();
  cl_int finished = CL_SUCCESS;
  for (cl_command_queue queue : {queue_, in_order_, timed_}) {
    const cl_int status = queue ? context_.cl.finish(queue) : CL_SUCCESS;
    if (finished == CL_SUCCESS) finished = status;
  }
  std::optional<Begun> failed;
  std::string open;
  for (const Begun& b : begun_) {
    const cl_int status = b.event.status();
    if (status < 0 && (!failed || failed->event.status() == failed_before)) failed = b;
    if (status > 0) open += (open.empty() ? "" : ", ") + b.what;
  }
  begun_.clear();
  dependencies_.forget();
  if (failed) check_done(context_, *failed);
  context_.check_begun(finished, open.empty() ? "waiting for what was enqueued" : open);
}

}  // namespace croze::opencl
