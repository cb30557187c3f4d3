// ptx_interp_device.cpp -- the PTX interpreter as a device.
#include "croze/backends/ptx_interp/ptx_interp_device.h"

#include "croze/backends/ptx_interp/code.h"
#include "croze/backends/ptx_interp/machine.h"
#include "croze/backends/ptx_interp/module.h"
#include "croze/base/error.h"
#include "croze/device/host_device.h"
#include "croze/device/sealed.h"
#include "croze/render/ptx/ptx.h"

namespace croze {
namespace {

constexpr std::string_view mark = "ptx    1";

class PtxInterpProgram final : public Program {
 public:
  PtxInterpProgram(ProgramInfo info, ptx_interp::Code code)
      : info_(std::move(info)), code_(std::move(code)) {
    const std::ptrdiff_t of_maps = 2 * std::ssize(info_.boxed);
    check(code_.num_parameters == info_.num_buffers + info_.num_variables + of_maps,
          "kernel {}: its code takes {} parameters, not {} buffers and {} variables", info_.name,
          code_.num_parameters, info_.num_buffers, info_.num_variables);
    check(std::ranges::equal(code_.items, info_.launch.items),
          "kernel {}: its code is for groups of {} by {} by {} items", info_.name, code_.items[0],
          code_.items[1], code_.items[2]);
  }

  const ProgramInfo& info() const override { return info_; }

  void launch(std::span<const MemoryView> buffers,
              std::span<const std::int64_t> variables) override {
    check_launch(info_, buffers, variables);
    std::vector<ptx_interp::View> views;
    for (const MemoryView& view : buffers.first(static_cast<std::size_t>(info_.num_buffers))) {
      views.push_back({host_bytes(view), view.bytes});
    }
    // What lies behind the elements that the variables give a buffer is not the kernel's.
    for (const BufferSize& size : info_.sizes) {
      views[static_cast<std::size_t>(size.buffer)].bytes = size.bytes.value(variables);
    }
    ptx_interp::run(code_, info_, views,
                    variables.first(static_cast<std::size_t>(info_.num_variables)));
  }

 private:
  ProgramInfo info_;
  ptx_interp::Code code_;
};

class PtxInterpDevice final : public HostDevice {
 public:
  explicit PtxInterpDevice(int ordinal) : HostDevice("PTX_INTERP", ordinal) {
    caps_.device = "PTX_INTERP";
    caps_.architecture = "1";
  }

  std::string description() const override { return "interpreter of PTX, for tests"; }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { return renderer_; }

  std::string compile(const std::string& name, const std::string& source) override {
    try {
      ptx_interp::decode(ptx_interp::parse(source));
    } catch (const Error& e) {
      fail_internal({}, "kernel {} is refused: {}", name, e.message());
    }
    return seal(mark, source);
  }

  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    return std::make_unique<PtxInterpProgram>(
        info, ptx_interp::decode(ptx_interp::parse(unseal(mark, code))));
  }

 private:
  Caps caps_ = ptx_caps();
  PtxRenderer renderer_;
};

}  // namespace

std::unique_ptr<Device> make_ptx_interp_device(int ordinal) {
  return std::make_unique<PtxInterpDevice>(ordinal);
}

}  // namespace croze
