// fuzz_test.cpp -- random tensor programs on every device against the reference evaluator, and the
// fuzzers of the croze command: expressions, views, and kernels under random edits.
//
// FUZZ_CASES=n runs n programs per test instead of the quick number, FUZZ_SEED=s starts at seed s.
#include <gtest/gtest.h>

#include <cstdlib>

#include "croze/backends/ptx_interp/ptx_interp_device.h"
#include "croze/prove/solver.h"
#include "croze/run/devices.h"
#include "fuzz/campaign.h"
#include "fuzz/check.h"
#include "fuzz/generate.h"
#include "fuzz/graphs/graphs.h"
#include "fuzz/inplace.h"
#include "fuzz/kernels.h"
#include "fuzz/paste.h"
#include "fuzz/schedule_runner.h"
#include "fuzz/symbolic.h"
#include "fuzz/views.h"

namespace croze::fuzz {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

using Runner = std::function<std::string(const FuzzProgram&)>;

// Stops at the first failure and prints it made small.
void fuzz(std::uint64_t quick_cases, const FuzzOptions& options, const Runner& run) {
  const std::uint64_t first = number_from("FUZZ_SEED", 1);
  const std::uint64_t cases = number_from("FUZZ_CASES", quick_cases);
  for (std::uint64_t seed = first; seed < first + cases; seed++) {
    const FuzzProgram program = random_program(seed, options);
    const std::string failure = run(program);
    if (failure.empty()) continue;
    const FuzzProgram small = minimised(program, run);
    FAIL() << "seed " << seed << ": " << failure << "\nmade small: " << run(small) << "\n"
           << cpp_of(small);
  }
}

void fuzz_on(Device& device, std::uint64_t quick_cases, const FuzzOptions& options = {}) {
  fuzz(quick_cases, options, [&](const FuzzProgram& p) { return run_alone(p, device); });
}

void fuzz_alone(std::uint64_t quick_cases, const Caps& caps, const FuzzOptions& options = {}) {
  fuzz_on(*make_interpreter(caps), quick_cases, options);
}

FuzzOptions contractions() { return {.steps = 3, .rare_dtypes = false, .contractions = 60}; }

// Compiling costs more here than running, so programs are longer and fewer.
void fuzz_realized(const char* name, std::uint64_t quick_cases, FuzzOptions options = {}) {
  const int index = device_index(name);
  for (const DeviceEntry& entry : list_devices()) {
    if (entry.name == name && !entry.available) GTEST_SKIP() << entry.description;
  }
  options.steps = 24;
  fuzz(quick_cases, options, [&](const FuzzProgram& p) { return run_realized(p, index); });
}

// All mismatches of a fuzzer of the command.
void expect_none(std::int64_t quick_cases, const Case& run_case, int threads = 1) {
  const CampaignOptions options{.seed = number_from("FUZZ_SEED", 1),
                                .cases = static_cast<std::int64_t>(number_from(
                                    "FUZZ_CASES", static_cast<std::uint64_t>(quick_cases))),
                                .seconds = 0,
                                .threads = threads};
  for (const Mismatch& m : run_campaign("test", run_case, options).mismatches) {
    ADD_FAILURE() << "seed " << m.seed << ": " << m.message << "\n" << m.code;
  }
}

TEST(RandomExpressions, KeepTheirValuesAndBounds) {
  expect_none(2000,
              [](std::uint64_t seed, Counts& counts) { return symbolic_case(seed, 0, counts); });
}

TEST(RandomExpressions, AreProvenEqualToTheirSimplification) {
  if (!Solver::available()) GTEST_SKIP() << "no Z3";
  expect_none(10,
              [](std::uint64_t seed, Counts& counts) { return symbolic_case(seed, 1, counts); });
}

TEST(RandomViews, AreRightAsIndexArithmetic) { expect_none(300, views_case); }

TEST(RandomProgramsInPlace, ShowAssignmentsInAllViews) { expect_none(200, inplace_case); }

TEST(RandomProgramsInPlace, AreRightOnSeveralThreads) { expect_none(200, inplace_case, 4); }

TEST(RandomEdits, LeaveWhatAKernelComputes) { expect_none(60, kernels_case); }

// As PTX: with groups, shared memory and vectors as that target has them, all accesses watched.
TEST(RandomEdits, LeaveWhatAKernelComputesAsPtx) {
  const std::unique_ptr<Device> device = make_ptx_interp_device();
  expect_none(60, [&](std::uint64_t seed, Counts& counts) {
    return kernels_case_on(*device, seed, counts);
  });
}

TEST(RandomEditSequences, LeaveWhatAKernelComputesAndCanBeReplayed) { expect_none(8, edits_case); }

TEST(RandomGraphs, AreTheSameFusedAndUnfused) { expect_none(25, graphs_case); }

TEST(RandomPrograms, AreRightWithScalarLoops) { fuzz_alone(100, scalar_caps()); }
TEST(RandomPrograms, AreRightWithLanesAndTasks) { fuzz_alone(150, cpu_shaped_caps()); }
TEST(RandomPrograms, AreRightWithGroupsOfItems) { fuzz_alone(60, gpu_shaped_caps()); }

TEST(RandomPrograms, AreRightAsPtx) { fuzz_on(*make_ptx_interp_device(), 60); }

TEST(RandomContractions, AreRightWithLanesAndTasks) {
  fuzz_alone(15, cpu_shaped_caps(), contractions());
}
TEST(RandomContractions, AreRightWithGroupsOfItems) {
  fuzz_alone(15, gpu_shaped_caps(), contractions());
}
TEST(RandomContractions, AreRightAsPtx) { fuzz_on(*make_ptx_interp_device(), 15, contractions()); }

// A few buffers, read and written in many orders.
TEST(RandomAssignments, KeepTheOrderOfReadsAndWrites) {
  fuzz_alone(200, cpu_shaped_caps(),
             {.steps = 12, .largest = 300, .rare_dtypes = false, .assigns = 50, .contractions = 0});
}

// What IEEE arithmetic says of NaN, infinities and zeros with a sign.
FuzzOptions specials() { return {.steps = 12, .largest = 600, .specials = 15}; }

TEST(RandomSpecials, AreRightWithLanesAndTasks) { fuzz_alone(100, cpu_shaped_caps(), specials()); }

TEST(RandomPrograms, AreRightOnInterp) { fuzz_realized("INTERP", 20); }
TEST(RandomPrograms, AreRightOnCpu) { fuzz_realized("CPU", 15); }
TEST(RandomPrograms, AreRightOnC) { fuzz_realized("C", 2); }
TEST(RandomPrograms, AreRightOnOpenCl) { fuzz_realized("OPENCL", 1); }

TEST(RandomSpecials, AreRightOnCpu) { fuzz_realized("CPU", 5, specials()); }
TEST(RandomSpecials, AreRightOnC) { fuzz_realized("C", 1, specials()); }
TEST(RandomSpecials, AreRightOnOpenCl) { fuzz_realized("OPENCL", 1, specials()); }

}  // namespace
}  // namespace croze::fuzz
