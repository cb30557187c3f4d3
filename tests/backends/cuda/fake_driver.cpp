#include "fake_driver.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string_view>
#include <utility>

#include "croze/backends/cuda/driver_api.h"

using namespace croze::cuda;  // this file stands in the place of the driver

namespace croze::cuda {

struct ContextObject {
  int device;
  Status failure = Status::Success;  // that every call is answered with
};
struct EventObject {
  StreamHandle stream = nullptr;  // that it was recorded in last
  std::uint64_t position = 0;     // behind how many pieces of its work
};
struct StreamObject {
  ContextHandle context;
  std::deque<std::function<void()>> waiting;
  std::uint64_t done = 0;
  GraphHandle captured = nullptr;  // where work goes instead, while there is one
};
struct GraphObject {
  std::vector<std::function<void(bool in_graph)>> work;
};
struct GraphExecObject : GraphObject {};
struct FunctionObject {
  std::string name, arguments;
  Status failure = Status::Success;
  int most_group_bytes = 48 << 10;
};
struct ModuleObject {
  FunctionObject function;
};

}  // namespace croze::cuda

namespace {

constexpr int num_devices = 2;

// The image of a text of PTX: its entry, and of its parameters addresses are the unsigned ones.
std::string image_of_ptx(std::string_view text) {
  constexpr std::string_view words = ".visible .entry ";
  const std::size_t entry = text.find(words);
  if (entry == std::string_view::npos) return {};
  const std::size_t begin = entry + words.size(), open = text.find('(', begin);
  std::string arguments;
  for (std::size_t at = open; (at = text.find(".param .", at)) < text.find(')', open); at++) {
    const std::string_view parameter = text.substr(at);
    arguments += parameter.starts_with(".param .u64")     ? 'p'
                 : parameter.starts_with(".param .align") ? 'm'
                                                          : 'v';
  }
  return std::string(text.substr(begin, open - begin)) + " " +
         (arguments.empty() ? "-" : arguments);
}

// Modules and events that a lost device keeps are the driver's, as what a process leaves is.
struct State {
  ContextObject contexts[num_devices] = {{0}, {1}};
  std::vector<std::unique_ptr<StreamObject>> streams;
  std::map<EventHandle, std::unique_ptr<EventObject>> events;
  std::map<ModuleHandle, std::unique_ptr<ModuleObject>> modules;
  std::map<Address, std::pair<std::size_t, int>> memory;  // bytes and device
  std::int64_t limit = std::int64_t{1} << 30, used[num_devices] = {0, 0};
  std::vector<croze::fake::Launch> launches;
  croze::fake::Counts counts;
};

std::recursive_mutex mutex;
State& state() {
  static State& s = *new State;
  return s;
}
thread_local ContextHandle current = nullptr;

// Every function holds the lock, and answers with the failure of a broken device.
template <typename Work>
Status call(Work work) {
  const std::lock_guard lock(mutex);
  if (!current) return Status::InvalidDevice;
  if (current->failure != Status::Success) return current->failure;
  const Status status = work();
  return current->failure != Status::Success ? current->failure : status;
}

void run_to(StreamHandle stream, std::uint64_t position) {
  while (stream->done < position && !stream->waiting.empty()) {
    const std::function<void()> work = std::move(stream->waiting.front());
    stream->waiting.pop_front();
    work();
    stream->done++;
  }
}
void run_all(StreamHandle stream) { run_to(stream, UINT64_MAX); }

void enqueue(StreamHandle stream, std::function<void(bool in_graph)> work) {
  if (stream->captured) {
    stream->captured->work.push_back(std::move(work));
  } else {
    stream->waiting.push_back([work = std::move(work)] { work(false); });
  }
}

template <typename Object>
Object* keep(std::map<Object*, std::unique_ptr<Object>>& among, Object object) {
  auto made = std::make_unique<Object>(std::move(object));
  Object* handle = made.get();
  among.emplace(handle, std::move(made));
  return handle;
}

// Whether the bytes are of one piece of memory.
bool is_allocated(Address address, std::size_t size) {
  auto at = state().memory.upper_bound(address);
  if (at == state().memory.begin()) return false;
  --at;
  return address + size <= at->first + at->second.first;
}

void copy_bytes(ContextHandle context, void* to, const void* from, std::size_t size,
                Address on_device, Address also_on_device = 0) {
  const bool valid =
      is_allocated(on_device, size) && (also_on_device == 0 || is_allocated(also_on_device, size));
  if (!valid) {
    context->failure = Status::IllegalAddress;
  } else {
    std::memmove(to, from, size);
  }
}

void* pointer(Address address) { return reinterpret_cast<void*>(address); }

void run_kernel(ContextHandle context, const FunctionObject& function, croze::fake::Launch launch) {
  if (context->failure != Status::Success) return;
  for (std::size_t i = 0; i < function.arguments.size(); i++) {
    const bool wrong = function.arguments[i] != 'v' && !is_allocated(launch.arguments[i], 1);
    if (wrong) context->failure = Status::IllegalAddress;
  }
  if (function.failure != Status::Success) context->failure = function.failure;
  state().launches.push_back(std::move(launch));
}

}  // namespace

