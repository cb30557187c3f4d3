// program_cache_test.cpp -- compiled kernels survive the process on disk, and a bad disk is no
// error.
//
// A program of its own: a process opens its cache directory once, at the first kernel.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "croze/base/options.h"
#include "croze/graph/graph.h"
#include "croze/graph/text/serialize.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/run/execute.h"
#include "croze/run/programs.h"

namespace croze {
namespace {

namespace fs = std::filesystem;

const fs::path& directory() {
  static const fs::path path =
      fs::temp_directory_path() / ("croze-cache-test-" + std::to_string(getpid()));
  return path;
}

// The cache of this process lies in a directory that goes with it.
class CacheDirectory : public testing::Environment {
 public:
  void TearDown() override { fs::remove_all(directory()); }

 private:
  Options::Scope scope_{{{Option::Cache, true}, {Option::CacheDir, directory().string()}}};
};
const auto* const environment = testing::AddGlobalTestEnvironment(new CacheDirectory);

// x * factor + 1 for x = 3, on a device; a factor makes a kernel of its own.
float scaled(const char* device, float factor) {
  Graph graph;
  const float three = 3;
  const UOp x = new_buffer(graph, DType::Float32, 1, device_index(device));
  write_buffer(x, std::as_bytes(std::span(&three, 1)));
  const UOp root = x * graph.constant(DType::Float32, static_cast<double>(factor)) + 1;
  const UOp result = realize(std::span(&root, 1))[0];
  float value = 0;
  read_buffer(result, std::as_writable_bytes(std::span(&value, 1)));
  release_buffer(x.buffer_id());
  release_buffer(result.buffer_id());
  return value;
}

std::int64_t compiled() { return run_statistics().kernels_compiled; }

TEST(ProgramCache, AWarmStartCompilesNothing) {
  for (const char* device : {"CPU", "C", "INTERP"}) {
    for (const DeviceEntry& entry : list_devices()) {
      if (entry.name != device || !entry.available) continue;
      const std::int64_t before = compiled();
      EXPECT_EQ(scaled(device, 5), 16);
      EXPECT_EQ(compiled(), before + 1) << device;
      clear_run_caches();
      EXPECT_EQ(scaled(device, 5), 16);
      EXPECT_EQ(compiled(), before + 1) << device;
    }
  }
}

// As many kernels, all alike, one after the other.
float of_chain(int kernels) {
  Graph graph;
  const UOp x = new_buffer(graph, DType::Float32, 64, device_index("CPU"));
  const std::vector<float> ones(64, 1);
  write_buffer(x, std::as_bytes(std::span(ones)));
  UOp value = x;
  for (int i = 0; i < kernels; i++)
    value = graph.make(Op::Contiguous, DType::Float32, {value * value + 1});
  const UOp result = realize(std::span(&value, 1))[0];
  std::vector<float> numbers(64);
  read_buffer(result, std::as_writable_bytes(std::span(numbers)));
  release_buffer(x.buffer_id());
  release_buffer(result.buffer_id());
  return numbers[5];
}

std::int64_t scheduled() { return run_statistics().schedules_built; }

TEST(ProgramCache, LargeGraphsAreScheduledOnce) {
  const Options::Scope unwatched{{Option::CheckBounds, false}};
  const std::int64_t before = scheduled();
  const float first = of_chain(700);
  EXPECT_EQ(scheduled(), before + 1);
  clear_run_caches();
  EXPECT_EQ(of_chain(700), first);
  EXPECT_EQ(scheduled(), before + 1);
  EXPECT_EQ(of_chain(701), of_chain(701));
  EXPECT_EQ(scheduled(), before + 2);
}

TEST(ProgramCache, SmallGraphsAreScheduledAnew) {
  const std::int64_t before = scheduled();
  const float first = of_chain(2);
  clear_run_caches();
  EXPECT_EQ(of_chain(2), first);
  EXPECT_EQ(scheduled(), before + 2);
}

// out[i] = x[i] + x[i] for i below variable 0: what is kept of a launch whose size is open.
std::shared_ptr<const Kernel> open_kernel() {
  auto kernel = std::make_shared<Kernel>();
  kernel->graph = std::make_shared<Graph>();
  Graph& g = *kernel->graph;
  const UOp n = g.variable(0, 1, 1000000), i = g.range(0, n, LoopKind::Parallel);
  const auto place = [&](std::int64_t slot) {
    return g.place(g.param(DType::Float32, slot, 1000000, n), i);
  };
  const UOp store = g.store(place(0), g.load(place(1)) + g.load(place(1)), std::span(&i, 1));
  kernel->sink = g.sink(std::span(&store, 1));
  kernel->key = serialize(std::span(&kernel->sink, 1));
  return kernel;
}

TEST(ProgramCache, AnOpenLaunchIsTheSameAfterAWarmStart) {
  const KernelRequest request{open_kernel(), device_index("CPU")};
  std::vector<std::string> texts;
  for (int start = 0; start < 2; start++) {
    const std::int64_t before = compiled();
    const auto program = load_programs(std::span(&request, 1))[0];
    EXPECT_EQ(compiled(), before + (start == 0));
    const ProgramInfo& info = program->info;
    texts.push_back(info.launch.tasks.text() + ", " + info.sizes.at(1).bytes.text());
    ASSERT_EQ(info.variables.size(), 1u);
    EXPECT_EQ(info.variables[0].lo, 1);
    EXPECT_EQ(info.variables[0].hi, 1000000);
    std::vector<float> x(4097, 1.5f), out(x.size());
    const auto view = [](std::vector<float>& v) {
      const auto bytes = static_cast<std::int64_t>(v.size() * sizeof(float));
      return MemoryView{{v.data(), bytes}, 0, bytes};
    };
    const MemoryView views[] = {view(out), view(x)};
    const std::int64_t n = 4097;
    program->program->launch(views, std::span(&n, 1));
    EXPECT_EQ(std::ranges::count(out, 3.0f), n);
    clear_program_cache();
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_NE(texts[0].find("v0"), std::string::npos) << texts[0];
}

TEST(ProgramCache, ADamagedEntryIsCompiledAgain) {
  EXPECT_EQ(scaled("CPU", 6), 19);
  for (const auto& file : fs::recursive_directory_iterator(directory())) {
    if (!file.is_regular_file()) continue;
    fs::resize_file(file, file.file_size() / 2);
  }
  clear_run_caches();
  const std::int64_t before = compiled();
  EXPECT_EQ(scaled("CPU", 6), 19);
  EXPECT_EQ(compiled(), before + 1);
}

// Whoever may write an entry could have put any code there.
TEST(ProgramCache, AnEntryThatOthersMayWriteIsNotRun) {
  EXPECT_EQ(scaled("CPU", 8), 25);
  for (const auto& file : fs::recursive_directory_iterator(directory())) {
    if (file.is_regular_file()) {
      fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
    }
  }
  clear_run_caches();
  const std::int64_t before = compiled();
  EXPECT_EQ(scaled("CPU", 8), 25);
  EXPECT_EQ(compiled(), before + 1);
}

// In a fresh process each, because this one has opened its directory.
int exit_code_with_cache_in(const fs::path& path) {
  const Options::Scope scope{{Option::CacheDir, path.string()}};
  const bool right = scaled("CPU", 7) == 22 && compiled() == 1;
  clear_run_caches();
  return right && scaled("CPU", 7) == 22 ? 0 : 1;
}

TEST(ProgramCacheDeathTest, ADirectoryThatCannotBeMadeIsNoError) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(std::exit(exit_code_with_cache_in("/dev/null/nowhere")), testing::ExitedWithCode(0),
              "");
}

TEST(ProgramCacheDeathTest, ADirectoryThatMayNotBeWrittenIsNoError) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(std::exit(exit_code_with_cache_in("/proc/self")), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace croze
