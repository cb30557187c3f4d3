// kernels.cpp -- kernels under random edits.
#include "fuzz/kernels.h"

#include <fmt/format.h>

#include <limits>

#include "fuzz/chance.h"
#include "fuzz/check.h"
#include "fuzz/edits.h"
#include "fuzz/generate.h"
#include "fuzz/paste.h"
#include "fuzz/schedule_runner.h"
#include "run/devices.h"

namespace croze::fuzz {
namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

// A machine's name and what it can do.
struct MachineShape {
  const char* name;
  Caps (*caps)();
};
constexpr MachineShape shapes[] = {{"scalars", scalar_caps},
                                   {"lanes and tasks", cpu_shaped_caps},
                                   {"groups", gpu_shaped_caps},
                                   {"few ops", spare_caps}};

class KernelCase {
 public:
  KernelCase(Device& device, const char* machine, std::uint64_t seed)
      : device_(device), machine_(machine), seed_(seed) {}

  std::optional<Mismatch> run(Counts& counts) {
    Chance chance(seed_);
    const FuzzProgram program =
        random_program(seed_, {.steps = static_cast<int>(chance.between(1, 5)),
                               .largest = 400,
                               .rare_dtypes = chance.percent(30),
                               .contractions = 20});
    const std::string failure = failure_of(program, no_limit);
    counts["edits"] += std::ssize(applied_);
    if (failure.empty()) return {};
    return reduced(program);
  }

 private:
  std::string failure_of(const FuzzProgram& program, std::int64_t limit) {
    RandomEdits edits(seed_, limit);
    const std::string failure = run_alone(program, device_, edits.chooser());
    applied_ = edits.applied();
    return failure;
  }

  // The smallest program, and then the fewest edits, that still fail.
  Mismatch reduced(const FuzzProgram& program) {
    const FuzzProgram small =
        minimised(program, [&](const FuzzProgram& p) { return failure_of(p, no_limit); });
    failure_of(small, no_limit);
    const std::int64_t all = std::ssize(applied_);
    std::int64_t limit = 0;
    while (limit < all && failure_of(small, limit).empty()) limit++;
    const std::string failure = failure_of(small, limit);
    std::string code = cpp_of(small);
    for (const std::string& edit : applied_) code += fmt::format("// {}\n", edit);
    return {seed_, fmt::format("{}: {}", machine_, failure), code};
  }

  Device& device_;
  const char* machine_;
  std::uint64_t seed_;
  std::vector<std::string> applied_;
};

}  // namespace

std::optional<Mismatch> kernels_case(std::uint64_t seed, Counts& counts) {
  const MachineShape& shape = shapes[seed % std::size(shapes)];
  const std::unique_ptr<Device> device = make_interpreter(shape.caps());
  return KernelCase(*device, shape.name, seed).run(counts);
}

std::optional<Mismatch> kernels_case_on(Device& device, std::uint64_t seed, Counts& counts) {
  return KernelCase(device, device.caps().device.c_str(), seed).run(counts);
}

}  // namespace croze::fuzz