// ---- what tests ask and set --------------------------------------------------------------------

namespace croze::fake {

const std::vector<Launch>& launches() { return state().launches; }
Counts counts() {
  Counts c = state().counts;
  c.allocated_now = static_cast<int>(state().memory.size());
  return c;
}
void limit_memory(std::int64_t bytes) { state().limit = bytes; }
void reset() {
  state().launches.clear();
  state().counts.allocations = state().counts.graph_launches = state().counts.peer_copies = 0;
  state().counts.maps = 0;
  for (ContextObject& context : state().contexts) context.failure = Status::Success;
  limit_memory(std::int64_t{1} << 30);
}

}  // namespace croze::fake

// ---- the driver --------------------------------------------------------------------------------

extern "C" {

Status cuInit(unsigned) { return Status::Success; }
Status cuDriverGetVersion(int* version) {
  *version = 13'000;
  return Status::Success;
}
Status cuGetErrorName(Status status, const char** name) {
  *name = status == Status::IllegalAddress  ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : status == Status::OutOfMemory   ? "CUDA_ERROR_OUT_OF_MEMORY"
          : status == Status::InvalidImage  ? "CUDA_ERROR_INVALID_IMAGE"
          : status == Status::LaunchTimeout ? "CUDA_ERROR_LAUNCH_TIMEOUT"
                                            : "CUDA_ERROR";
  return Status::Success;
}
Status cuGetErrorString(Status, const char** text) {
  *text = "as the fake driver says";
  return Status::Success;
}

Status cuDeviceGetCount(int* count) {
  *count = num_devices;
  return Status::Success;
}
Status cuDeviceGet(Ordinal* device, int ordinal) {
  *device = ordinal;
  return ordinal < num_devices ? Status::Success : Status::InvalidDevice;
}
Status cuDeviceGetName(char* name, int length, Ordinal device) {
  std::strncpy(name, device == 0 ? "Fake H100" : "Fake A100", static_cast<std::size_t>(length));
  return Status::Success;
}
Status cuDeviceGetAttribute(int* value, Attribute attribute, Ordinal device) {
  switch (attribute) {
    case Attribute::ComputeCapabilityMajor: *value = device == 0 ? 9 : 8; break;
    case Attribute::ComputeCapabilityMinor: *value = 0; break;
    case Attribute::MultiprocessorCount: *value = 132; break;
    case Attribute::MaxSharedMemoryPerBlockOptin: *value = 227 << 10; break;
    case Attribute::MaxSharedMemoryPerMultiprocessor: *value = 228 << 10; break;
    case Attribute::L2CacheSize: *value = 50 << 20; break;
    case Attribute::MaxBlockDimZ: *value = 64; break;
    case Attribute::MaxGridDimX: *value = INT32_MAX; break;
    case Attribute::MaxGridDimY:
    case Attribute::MaxGridDimZ: *value = 65'535; break;
    default: *value = 1024;
  }
  return Status::Success;
}
Status cuDeviceTotalMem_v2(std::size_t* bytes, Ordinal) {
  *bytes = std::size_t{80} << 30;
  return Status::Success;
}
Status cuDevicePrimaryCtxRetain(ContextHandle* context, Ordinal device) {
  *context = &state().contexts[device];
  return Status::Success;
}
Status cuDevicePrimaryCtxRelease_v2(Ordinal) { return Status::Success; }
Status cuCtxSetCurrent(ContextHandle context) {
  current = context;
  return Status::Success;
}
Status cuCtxSynchronize() {
  return call([] {
    for (const auto& stream : state().streams) {
      if (stream->context == current) run_all(stream.get());
    }
    return Status::Success;
  });
}

Status cuMemAlloc_v2(Address* address, std::size_t size) {
  return call([=] {
    State& s = state();
    std::int64_t& used = s.used[current->device];
    if (used + static_cast<std::int64_t>(size) > s.limit) return Status::OutOfMemory;
    *address = reinterpret_cast<Address>(std::calloc(size, 1));
    s.memory[*address] = {size, current->device};
    used += static_cast<std::int64_t>(size);
    s.counts.allocations++;
    return Status::Success;
  });
}
Status cuMemFree_v2(Address address) {
  cuCtxSynchronize();
  return call([=] {
    const auto at = state().memory.find(address);
    if (at == state().memory.end()) return Status::InvalidValue;
    state().used[at->second.second] -= static_cast<std::int64_t>(at->second.first);
    state().memory.erase(at);
    std::free(pointer(address));
    return Status::Success;
  });
}
Status cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return call([=] {
    *total = static_cast<std::size_t>(state().limit);
    *free = static_cast<std::size_t>(state().limit - state().used[current->device]);
    return Status::Success;
  });
}
Status cuMemHostAlloc(void** memory, std::size_t size, unsigned) {
  return call([=] {
    *memory = std::malloc(size);
    state().counts.pinned_now++;
    return Status::Success;
  });
}
Status cuMemFreeHost(void* memory) {
  return call([=] {
    std::free(memory);
    state().counts.pinned_now--;
    return Status::Success;
  });
}
Status cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t size, StreamHandle stream) {
  return call([=] {
    enqueue(stream, [=, c = current](bool) { copy_bytes(c, pointer(to), from, size, to); });
    return Status::Success;
  });
}
Status cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t size, StreamHandle stream) {
  return call([=] {
    enqueue(stream, [=, c = current](bool) { copy_bytes(c, to, pointer(from), size, from); });
    return Status::Success;
  });
}
Status cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t size, StreamHandle stream) {
  return call([=] {
    enqueue(stream,
            [=, c = current](bool) { copy_bytes(c, pointer(to), pointer(from), size, to, from); });
    return Status::Success;
  });
}
Status cuMemcpyPeerAsync(Address to, ContextHandle, Address from, ContextHandle, std::size_t size,
                         StreamHandle stream) {
  state().counts.peer_copies++;
  return cuMemcpyDtoDAsync_v2(to, from, size, stream);
}

