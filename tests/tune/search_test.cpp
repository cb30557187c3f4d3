// A search in which some candidates hang, crash or compute something else: it names them and goes
// on.
#include "croze/tune/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "croze/codegen/edits/edit.h"
#include "croze/run/devices.h"
#include "edits/kernels.h"
#include "support/forwarding_device.h"

namespace croze::tune {
namespace {

void hang(void* const*, const std::int64_t*, std::int64_t, void*) {
  volatile bool goes_on = true;
  while (goes_on) {
  }
}

void crash(void* const*, const std::int64_t*, std::int64_t, void*) { std::abort(); }

void store_nothing(void* const*, const std::int64_t*, std::int64_t, void*) {}

struct Planted {
  const char* what;
  HostFunction function;
};
constexpr Planted planted[] = {{"hung", hang}, {"crashed", crash}, {"wrong", store_nothing}};

class PlantedProgram final : public Program {
 public:
  PlantedProgram(ProgramInfo info, HostFunction function)
      : info_(std::move(info)), function_(function) {}
  const ProgramInfo& info() const override { return info_; }
  void launch(std::span<const MemoryView>, std::span<const std::int64_t>) override {}
  HostFunction host_function() const override { return function_; }

 private:
  ProgramInfo info_;
  HostFunction function_;
};

// CPU, whose compiler makes something else of some sources: of the first ones after those of the
// model's choice and of the kernel without edits.
class PlantingDevice final : public test::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;

  std::string compile(const std::string& name, const std::string& source) override {
    const std::lock_guard lock(mutex_);
    const auto number = numbers_.try_emplace(source, numbers_.size()).first->second;
    if (number < honest || number >= honest + std::size(planted)) {
      return ForwardingDevice::compile(name, source);
    }
    return planted[number - honest].what;
  }

  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    for (const Planted& p : planted) {
      if (code == p.what) return std::make_unique<PlantedProgram>(info, p.function);
    }
    return ForwardingDevice::load(info, code);
  }

 private:
  static constexpr std::size_t honest = 2;

  std::mutex mutex_;
  std::map<std::string, std::size_t> numbers_;  // of sources, as they come
};

TEST(SearchEdits, SurvivesAndNamesCandidatesThatAreBroken) {
  Device& cpu = device(device_index("CPU"));
  PlantingDevice device(cpu);
  const test::SmallKernel kernel = test::product_kernel();
  ThreadPool compilers;
  const Found found =
      search_edits(kernel.sink, device, cpu.caps(), {.width = 1, .limit = 0.5}, compilers);
  for (const Planted& p : planted) {
    const auto names_it = [&](const std::string& text) {
      return text.starts_with(std::string(p.what) + ": ");
    };
    EXPECT_EQ(std::ranges::count_if(found.broken, names_it), 1) << p.what;
  }
  EXPECT_EQ(found.broken.size(), std::size(planted));
  EXPECT_GT(found.tried, static_cast<int>(std::size(planted)));
  for (const std::string& text : found.broken) {
    EXPECT_NE(text.substr(text.find(": ") + 2), to_text(found.edits));
  }
  EXPECT_GT(found.seconds, 0);
  EXPECT_LE(found.seconds, found.model_seconds);
}

}  // namespace
}  // namespace croze::tune
