// kernels.cpp -- kernels under random edits.
#include "fuzz/kernels.h"

#include <fmt/format.h>

#include <limits>

#include "croze/base/hash.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/render/program.h"
#include "croze/run/devices.h"
#include "fuzz/chance.h"
#include "fuzz/check.h"
#include "fuzz/edits.h"
#include "fuzz/generate.h"
#include "fuzz/open/cases.h"
#include "fuzz/paste.h"
#include "fuzz/schedule_runner.h"

namespace croze::fuzz {
namespace {

constexpr int percent_open = 30;  // of the cases

// Visits of elements in a case.  A product of three tensors may be more where loops stand in an
// unlucky order, minutes of the interpreter's work: there is no edit that only such sizes have.
constexpr double most_visits = 1 << 30;

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

// A machine's name and what it can do.
struct MachineShape {
  const char* name;
  Caps (*caps)();
};
constexpr MachineShape shapes[] = {{"scalars", scalar_caps},
                                   {"lanes and tasks", cpu_shaped_caps},
                                   {"blocks", small_cache_caps},
                                   {"groups", gpu_shaped_caps},
                                   {"groups of vectors", vector_warps_caps},
                                   {"groups of one item", lone_items_caps},
                                   {"few ops", spare_caps}};

class KernelCase {
 public:
  KernelCase(Device& device, const char* machine, std::uint64_t seed)
      : KernelCase(device, machine, seed, seed, {}) {}
  KernelCase(Device& device, const char* machine, std::uint64_t seed, std::uint64_t edits_seed,
             OpeningSeed opening)
      : device_(device),
        machine_(machine),
        seed_(seed),
        edits_seed_(edits_seed),
        opening_(opening) {}

  std::optional<Mismatch> run(Counts& counts) {
    Chance chance(seed_);
    const FuzzProgram program =
        random_program(seed_, {.steps = static_cast<int>(chance.between(1, 5)),
                               .largest = 400,
                               .rare_dtypes = chance.percent(30),
                               .contractions = 20});
    constexpr double runs = 2;  // with the edits of the compiler, and with random ones
    if (ScheduledProgram(program, device_).most_visits() * runs > most_visits) {
      counts["cases of too much work"]++;
      return {};
    }
    if (chance.percent(percent_open)) opening_ = seed_;
    counts["cases of open sizes"] += opening_.has_value();
    if (!chosen_failure_of(program).empty()) return reduced_chosen(program);
    const std::string failure = failure_of(program, no_limit);
    counts["edits"] += std::ssize(applied_);
    counts["refused edits"] += refused_;
    if (failure.empty()) return {};
    return reduced(program);
  }

  // The smallest program that fails with the edits that the compiler chooses.
  Mismatch reduced_chosen(const FuzzProgram& program) const {
    const FuzzProgram small =
        minimised(program, [&](const FuzzProgram& p) { return chosen_failure_of(p); });
    const char* open = opening_ ? ", open sizes" : "";
    return {seed_, fmt::format("{}{}, chosen edits: {}", machine_, open, chosen_failure_of(small)),
            cpp_of(small)};
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
    for (const Edit& edit : applied_) code += fmt::format("// {}\n", to_text(edit));
    const char* open = opening_ ? ", open sizes" : "";
    return {seed_, fmt::format("{}{}: {}", machine_, open, failure), code};
  }

 private:
  std::string chosen_failure_of(const FuzzProgram& program) const {
    return run_alone(program, device_, {}, opening_);
  }

  std::string failure_of(const FuzzProgram& program, std::int64_t limit) {
    RandomEdits edits(edits_seed_, limit);
    const std::string failure = run_alone(program, device_, edits, opening_);
    applied_ = edits.applied();
    refused_ = edits.refused();
    return failure;
  }

  Device& device_;
  const char* machine_;
  std::uint64_t seed_, edits_seed_;
  OpeningSeed opening_;
  std::vector<Edit> applied_;
  std::int64_t refused_ = 0;
};

constexpr std::uint64_t sequences_of_case = 100;
constexpr std::uint64_t replayed = 10;  // one in so many sequences
constexpr int percent_of_forms = 15;    // of the cases are of a form of open sizes

// Whether the list of a sequence of edits of the kernel makes the same program again.
std::string replay_failure(UOp kernel, const Caps& caps, std::uint64_t seed) {
  RandomEdits edits(seed, no_limit);
  const std::string program = print_program(make_program(kernel, caps, edits));
  const std::string text = to_text(edits.applied());
  const std::vector<Edit> list = parse_edits(text);
  auto replay = [&](KernelState& k) { apply_all(k, list); };
  const bool same = print_program(make_program(kernel, caps, replay)) == program;
  return same ? "" : fmt::format("'{}' makes another program when it is replayed", text);
}

}  // namespace

std::optional<Mismatch> edits_case(std::uint64_t seed, Counts& counts) {
  const MachineShape& shape = shapes[seed % std::size(shapes)];
  const std::unique_ptr<Device> device = make_interpreter(shape.caps());
  Chance chance(seed);
  const FuzzProgram program = random_program(seed, {.steps = static_cast<int>(chance.between(1, 3)),
                                                    .largest = 60,
                                                    .rare_dtypes = chance.percent(20),
                                                    .contractions = 30});
  if (chance.percent(percent_of_forms)) {
    return open_edits_case(*device, shape.name, seed, sequences_of_case, counts);
  }
  OpeningSeed opening;
  if (chance.percent(percent_open)) opening = seed;
  const ScheduledProgram scheduled(program, *device, opening);
  if (scheduled.most_visits() * static_cast<double>(sequences_of_case) > most_visits) {
    counts["cases of too much work"]++;
    return {};
  }
  for (std::uint64_t i = 0; i < sequences_of_case; i++) {
    const std::uint64_t edits_seed = hash_mix(seed, i);
    RandomEdits edits(edits_seed, no_limit);
    const std::string failure = scheduled.run(edits);
    counts["sequences"] += edits.sequences();
    if (opening) counts["sequences of open sizes"] += edits.sequences();
    counts["edits"] += std::ssize(edits.applied());
    counts["refused edits"] += edits.refused();
    if (!failure.empty()) {
      return KernelCase(*device, shape.name, seed, edits_seed, opening).reduced(program);
    }
    if (i % replayed != 0) continue;
    for (const ScheduleStep& step : scheduled.schedule().steps) {
      if (!step.kernel) continue;
      const std::string why = replay_failure(step.kernel->sink, device->caps(), edits_seed);
      if (!why.empty()) return Mismatch{seed, why, cpp_of(program)};
    }
  }
  return {};
}

std::optional<Mismatch> kernels_case(std::uint64_t seed, Counts& counts) {
  const MachineShape& shape = shapes[seed % std::size(shapes)];
  const std::unique_ptr<Device> device = make_interpreter(shape.caps());
  return KernelCase(*device, shape.name, seed).run(counts);
}

std::optional<Mismatch> kernels_case_on(Device& device, std::uint64_t seed, Counts& counts) {
  return KernelCase(device, device.caps().device.c_str(), seed).run(counts);
}

}  // namespace croze::fuzz
