// opencl_device.cpp -- one context, with a queue in order for the device and one for each stream.
#include "croze/backends/opencl/opencl_device.h"

#if CROZE_HAVE_OPENCL

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <vector>

#include "croze/backends/opencl/opencl_library.h"
#include "croze/device/sealed.h"
#include "croze/render/c_family/opencl.h"

namespace croze {
namespace {

constexpr std::string_view mark = "opencl 1";

cl_mem buffer_of(const Memory& memory) { return static_cast<cl_mem>(memory.handle); }

// Those of all platforms that can compile, in order.
std::vector<cl_device_id> find_devices(const OpenClLibrary& cl) {
  std::vector<cl_device_id> found;
  cl_platform_id platforms[16];
  cl_uint num_platforms = 0;
  if (cl.get_platform_ids(std::size(platforms), platforms, &num_platforms) != CL_SUCCESS) return {};
  for (cl_uint p = 0; p < std::min<cl_uint>(num_platforms, std::size(platforms)); p++) {
    cl_device_id devices[16];
    cl_uint num_devices = 0;
    if (cl.get_device_ids(platforms[p], CL_DEVICE_TYPE_ALL, std::size(devices), devices,
                          &num_devices) != CL_SUCCESS) {
      continue;
    }
    for (cl_uint d = 0; d < std::min<cl_uint>(num_devices, std::size(devices)); d++) {
      if (cl.device_info<cl_bool>(devices[d], CL_DEVICE_AVAILABLE) &&
          cl.device_info<cl_bool>(devices[d], CL_DEVICE_COMPILER_AVAILABLE)) {
        found.push_back(devices[d]);
      }
    }
  }
  return found;
}

// Whether a look at the devices leaves the process alive.  Drivers have been seen to abort when the
// machine lacks something (PoCL where /sys is not mounted), so a child of this process looks first,
// unheard and for ten seconds at most.
bool is_safe_to_look(const OpenClLibrary& cl) {
  const pid_t child = fork();
  if (child < 0) return true;
  if (child == 0) {
    alarm(10);
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    find_devices(cl);
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status);
}

// The library, and its devices as long as it lives: what all OpenClDevices share.
struct OpenCl {
  std::unique_ptr<OpenClLibrary> library;
  std::vector<cl_device_id> devices;
};

// Process-wide: named in docs/architecture.md as global state.  Immutable once it was looked for.
const OpenCl& opencl() {
  static const OpenCl& found = *new OpenCl([] {
    OpenCl cl{OpenClLibrary::load(), {}};
    if (cl.library && is_safe_to_look(*cl.library)) cl.devices = find_devices(*cl.library);
    return cl;
  }());
  return found;
}

// Numbers that only some vendors' devices know: how many items run in lockstep.
constexpr cl_device_info nv_warp_size = 0x4003, amd_wavefront_width = 0x4043;

// Where group memory is memory like any other and items compute on vectors, an item is what runs on
// a processor with vector registers, alone, and has the memory of a group to itself.  Elsewhere
// items run in warps.
void probe_items(const OpenClLibrary& cl, cl_device_id device, Caps& caps) {
  const auto floats =
      std::int64_t{cl.device_info<cl_uint>(device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT)};
  const auto local = cl.device_info<cl_device_local_mem_type>(device, CL_DEVICE_LOCAL_MEM_TYPE);
  caps.threads =
      std::max<std::int64_t>(1, cl.device_info<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS));
  if (local != CL_GLOBAL || floats < 4) {
    constexpr std::int64_t usual = 32;
    const std::int64_t told = std::max(cl.device_info<cl_uint>(device, nv_warp_size),
                                       cl.device_info<cl_uint>(device, amd_wavefront_width));
    caps.warp_items = told > 1 ? told : usual;
    caps.vector_bytes = 16;
    return;
  }
  caps.vector_bytes = 4 * std::min(floats, OpenClRenderer::most_lanes);
  // Vectors of 64 bytes came with twice as many registers.
  caps.vector_registers = caps.vector_bytes == 64 ? 32 : 16;
  caps.masked_vectors = true;
  caps.exchanges_lanes = true;
  // Two tiles of half of it, and the sums that wait, are in group memory together.
  caps.l2_bytes = caps.group_memory / 2;
}

Caps probe(const OpenClLibrary& cl, cl_device_id device) {
  Caps caps;
  caps.device = "OPENCL";
  caps.architecture = fmt::format("{}; {}; {}", cl.device_text(device, CL_DEVICE_NAME),
                                  cl.device_text(device, CL_DEVICE_VERSION),
                                  cl.device_text(device, CL_DRIVER_VERSION));
  caps.ops = OpenClRenderer::ops();
  caps.dtypes = OpenClRenderer::dtypes();
  if (!cl.device_info<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG)) {
    caps.dtypes &= ~(1u << static_cast<int>(DType::Float64));
  }
  caps.storage = caps.dtypes;
  const auto single = cl.device_info<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG);
  caps.keeps_subnormals = (single & CL_FP_DENORM) != 0;
  if (!(single & CL_FP_FMA)) caps.ops &= ~(std::uint64_t{1} << static_cast<int>(Op::MulAdd));

  caps.has_groups = true;
  caps.max_items =
      static_cast<std::int64_t>(cl.device_info<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  const auto axes =
      cl.device_info<std::array<std::size_t, 3>>(device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  for (int axis = 0; axis < 3; axis++) {
    caps.max_group_axis[axis] = static_cast<std::int64_t>(axes[static_cast<std::size_t>(axis)]);
    caps.max_groups_axis[axis] = INT32_MAX;
  }
  caps.group_memory =
      static_cast<std::int64_t>(cl.device_info<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));
  probe_items(cl, device, caps);
  caps.alignment = std::max<std::int64_t>(
      64, cl.device_info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);

  // A buffer takes a pointer and an offset; some room is left for variables.
  const auto bytes =
      static_cast<std::int64_t>(cl.device_info<std::size_t>(device, CL_DEVICE_MAX_PARAMETER_SIZE));
  caps.max_buffers = std::clamp<std::int64_t>((bytes - 128) / 16, 8, 64);
  return caps;
}

