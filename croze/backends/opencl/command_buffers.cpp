#include "croze/backends/opencl/command_buffers.h"

#include <algorithm>
#include <utility>

#include "croze/backends/opencl/opencl_program.h"

namespace croze::opencl {
namespace {

// Takes the launches of a batch down instead of enqueuing them.
class Recorder final : public DeviceStream {
 public:
  Recorder(const Context& context, CommandBuffers::Recorded& into)
      : functions_(*context.command_buffers), into_(into) {}

  bool has_all() const { return has_all_; }

  void launch(std::span<const Sequence> sequences) override {
    for (const Sequence& s : sequences) {
      add(static_cast<OpenClProgram&>(*s.nests[0].program), s.nests[0].buffers,
          s.nests[0].variables);
    }
  }
  // Versions of the extension differ in how copies are recorded.
  void copy_in(MemoryView, std::span<const std::byte>) override { has_all_ = false; }
  void copy_out(std::span<std::byte>, MemoryView) override { has_all_ = false; }
  void copy(MemoryView, MemoryView) override { has_all_ = false; }
  void finish() override {}

 private:
  void add(OpenClProgram& program, std::span<const MemoryView> buffers,
           std::span<const std::int64_t> variables) {
    check_launch(program.info(), buffers, variables);
    OpenClProgram::Sizes sizes;
    if (!program.sizes(variables, sizes)) return;
    // Drivers have been seen to read the arguments when the buffer is enqueued (PoCL 3.1).
    cl_kernel kernel = program.with_fixed_arguments(buffers, variables);
    into_.kernels.push_back(kernel);
    SyncPoint point = 0;
    has_all_ &=
        functions_.add_kernel(into_.buffer, nullptr, nullptr, kernel, 3, nullptr, sizes.global,
                              sizes.local, 0, nullptr, &point, nullptr) == CL_SUCCESS;
    into_.names += (into_.names.empty() ? "kernel " : ", kernel ") + program.info().name;
    const std::vector<Access> accesses = accesses_of(program.info(), buffers);
    into_.accesses.insert(into_.accesses.end(), accesses.begin(), accesses.end());
  }

  const CommandBufferFunctions& functions_;
  CommandBuffers::Recorded& into_;
  bool has_all_ = true;
};

}  // namespace

CommandBuffers::~CommandBuffers() {
  for (auto& [id, recorded] : recorded_) drop(recorded);
}

CommandBuffers::Recorded* CommandBuffers::find(const RecordedBatch& batch, cl_command_queue queue) {
  const bool is_new = !recorded_.contains(batch.id());
  if (is_new) make_room();
  Recorded& recorded = recorded_[batch.id()];
  recorded.last_use = ++uses_;
  if (is_new || recorded.cannot_be_recorded) return nullptr;
  if (!recorded.buffer) record(batch, queue, recorded);
  return recorded.buffer ? &recorded : nullptr;
}

void CommandBuffers::make_room() {
  if (recorded_.size() < most_recorded) return;
  const auto oldest = std::ranges::min_element(
      recorded_, {}, [](const auto& entry) { return entry.second.last_use; });
  drop(oldest->second);
  recorded_.erase(oldest);
}

void CommandBuffers::record(const RecordedBatch& batch, cl_command_queue queue, Recorded& into) {
  const CommandBufferFunctions& functions = *context_.command_buffers;
  cl_int status = CL_SUCCESS;
  into.buffer = functions.create(1, &queue, nullptr, &status);
  bool is_recorded = status == CL_SUCCESS;
  if (is_recorded) {
    Recorder recorder(context_, into);
    try {
      batch.enqueue(recorder);
    } catch (...) {
      drop(into);
      into = {.last_use = into.last_use};
      throw;
    }
    is_recorded = recorder.has_all() && functions.finalize(into.buffer) == CL_SUCCESS;
  } else {
    into.buffer = nullptr;
  }
  if (is_recorded) return;
  drop(into);
  into = {.last_use = into.last_use, .cannot_be_recorded = true};
}

// One that is at work is waited for.
void CommandBuffers::drop(Recorded& recorded) noexcept {
  if (!recorded.buffer) return;
  if (recorded.last) {
    const cl_event last = recorded.last.get();
    context_.cl.wait_for_events(1, &last);
  }
  context_.command_buffers->release(std::exchange(recorded.buffer, nullptr));
  for (cl_kernel kernel : std::exchange(recorded.kernels, {})) context_.cl.release_kernel(kernel);
}

}  // namespace croze::opencl
