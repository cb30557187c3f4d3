// check.h -- running random programs, and making failing ones small.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "croze/codegen/pipeline.h"
#include "croze/device/device.h"
#include "croze/schedule/schedule.h"
#include "fuzz/program.h"

namespace croze::fuzz {

// Each returns what went wrong, or nothing.

using OpeningSeed = std::optional<std::uint64_t>;

// A program scheduled for one Device object, to be run without caches and more than once.
class ScheduledProgram {
 public:
  // Both must outlive this object.  With a seed for it some sizes are open (open/opened.h).
  ScheduledProgram(const FuzzProgram& program, Device& device, OpeningSeed opening = {});

  std::string run(Chooser chooser = {}) const;
  // How often elements are visited if each reduction stands inside of all loops of its kernel, as
  // it may where edits order them.
  double most_visits() const;
  const Schedule& schedule() const { return schedule_; }

 private:
  const FuzzProgram& program_;
  Device& device_;
  CanonicalGraph graph_;
  std::vector<int> buffers_;  // the instruction of each input
  Schedule schedule_;
};

// The same, scheduled and run once.
std::string run_alone(const FuzzProgram& program, Device& device, Chooser chooser = {},
                      OpeningSeed opening = {});
// Through realize(), on a device of the table.
std::string run_realized(const FuzzProgram& program, int device);

// Replaces parts of the program by buffers that hold their values for as long as it still fails.
FuzzProgram minimised(FuzzProgram program,
                      const std::function<std::string(const FuzzProgram&)>& run);

}  // namespace croze::fuzz
