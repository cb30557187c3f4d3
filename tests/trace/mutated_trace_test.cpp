// Traces that are almost right are read or refused, soon and in little memory.
#include <gtest/gtest.h>

#include <ctime>

#include "croze/base/error.h"
#include "croze/trace/trace.h"
#include "support/mutator.h"

namespace croze {
namespace {

// What a trace holds in memory beside its bytes.
std::size_t memory_of(const traces::Trace& t) {
  const auto bytes = [](const auto& v) { return v.size() * sizeof(v[0]); };
  std::size_t all = bytes(t.texts) + bytes(t.facts) + bytes(t.rows) + bytes(t.scopes) +
                    bytes(t.rules) + bytes(t.nodes) + bytes(t.passes) + bytes(t.matches) +
                    bytes(t.kernels) + bytes(t.schedules) + bytes(t.runs) + bytes(t.launches) +
                    bytes(t.allocations) + bytes(t.ends);
  for (const traces::Samples& s : t.samples) all += sizeof(s) + bytes(s.places);
  for (const traces::ModelNodes& m : t.model_nodes) {
    all += sizeof(m) + bytes(m.launches);
    for (const traces::LaunchNodes& l : m.launches) all += bytes(l.nodes);
  }
  for (const traces::Schedule& s : t.schedules) {
    all += bytes(s.launches) + bytes(s.buffers) + bytes(s.arenas);
  }
  return all;
}

TEST(MutatedTraces, AreReadOrRefusedSoonAndInLittleMemory) {
  const auto read = [](const std::string& bytes) {
    const std::clock_t begin = std::clock();
    bool is_read = false;
    try {
      const traces::Trace trace = traces::read_trace(std::as_bytes(std::span(bytes)), "mutant");
      EXPECT_LE(memory_of(trace), 64 * bytes.size() + 4096);
      is_read = true;
    } catch (const Error&) {
    }
    EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1);
    return is_read;
  };
  test::for_each_mutant(test::good_files(CORPUS "/trace"), read);
}

}  // namespace
}  // namespace croze