class OpenClProgram final : public Program {
 public:
  OpenClProgram(const OpenClLibrary& cl, cl_command_queue queue, ProgramInfo info,
                cl_program program)
      : cl_(cl), queue_(queue), info_(std::move(info)), program_(program) {
    cl_int status = CL_SUCCESS;
    kernel_ = cl_.create_kernel(program_, OpenClRenderer::entry(info_.name).c_str(), &status);
    if (status != CL_SUCCESS) cl_.release_program(program_);
    check_status(status, "kernel " + info_.name);
  }
  ~OpenClProgram() override {
    cl_.release_kernel(kernel_);
    cl_.release_program(program_);
  }

  const ProgramInfo& info() const override { return info_; }

  void launch(std::span<const MemoryView> buffers,
              std::span<const std::int64_t> variables) override {
    launch_on(queue_, buffers, variables, nullptr);
  }

  // `event`: where that of the launch is left, null if there is nothing to run; or null.
  void launch_on(cl_command_queue queue, std::span<const MemoryView> buffers,
                 std::span<const std::int64_t> variables, cl_event* event) {
    check_launch(info_, buffers, variables);
    const std::lock_guard lock(mutex_);
    cl_uint next = 0;
    for (const MemoryView& view : buffers) {
      set_argument(next++, buffer_of(view.memory));
      set_argument(next++, cl_long{view.offset});
    }
    for (std::int64_t value : variables.first(static_cast<std::size_t>(info_.num_variables))) {
      set_argument(next++, cl_long{value});
    }

    std::size_t global[3], local[3];
    for (int axis = 0; axis < 3; axis++) {
      local[axis] = static_cast<std::size_t>(info_.launch.items[axis]);
      global[axis] =
          static_cast<std::size_t>(info_.launch.groups[axis].value(variables)) * local[axis];
      if (global[axis] == 0) return;
    }
    check_status(
        cl_.enqueue_nd_range_kernel(queue, kernel_, 3, nullptr, global, local, 0, nullptr, event),
        "launch of kernel " + info_.name);
  }

 private:
  template <typename T>
  void set_argument(cl_uint index, T value) {
    check_status(cl_.set_kernel_arg(kernel_, index, sizeof(value), &value), info_.name);
  }

  const OpenClLibrary& cl_;
  cl_command_queue queue_;
  ProgramInfo info_;
  cl_program program_;
  cl_kernel kernel_;
  std::mutex mutex_;  // a kernel holds the arguments of one launch
};

void check_copy(const MemoryView& view, std::int64_t bytes) {
  ensure(view.offset >= 0 && view.bytes >= 0 && view.offset <= view.memory.bytes - view.bytes &&
             view.bytes == bytes,
         "copy of {} bytes at {} to or from a view of {} bytes in memory of {}", bytes, view.offset,
         view.bytes, view.memory.bytes);
}

