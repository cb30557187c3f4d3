// Two traces side by side.
#include "croze/viz/compare.h"

#include <gtest/gtest.h>

#include "croze/trace/writer.h"
#include "support/files.h"

namespace croze {
namespace {

struct Kernel {
  std::string name, source;
  std::int64_t launches, ns;  // each takes so long
};

class Comparisons : public test::FilesTest {
 protected:
  // The bytes of a trace that launches these kernels while `bytes` are allocated.
  std::string trace_of(const std::vector<Kernel>& kernels, std::int64_t bytes) const {
    traces::Writer w(path("trace"), 1 << 20);
    const auto cpu = w.name("CPU");
    const auto row = w.add(traces::Row{traces::Row::What::Queue, w.name("CPU of thread 1")});
    w.add(traces::Allocation{.memory = 1, .device = cpu, .bytes = bytes, .time = 0});
    w.add(traces::Allocation{.memory = 2, .device = cpu, .bytes = 7, .time = 1});
    w.add(traces::Release{.memory = 1, .time = 2});
    w.add(traces::Allocation{.memory = 3, .device = cpu, .bytes = 1, .time = 3});
    for (const Kernel& k : kernels) {
      traces::Kernel kernel;
      kernel.name = w.name(k.name);
      kernel.source = w.name(k.source);
      traces::PlannedLaunch launch;
      launch.device = cpu;
      launch.kernels = {w.add(kernel)};
      const auto schedule = w.add(traces::Schedule{{launch}, {}, {}});
      const auto run = w.add(traces::Run{row, schedule, 0, 0, {}, {}});
      for (std::int64_t i = 0; i < k.launches; i++) {
        w.add(traces::Launch{row, run, 0, 10 + i * k.ns, k.ns});
      }
    }
    w.finish();
    return content(path("trace"));
  }

  static traces::Trace read(const std::string& bytes) {
    return traces::read_trace(std::as_bytes(std::span(bytes)), "trace");
  }
};

TEST_F(Comparisons, TellWhatIsNewGoneAndChanged) {
  using What = ComparedKernel::What;
  const std::string before =
      trace_of({{"same", "a", 3, 100}, {"changed", "b", 2, 1000}, {"gone", "c", 1, 50}}, 1000);
  const std::string after =
      trace_of({{"same", "a", 4, 100}, {"changed", "b2", 2, 400}, {"new", "c", 1, 60}}, 500);
  const traces::Trace base = read(before), trace = read(after);
  const Comparison c = compare(base, trace);
  ASSERT_EQ(c.kernels.size(), 4U);
  const auto expect = [&](std::size_t i, const char* name, What what, std::int64_t launches) {
    EXPECT_EQ(c.kernels[i].name, name);
    EXPECT_EQ(c.kernels[i].what, what) << name;
    EXPECT_EQ(c.kernels[i].launches, launches) << name;
  };
  expect(0, "changed", What::Changed, 2);  // by how much they differ
  expect(1, "same", What::Same, 4);
  expect(2, "new", What::New, 1);
  expect(3, "gone", What::Gone, 0);
  EXPECT_DOUBLE_EQ(c.kernels[0].base_seconds, 2000e-9);
  EXPECT_DOUBLE_EQ(c.kernels[0].seconds, 800e-9);
  EXPECT_EQ(c.kernels[1].base_launches, 3);
  EXPECT_DOUBLE_EQ(c.base_seconds, 2350e-9);
  EXPECT_DOUBLE_EQ(c.seconds, 1260e-9);
  ASSERT_EQ(c.memory.size(), 1U);
  EXPECT_EQ(c.memory[0].base_peak, 1007);
  EXPECT_EQ(c.memory[0].peak, 507);
}

TEST_F(Comparisons, OfATraceWithItselfFindNothing) {
  const std::string bytes = trace_of({{"a", "x", 3, 100}, {"b", "y", 1, 7}}, 10);
  const traces::Trace trace = read(bytes);
  for (const ComparedKernel& k : compare(trace, trace).kernels) {
    EXPECT_EQ(k.what, ComparedKernel::What::Same);
    EXPECT_EQ(k.seconds, k.base_seconds);
  }
}

}  // namespace
}  // namespace croze
