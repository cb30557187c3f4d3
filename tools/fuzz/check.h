// check.h -- running random programs, and making failing ones small.
#pragma once

#include <functional>
#include <string>

#include "codegen/pipeline.h"
#include "device/device.h"
#include "fuzz/program.h"

namespace croze::fuzz {

// Each returns what went wrong, or nothing.

// Scheduled and run for one Device object, without caches.
std::string run_alone(const FuzzProgram& program, Device& device, const Chooser& chooser = {});
// Through realize(), on a device of the table.
std::string run_realized(const FuzzProgram& program, int device);

// Replaces parts of the program by buffers that hold their values for as long as it still fails.
FuzzProgram minimised(FuzzProgram program,
                      const std::function<std::string(const FuzzProgram&)>& run);

}  // namespace croze::fuzz
