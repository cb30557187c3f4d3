// launch.cpp -- one linear program, compiled and run.
#include "fuzz/launch.h"

#include <vector>

#include "croze/render/renderer.h"

namespace croze::fuzz {
namespace {

// Device memory for as long as the object lives.
class Allocation {
 public:
  Allocation(Device& device, std::int64_t bytes)
      : device_(device), memory_(device.allocate(bytes)) {}
  ~Allocation() { device_.release(memory_); }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  Memory memory() const { return memory_; }

 private:
  Device& device_;
  Memory memory_;
};

}  // namespace

std::unique_ptr<Program> compile_program(Device& device, const LinearProgram& program) {
  const std::string source = device.renderer().render(program);
  return device.load(program.info, device.compile(program.info.name, source));
}

void launch_program(Device& device, Program& program, std::span<const std::span<std::byte>> buffers,
                    std::span<const std::int64_t> variables) {
  const std::int64_t offset = device.caps().alignment;
  std::vector<std::unique_ptr<Allocation>> allocations;
  std::vector<MemoryView> views;
  for (std::span<std::byte> bytes : buffers) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    allocations.push_back(std::make_unique<Allocation>(device, offset + size));
    views.push_back({allocations.back()->memory(), offset, size});
    device.copy_in(views.back(), bytes);
  }
  program.launch(views, variables);
  device.synchronize();
  for (std::size_t i = 0; i < buffers.size(); i++) device.copy_out(buffers[i], views[i]);
}

void run_program(Device& device, const LinearProgram& program,
                 std::span<const std::span<std::byte>> buffers,
                 std::span<const std::int64_t> variables) {
  launch_program(device, *compile_program(device, program), buffers, variables);
}

}  // namespace croze::fuzz