Status cuStreamCreate(StreamHandle* stream, unsigned) {
  return call([=] {
    state().streams.push_back(
        std::make_unique<StreamObject>(StreamObject{current, {}, 0, nullptr}));
    *stream = state().streams.back().get();
    state().counts.streams_now++;
    return Status::Success;
  });
}
Status cuStreamDestroy_v2(StreamHandle stream) {
  return call([=] {
    run_all(stream);
    state().counts.streams_now--;  // it stays, for those who wait for what it has done
    return Status::Success;
  });
}
Status cuStreamSynchronize(StreamHandle stream) {
  return call([=] {
    run_all(stream);
    return Status::Success;
  });
}
Status cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  return call([=] {
    const EventObject then = *event;
    if (then.stream) enqueue(stream, [=](bool) { run_to(then.stream, then.position); });
    return Status::Success;
  });
}
Status cuEventCreate(EventHandle* event, unsigned) {
  const std::lock_guard lock(mutex);
  *event = keep(state().events, {});
  return Status::Success;
}
Status cuEventDestroy_v2(EventHandle event) {
  const std::lock_guard lock(mutex);
  state().events.erase(event);
  return Status::Success;
}
Status cuEventRecord(EventHandle event, StreamHandle stream) {
  return call([=] {
    *event = {stream, stream->done + stream->waiting.size()};
    return Status::Success;
  });
}
Status cuEventQuery(EventHandle event) {
  return call([=] {
    const bool is_done = !event->stream || event->stream->done >= event->position;
    return is_done ? Status::Success : Status::NotReady;
  });
}
Status cuEventSynchronize(EventHandle event) {
  return call([=] {
    if (event->stream) run_to(event->stream, event->position);
    return Status::Success;
  });
}

