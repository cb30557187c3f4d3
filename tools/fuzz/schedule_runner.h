// schedule_runner.h -- runs kernels and whole schedules on a Device object that need not stand in
// the table of devices: an interpreter with the capabilities of other hardware, above all.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "croze/base/options.h"
#include "croze/codegen/pipeline.h"
#include "croze/device/device.h"
#include "croze/graph/uop.h"
#include "croze/schedule/schedule.h"
#include "croze/schedule/sizes/open_graph.h"

namespace croze::fuzz {

using Bytes = std::vector<std::byte>;

// Compiles the kernel for the device and runs it once on these buffers, in the order of the
// parameters.  Checks the kernel and its program against their specs.
void run_kernel(Device& device, UOp kernel, std::span<const std::span<std::byte>> buffers,
                Chooser chooser = {});

// Of ScheduleContext.
struct ScheduleSettings {
  bool fuse = true;
  std::int64_t memory_budget = Options::integer(Option::MemoryBudget);
  std::int64_t recompute_percent = Options::integer(Option::Recompute);
};

// Schedules the roots for the device alone.
Schedule schedule_for(const Device& device, const CanonicalGraph& graph,
                      const ScheduleSettings& settings = {});
// That of an open graph, as what an instance of it needs.
Schedule schedule_for(const Device& device, const OpenGraph& graph,
                      const OpenGraph::Instance& instance);

// Runs a schedule on the device.  `inputs` holds the bytes of graph.inputs and is written where the
// schedule assigns.  Temporaries lie in one arena as the memory plan says; arena and results are
// full of noise before.  Returns the bytes of each root, empty for one that only assigns.
// `variables`: those of the launch, if the schedule has some.
std::vector<Bytes> run_schedule(Device& device, const Schedule& schedule,
                                std::vector<Bytes>& inputs, Chooser chooser = {},
                                std::span<const std::int64_t> variables = {});

// Capabilities for interpreters that stand for other machines.  Every access is checked there, so
// the edits are exercised where a mistake shows.
Caps scalar_caps();        // INTERP as it is
Caps cpu_shaped_caps();    // with lanes, tasks and masks like a CPU
Caps small_cache_caps();   // the same with so little cache that everything runs in many blocks
Caps gpu_shaped_caps();    // with groups of items like a GPU
Caps vector_warps_caps();  // the same, whose warps are vectors of a processor
Caps lone_items_caps();    // with groups of one item, which has lanes: OpenCL on a CPU
Caps spare_caps();  // narrow lanes without masks, and no op or dtype that could be decomposed

}  // namespace croze::fuzz
