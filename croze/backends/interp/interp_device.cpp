// interp_device.cpp -- the interpreter as a device.
#include "croze/backends/interp/interp_device.h"

#include "croze/backends/interp/bytecode.h"
#include "croze/backends/interp/machine.h"
#include "croze/base/error.h"
#include "croze/device/host_device.h"
#include "croze/device/sealed.h"
#include "croze/graph/text/serialize.h"
#include "croze/render/renderer.h"

namespace croze {
namespace {

constexpr std::string_view mark = "interp 1";

class InterpRenderer final : public Renderer {
 public:
  std::string_view name() const override { return "interp"; }
  std::string render(const LinearProgram& program) const override {
    return serialize(program.instructions);
  }
};

class InterpProgram final : public Program {
 public:
  InterpProgram(ProgramInfo info, interp::Code code)
      : info_(std::move(info)), code_(std::move(code)) {
    for (const interp::MemoryInfo& m : code_.memories) {
      check(
          m.kind != interp::MemoryInfo::Kind::Param || (m.slot >= 0 && m.slot < info_.num_buffers),
          "kernel {}: its code uses buffer {} of {}", info_.name, m.slot, info_.num_buffers);
    }
    for (const interp::Input& i : code_.inputs) {
      check(i.op != Op::Variable || (i.id >= 0 && i.id < info_.num_variables),
            "kernel {}: its code uses variable {} of {}", info_.name, i.id, info_.num_variables);
    }
  }

  const ProgramInfo& info() const override { return info_; }

  void launch(std::span<const MemoryView> buffers,
              std::span<const std::int64_t> variables) override {
    check_launch(info_, buffers, variables);
    std::vector<interp::View> views;
    views.reserve(buffers.size());
    for (const MemoryView& view : buffers) views.push_back({host_bytes(view), view.bytes});
    // What lies behind the elements that the variables give a buffer is not the kernel's.
    for (const BufferSize& size : info_.sizes) {
      views[static_cast<std::size_t>(size.buffer)].bytes = size.bytes.value(variables);
    }
    interp::run(code_, info_, views, variables);
  }

 private:
  ProgramInfo info_;
  interp::Code code_;
};

class InterpDevice final : public HostDevice {
 public:
  explicit InterpDevice(Caps caps, int ordinal = 0)
      : HostDevice("INTERP", ordinal), caps_(std::move(caps)) {}

  std::string description() const override { return "interpreter, the reference for every device"; }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { return renderer_; }

  std::string compile(const std::string&, const std::string& source) override {
    return seal(mark, source);
  }

  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    Graph graph;
    const std::vector<UOp> instructions = deserialize(graph, unseal(mark, code));
    return std::make_unique<InterpProgram>(info, interp::decode(instructions));
  }

 private:
  Caps caps_;
  InterpRenderer renderer_;
};

}  // namespace

Caps interp_caps() {
  Caps caps;
  caps.device = "INTERP";
  caps.architecture = "1";
  caps.joins_nests = true;
  caps.exchanges_lanes = true;
  caps.looks_up = true;
  for (int op = 0; op < num_ops; op++) {
    if (is_elementwise(static_cast<Op>(op))) caps.ops |= set_of({static_cast<Op>(op)});
  }
  for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) caps.dtypes |= 1u << t;
  caps.storage = caps.dtypes;
  return caps;
}

std::unique_ptr<Device> make_interp_device(int ordinal) {
  return std::make_unique<InterpDevice>(interp_caps(), ordinal);
}
std::unique_ptr<Device> make_interp_device(const Caps& caps) {
  return std::make_unique<InterpDevice>(caps);
}

}  // namespace croze