// A queue of its own.  What is enqueued leaves an event, which says what became of it.
class OpenClStream final : public DeviceStream {
 public:
  OpenClStream(const OpenClLibrary& cl, cl_context context, cl_device_id device) : cl_(cl) {
    cl_int status = CL_SUCCESS;
    queue_ = cl_.create_command_queue(context, device, 0, &status);
    check_status(status, "making a queue");
  }
  ~OpenClStream() override {
    cl_.finish(queue_);
    for (const Begun& b : begun_) cl_.release_event(b.event);
    cl_.release_command_queue(queue_);
  }
  OpenClStream(const OpenClStream&) = delete;
  OpenClStream& operator=(const OpenClStream&) = delete;

  void launch(std::span<const Sequence> sequences) override {
    for (const Sequence& s : sequences) {
      ensure(s.blocks.empty(), "a sequence of blocks on a device with groups");
      auto& program = static_cast<OpenClProgram&>(*s.nests[0].program);
      cl_event event = nullptr;
      program.launch_on(queue_, s.nests[0].buffers, s.nests[0].variables, &event);
      if (event) begin("kernel " + program.info().name, event);
    }
  }

  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    check_copy(to, std::ssize(from));
    if (from.empty()) return;
    cl_event event = nullptr;
    check_status(cl_.enqueue_write_buffer(queue_, buffer_of(to.memory), CL_FALSE,
                                          static_cast<std::size_t>(to.offset), from.size(),
                                          from.data(), 0, nullptr, &event),
                 "copy to the device");
    begin("copy to the device", event);
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override {
    check_copy(from, std::ssize(to));
    if (to.empty()) return;
    cl_event event = nullptr;
    check_status(cl_.enqueue_read_buffer(queue_, buffer_of(from.memory), CL_FALSE,
                                         static_cast<std::size_t>(from.offset), to.size(),
                                         to.data(), 0, nullptr, &event),
                 "copy from the device");
    begin("copy from the device", event);
  }
  void copy(MemoryView to, MemoryView from) override {
    check_copy(to, from.bytes);
    check_copy(from, to.bytes);
    if (from.bytes == 0) return;
    cl_event event = nullptr;
    check_status(cl_.enqueue_copy_buffer(queue_, buffer_of(from.memory), buffer_of(to.memory),
                                         static_cast<std::size_t>(from.offset),
                                         static_cast<std::size_t>(to.offset),
                                         static_cast<std::size_t>(from.bytes), 0, nullptr, &event),
                 "copy within the device");
    begin("copy within the device", event);
  }

  void finish() override {
    const cl_int finished = cl_.finish(queue_);
    std::string failed;
    for (const Begun& b : begun_) {
      cl_int status = CL_COMPLETE;
      cl_.get_event_info(b.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
                         nullptr);
      if (status < 0 && failed.empty()) failed = fmt::format("{} (error {})", b.what, status);
      cl_.release_event(b.event);
    }
    begun_.clear();
    check(failed.empty(), "OPENCL: {}: failed while it ran", failed);
    check_status(finished, "waiting for kernels");
  }

 private:
  struct Begun {
    std::string what;
    cl_event event;
  };
  // Events that are kept; more are waited for.
  static constexpr std::size_t most_begun = 1024;

  void begin(std::string what, cl_event event) {
    begun_.push_back({std::move(what), event});
    check_status(cl_.flush(queue_), "beginning what was enqueued");
    if (begun_.size() == most_begun) finish();
  }

  const OpenClLibrary& cl_;
  cl_command_queue queue_;
  std::vector<Begun> begun_;
};

class OpenClDevice final : public Device {
 public:
  OpenClDevice(const OpenCl& found, int ordinal)
      : cl_(*found.library),
        device_(found.devices[static_cast<std::size_t>(ordinal)]),
        name_(device_label("OPENCL", ordinal)),
        caps_(probe(cl_, device_)) {
    cl_int status = CL_SUCCESS;
    context_ = cl_.create_context(nullptr, 1, &device_, nullptr, nullptr, &status);
    check_status(status, "making a context");
    queue_ = cl_.create_command_queue(context_, device_, 0, &status);
    if (status != CL_SUCCESS) cl_.release_context(context_);
    check_status(status, "making a queue");

    options_ = "-cl-std=CL1.2";
    const auto single = cl_.device_info<cl_device_fp_config>(device_, CL_DEVICE_SINGLE_FP_CONFIG);
    if (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) {
      options_ += " -cl-fp32-correctly-rounded-divide-sqrt";
    }
  }
  ~OpenClDevice() override {
    cl_.finish(queue_);
    cl_.release_command_queue(queue_);
    cl_.release_context(context_);
  }

