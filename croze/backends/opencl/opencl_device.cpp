// opencl_device.cpp -- memory, programs, and the streams of a device.
#include "croze/backends/opencl/opencl_device.h"

#if CROZE_HAVE_OPENCL

#include <fmt/format.h>

#include <span>
#include <utility>

#include "croze/backends/opencl/built_programs.h"
#include "croze/backends/opencl/capabilities.h"
#include "croze/backends/opencl/device_memory.h"
#include "croze/backends/opencl/opencl_program.h"
#include "croze/backends/opencl/opencl_stream.h"
#include "croze/base/bytes.h"
#include "croze/base/options.h"
#include "croze/device/sealed.h"
#include "croze/render/c_family/opencl.h"

namespace croze {
namespace opencl {
namespace {

constexpr std::string_view mark = "opencl 2", mark_of_text = "opencl t";

// Code behind the source that it was built of, where it is to be built again, and how long that is.
std::string code_with(std::string_view source, std::string_view code) {
  const auto size = static_cast<std::uint64_t>(source.size());
  std::string both(reinterpret_cast<const char*>(&size), sizeof(size));
  both += source;
  return both += code;
}

std::pair<std::string_view, std::string_view> source_and_code(std::string_view both) {
  ByteReader reader(std::as_bytes(std::span(both)), "code of a kernel");
  const std::string_view source = reader.text(reader.read<std::int64_t>());
  return {source, reader.text(reader.remaining())};
}

OpenClTarget target_of(const Context& context, const Subgroups& subgroups) {
  return {.halves = has_halves(context.cl, context.device),
          .image_row = context.images.row,
          .subgroup_items = subgroups.are_required ? subgroups.items : 0};
}

class OpenClDevice final : public Device {
 public:
  OpenClDevice(const OpenCl& found, int ordinal)
      : context_(*found.library, found.devices[static_cast<std::size_t>(ordinal)],
                 device_label("OPENCL", ordinal)),
        subgroups_(Subgroups::of(context_)),
        caps_(probe(context_, subgroups_)),
        renderer_(target_of(context_, subgroups_)),
        main_(context_) {}
  std::string_view name() const override { return context_.name; }
  std::string description() const override { return caps_.architecture; }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { return renderer_; }

  Memory allocate(std::int64_t bytes) override {
    check(bytes >= 0, "{}: cannot allocate {} bytes", name(), bytes);
    context_.loss.check_alive();
    return {.handle = new DeviceMemory(context_, bytes), .bytes = bytes};
  }
  void release(Memory memory) noexcept override {
    if (memory.handle) delete &device_memory(memory);
  }

  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    wait_for_last([&](OpenClStream& stream) { stream.copy_in(to, from); });
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override {
    wait_for_last([&](OpenClStream& stream) { stream.copy_out(to, from); });
  }

  std::string compile(const std::string& name, const std::string& source) override {
    BuiltProgram built = built_of_text(context_, name, source);
    if (Options::flag(Option::Cache)) {
      return seal(mark, code_with(OpenClRenderer::reads_images(source) ? source : "",
                                  code_of(context_, built)));
    }
    built_.put(source, std::move(built));
    return seal(mark_of_text, source);
  }

  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    if (code.starts_with(mark_of_text)) {
      std::string source(unseal(mark_of_text, code));
      BuiltProgram built = built_.take(source);
      if (!built) built = built_of_text(context_, info.name, source);
      if (info.images.empty()) source.clear();
      return std::make_unique<OpenClProgram>(context_, main_, info, std::move(built),
                                             std::move(source));
    }
    const auto [source, binary] = source_and_code(unseal(mark, code));
    return std::make_unique<OpenClProgram>(
        context_, main_, info, built_of_code(context_, info.name, binary), std::string(source));
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

  const Context context_;
  const OpenClLibrary& cl_ = context_.cl;
  Subgroups subgroups_;
  Caps caps_;
  OpenClRenderer renderer_;
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