Status cuModuleLoadDataEx(ModuleHandle* module, const void* image, unsigned num_options,
                          int* options, void** values) {
  return call([=] {
    const std::string_view source(static_cast<const char*>(image));
    std::istringstream text(source.starts_with(".version") ? image_of_ptx(source)
                                                           : std::string(source));
    FunctionObject function;
    int failure = 0;
    if (!(text >> function.name >> function.arguments)) {
      for (unsigned i = 0; i < num_options; i++) {
        if (options[i] == jit_error_log_buffer) {
          std::strcpy(static_cast<char*>(values[i]), "that is no image");
        }
      }
      return Status::InvalidImage;
    }
    if (function.arguments == "-") function.arguments.clear();
    if (text >> failure) function.failure = static_cast<Status>(failure);
    *module = keep(state().modules, {function});
    state().counts.modules_now++;
    return Status::Success;
  });
}
Status cuModuleUnload(ModuleHandle module) {
  return call([=] {
    state().modules.erase(module);
    state().counts.modules_now--;
    return Status::Success;
  });
}
Status cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  *function = &module->function;
  return module->function.name == name ? Status::Success : Status::NotFound;
}
Status cuFuncSetAttribute(FunctionHandle function, int attribute, int value) {
  if (attribute != attribute_max_dynamic_shared || value > 227 << 10) return Status::InvalidValue;
  function->most_group_bytes = value;
  return Status::Success;
}
Status cuLaunchKernel(FunctionHandle function, unsigned gx, unsigned gy, unsigned gz, unsigned x,
                      unsigned y, unsigned z, unsigned group_bytes, StreamHandle stream,
                      void** arguments, void**) {
  return call([=] {
    if (x * y * z > 1024 || gy > 65'535 || gz > 65'535 ||
        static_cast<int>(group_bytes) > function->most_group_bytes) {
      return Status::InvalidValue;
    }
    croze::fake::Launch launch{
        function->name, current->device, {gx, gy, gz}, {x, y, z}, group_bytes, {}, false};
    for (std::size_t i = 0; i < function->arguments.size(); i++) {
      launch.arguments.push_back(*static_cast<std::uint64_t*>(arguments[i]));
    }
    enqueue(stream, [=, c = current, f = *function](bool in_graph) {
      croze::fake::Launch done = launch;
      done.in_graph = in_graph;
      run_kernel(c, f, std::move(done));
    });
    return Status::Success;
  });
}

// Of what it would encode it keeps the address: the first number of a map.
Status cuTensorMapEncodeTiled(TensorMap* map, int type, unsigned axes, void* address,
                              const std::uint64_t* sizes, const std::uint64_t* stride_bytes,
                              const unsigned* box, const unsigned* steps, int interleaved,
                              int swizzle, int fetches, int fill) {
  return call([=] {
    const std::uint64_t element = type == map_of_halves ? 2 : 1;
    const auto place = reinterpret_cast<Address>(address);
    bool is_right = (type == map_of_bytes || type == map_of_halves) && axes >= 1 &&
                    axes <= map_most_axes && place % map_alignment == 0 && interleaved == 0 &&
                    swizzle == map_swizzle_128 && fetches <= 3 && fill == 0 &&
                    box[0] * element <= 128 && box[0] * element % 16 == 0 &&
                    reinterpret_cast<std::uintptr_t>(map) % 64 == 0;
    for (unsigned i = 0; is_right && i < axes; i++) {
      is_right = sizes[i] >= 1 && sizes[i] <= std::uint64_t{1} << 32 && box[i] >= 1 &&
                 box[i] <= map_most_box && steps[i] == 1;
      if (i > 0) {
        const std::uint64_t stride = stride_bytes[i - 1];
        is_right = is_right && stride % map_alignment == 0 && stride < std::uint64_t{1} << 40;
      }
    }
    if (!is_right) return Status::InvalidValue;
    std::memset(map, 0, sizeof *map);
    std::memcpy(map, &place, sizeof place);
    state().counts.maps++;
    return Status::Success;
  });
}

Status cuStreamBeginCapture_v2(StreamHandle stream, int) {
  return call([=] {
    stream->captured = new GraphObject;
    return Status::Success;
  });
}
Status cuStreamEndCapture(StreamHandle stream, GraphHandle* graph) {
  return call([=] {
    *graph = stream->captured;
    stream->captured = nullptr;
    return Status::Success;
  });
}
Status cuGraphInstantiateWithFlags(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
  *exec = new GraphExecObject{*graph};
  state().counts.graphs_now++;
  return Status::Success;
}
Status cuGraphLaunch(GraphExecHandle exec, StreamHandle stream) {
  return call([=] {
    state().counts.graph_launches++;
    for (const auto& work : exec->work) stream->waiting.push_back([=] { work(true); });
    return Status::Success;
  });
}
Status cuGraphExecDestroy(GraphExecHandle exec) {
  delete exec;
  state().counts.graphs_now--;
  return Status::Success;
}
Status cuGraphDestroy(GraphHandle graph) {
  delete graph;
  return Status::Success;
}

}  // extern "C"
