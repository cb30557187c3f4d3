// Every edit of every kind, and every edit after it, leaves what a kernel computes as it is; and a
// list of edits makes the same program again.
#include <gtest/gtest.h>

#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/enumerate.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

struct Machine {
  const char* name;
  Caps (*caps)();
};
constexpr Machine machines[] = {
    {"scalars", scalar_caps}, {"lanes", cpu_shaped_caps}, {"groups", gpu_shaped_caps}};

std::vector<std::int32_t> result_of(Device& device, const SmallKernel& kernel,
                                    std::span<const Edit> edits) {
  return run_edited(device, kernel, [&](KernelState& k) { apply_all(k, edits); }).result;
}

// The edits that the kernel takes after these.  (make_program edits the simplified kernel.)
std::vector<Edit> next_edits(const SmallKernel& kernel, const Caps& caps,
                             std::span<const Edit> edits) {
  std::vector<Edit> result;
  auto list = [&](KernelState& k) {
    apply_all(k, edits);
    result = enumerate_edits(k);
  };
  make_program(kernel.sink, caps, list);
  return result;
}

TEST(EveryEdit, LeavesWhatEachKernelComputes) {
  for (const Machine& machine : machines) {
    const std::unique_ptr<Device> device = make_interpreter(machine.caps());
    for (const SmallKernel& kernel : small_kernels()) {
      for (const Edit& edit : next_edits(kernel, device->caps(), {})) {
        EXPECT_EQ(result_of(*device, kernel, {&edit, 1}), kernel.expected)
            << machine.name << ", " << kernel.name << ": " << to_text(edit);
      }
    }
  }
}

TEST(EveryPairOfEdits, LeavesWhatEachKernelComputes) {
  for (const Machine& machine : machines) {
    const std::unique_ptr<Device> device = make_interpreter(machine.caps());
    for (const SmallKernel& kernel : small_kernels()) {
      for (const Edit& first : next_edits(kernel, device->caps(), {})) {
        for (const Edit& second : next_edits(kernel, device->caps(), {&first, 1})) {
          const std::vector<Edit> both{first, second};
          ASSERT_EQ(result_of(*device, kernel, both), kernel.expected)
              << machine.name << ", " << kernel.name << ": " << to_text(both);
        }
      }
    }
  }
}

TEST(Replay, OfTheChosenEditsMakesTheSameProgram) {
  for (const Machine& machine : machines) {
    const Caps caps = machine.caps();
    for (const SmallKernel& kernel : small_kernels()) {
      std::string text;
      auto choose = [&](KernelState& k) {
        choose_edits(k);
        text = to_text(k.applied);
      };
      const std::string chosen = print_program(make_program(kernel.sink, caps, choose));
      const std::vector<Edit> edits = parse_edits(text);
      auto replay = [&](KernelState& k) { apply_all(k, edits); };
      EXPECT_EQ(print_program(make_program(kernel.sink, caps, replay)), chosen)
          << machine.name << ", " << kernel.name << ": " << text;
    }
  }
}

}  // namespace
}  // namespace croze
