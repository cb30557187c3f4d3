// opencl_device.cpp -- memory, programs, and the streams of a device.
#include "croze/backends/opencl/opencl_device.h"

#if CROZE_HAVE_OPENCL

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "croze/backends/opencl/built_programs.h"
#include "croze/backends/opencl/capabilities.h"
#include "croze/backends/opencl/opencl_program.h"
#include "croze/backends/opencl/opencl_stream.h"
#include "croze/base/options.h"
#include "croze/device/sealed.h"
#include "croze/render/c_family/opencl.h"

namespace croze {
namespace opencl {
namespace {

constexpr std::string_view mark = "opencl 1", mark_of_text = "opencl t";

class OpenClDevice final : public Device {
 public:
  OpenClDevice(const OpenCl& found, int ordinal)
      : context_(*found.library, found.devices[static_cast<std::size_t>(ordinal)],
                 device_label("OPENCL", ordinal)),
        caps_(probe(cl_, context_.device)),
        renderer_(has_halves(cl_, context_.device)),
        built_(cl_),
        main_(context_) {
    options_ = "-cl-std=CL1.2";
    const auto single =
        cl_.device_info<cl_device_fp_config>(context_.device, CL_DEVICE_SINGLE_FP_CONFIG);
    if (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) {
      options_ += " -cl-fp32-correctly-rounded-divide-sqrt";
    }
  }
  std::string_view name() const override { return context_.name; }
  std::string description() const override { return caps_.architecture; }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { return renderer_; }

  Memory allocate(std::int64_t bytes) override {
    check(bytes >= 0, "{}: cannot allocate {} bytes", name(), bytes);
    context_.loss.check_alive();
    cl_int status = CL_SUCCESS;
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
    cl_mem memory = cl_.create_buffer(context_.handle, CL_MEM_READ_WRITE, size, nullptr, &status);
    if (status != CL_SUCCESS) context_.check(status, fmt::format("allocating {} bytes", bytes));
    return {.handle = memory, .bytes = bytes};
  }
  void release(Memory memory) noexcept override {
    if (memory.handle) cl_.release_mem_object(buffer_of(memory));
  }

  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    wait_for_last([&](OpenClStream& stream) { stream.copy_in(to, from); });
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override {
    wait_for_last([&](OpenClStream& stream) { stream.copy_out(to, from); });
  }

  std::string compile(const std::string& name, const std::string& source) override {
    ProgramGuard built{cl_, built_from(name, source)};
    if (Options::flag(Option::Cache)) return seal(mark, binary_of(built.program));
    built_.put(source, std::exchange(built.program, nullptr));
    return seal(mark_of_text, source);
  }

  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    if (code.starts_with(mark_of_text)) {
      const std::string source(unseal(mark_of_text, code));
      cl_program program = built_.take(source);
      if (!program) program = built_from(info.name, source);
      return std::make_unique<OpenClProgram>(context_, main_, info, program);
    }
    context_.loss.check_alive();
    const std::string_view binary = unseal(mark, code);
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t size = binary.size();
    cl_int status = CL_SUCCESS, binary_status = CL_SUCCESS;
    cl_program program = cl_.create_program_with_binary(context_.handle, 1, &context_.device, &size,
                                                        &bytes, &binary_status, &status);
    context_.check(status, "loading kernel " + info.name);
    status = build(program);
    if (status != CL_SUCCESS) cl_.release_program(program);
    context_.check(status, "loading kernel " + info.name);
    return std::make_unique<OpenClProgram>(context_, main_, info, program);
  }

  std::optional<double> launch_timed(std::span<const Sequence> sequences) override {
    return main_.use([&](OpenClStream& stream) { return stream.launch_timed(sequences); });
  }

  void synchronize() override {
    main_.use([](OpenClStream& stream) { stream.finish(); });
  }

  std::unique_ptr<DeviceStream> make_stream() override {
    return std::make_unique<OpenClStream>(context_);
  }

 private:
  struct ProgramGuard {
    const OpenClLibrary& cl;
    cl_program program;
    ~ProgramGuard() {
      if (program) cl.release_program(program);
    }
  };

  // The caller's.
  cl_program built_from(const std::string& name, const std::string& source) const {
    context_.loss.check_alive();
    const char* text = source.c_str();
    cl_int status = CL_SUCCESS;
    ProgramGuard made{cl_,
                      cl_.create_program_with_source(context_.handle, 1, &text, nullptr, &status)};
    context_.check(status, "kernel " + name);
    status = build(made.program);
    ensure(status == CL_SUCCESS, "{}: kernel {}: the OpenCL compiler failed:\n{}", this->name(),
           name, build_log(made.program));
    return std::exchange(made.program, nullptr);
  }

  // Enqueues one command and waits for it, while others may enqueue theirs.
  template <typename Enqueue>
  void wait_for_last(Enqueue enqueue) {
    const auto begun = main_.use([&](OpenClStream& stream) {
      enqueue(stream);
      return stream.last();
    });
    if (!begun) return;
    const cl_event event = begun->event.get();
    const cl_int status = cl_.wait_for_events(1, &event);
    check_done(context_, *begun);
    context_.check_begun(status, begun->what);
  }

  cl_int build(cl_program program) const {
    return cl_.build_program(program, 1, &context_.device, options_.c_str(), nullptr, nullptr);
  }

  std::string build_log(cl_program program) const {
    std::size_t size = 0;
    cl_.get_program_build_info(program, context_.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    cl_.get_program_build_info(program, context_.device, CL_PROGRAM_BUILD_LOG, size, log.data(),
                               nullptr);
    return log;
  }

  std::string binary_of(cl_program program) const {
    std::size_t size = 0;
    context_.check(
        cl_.get_program_info(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr),
        "size of a binary");
    std::string binary(size, '\0');
    auto* bytes = reinterpret_cast<unsigned char*>(binary.data());
    context_.check(
        cl_.get_program_info(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, nullptr),
        "reading a binary");
    return binary;
  }

  const Context context_;
  const OpenClLibrary& cl_ = context_.cl;
  Caps caps_;
  OpenClRenderer renderer_;
  std::string options_;
  BuiltPrograms built_;
  MainStream main_;
};

}  // namespace

std::unique_ptr<Device> make_device(const OpenCl& found, int ordinal) {
  if (ordinal >= std::ssize(found.devices)) return nullptr;
  return std::make_unique<OpenClDevice>(found, ordinal);
}

}  // namespace opencl

int count_opencl_devices() { return static_cast<int>(std::ssize(opencl::opencl().devices)); }

std::unique_ptr<Device> make_opencl_device(int ordinal) {
  return opencl::make_device(opencl::opencl(), ordinal);
}

}  // namespace croze

#else

namespace croze {
int count_opencl_devices() { return 0; }
std::unique_ptr<Device> make_opencl_device(int) { return nullptr; }
}  // namespace croze

#endif