  std::string_view name() const override { return name_; }
  std::string description() const override { return caps_.architecture; }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { return renderer_; }

  Memory allocate(std::int64_t bytes) override {
    check(bytes >= 0, "{}: cannot allocate {} bytes", name_, bytes);
    cl_int status = CL_SUCCESS;
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
    cl_mem memory = cl_.create_buffer(context_, CL_MEM_READ_WRITE, size, nullptr, &status);
    if (status != CL_SUCCESS) check_status(status, fmt::format("allocating {} bytes", bytes));
    return {.handle = memory, .bytes = bytes};
  }
  void release(Memory memory) noexcept override {
    if (memory.handle) cl_.release_mem_object(buffer_of(memory));
  }

  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    check_copy(to, std::ssize(from));
    if (from.empty()) return;
    check_status(cl_.enqueue_write_buffer(queue_, buffer_of(to.memory), CL_TRUE,
                                          static_cast<std::size_t>(to.offset), from.size(),
                                          from.data(), 0, nullptr, nullptr),
                 "copy to the device");
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override {
    check_copy(from, std::ssize(to));
    if (to.empty()) return;
    check_status(cl_.enqueue_read_buffer(queue_, buffer_of(from.memory), CL_TRUE,
                                         static_cast<std::size_t>(from.offset), to.size(),
                                         to.data(), 0, nullptr, nullptr),
                 "copy from the device");
  }

  std::string compile(const std::string& name, const std::string& source) override {
    const char* text = source.c_str();
    cl_int status = CL_SUCCESS;
    cl_program program = cl_.create_program_with_source(context_, 1, &text, nullptr, &status);
    check_status(status, "kernel " + name);
    const ProgramGuard guard{cl_, program};
    status = build(program);
    ensure(status == CL_SUCCESS, "kernel {}: the OpenCL compiler failed:\n{}", name,
           build_log(program));
    return seal(mark, binary_of(program));
  }

  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    const std::string_view binary = unseal(mark, code);
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t size = binary.size();
    cl_int status = CL_SUCCESS, binary_status = CL_SUCCESS;
    cl_program program = cl_.create_program_with_binary(context_, 1, &device_, &size, &bytes,
                                                        &binary_status, &status);
    check_status(status, "loading kernel " + info.name);
    status = build(program);
    if (status != CL_SUCCESS) cl_.release_program(program);
    check_status(status, "loading kernel " + info.name);
    return std::make_unique<OpenClProgram>(cl_, queue_, info, program);
  }

  void synchronize() override { check_status(cl_.finish(queue_), "waiting for kernels"); }

  std::unique_ptr<DeviceStream> make_stream() override {
    return std::make_unique<OpenClStream>(cl_, context_, device_);
  }

 private:
  struct ProgramGuard {
    const OpenClLibrary& cl;
    cl_program program;
    ~ProgramGuard() { cl.release_program(program); }
  };

  cl_int build(cl_program program) const {
    return cl_.build_program(program, 1, &device_, options_.c_str(), nullptr, nullptr);
  }

  std::string build_log(cl_program program) const {
    std::size_t size = 0;
    cl_.get_program_build_info(program, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    cl_.get_program_build_info(program, device_, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    return log;
  }

  std::string binary_of(cl_program program) const {
    std::size_t size = 0;
    check_status(
        cl_.get_program_info(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr),
        "size of a binary");
    std::string binary(size, '\0');
    auto* bytes = reinterpret_cast<unsigned char*>(binary.data());
    check_status(cl_.get_program_info(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, nullptr),
                 "reading a binary");
    return binary;
  }

  const OpenClLibrary& cl_;
  cl_device_id device_;
  std::string name_;
  Caps caps_;
  OpenClRenderer renderer_;
  std::string options_;
  cl_context context_;
  cl_command_queue queue_;
};

}  // namespace

int count_opencl_devices() { return static_cast<int>(std::ssize(opencl().devices)); }

std::unique_ptr<Device> make_opencl_device(int ordinal) {
  if (ordinal >= count_opencl_devices()) return nullptr;
  return std::make_unique<OpenClDevice>(opencl(), ordinal);
}

}  // namespace croze

#else

namespace croze {
int count_opencl_devices() { return 0; }
std::unique_ptr<Device> make_opencl_device(int) { return nullptr; }
}  // namespace croze

#endif
