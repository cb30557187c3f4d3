// file.h -- internal to prepared/: plans in files.
#pragma once

#include <string>

#include "croze/prepared/plan.h"

namespace croze::prepared {

// `weights`: the name of a file beside it for the weights; empty: they follow in the file.  Throws
// Error if it cannot be written.
void write_step(const Plan& plan, const std::string& path, const std::string& weights);
// Throws Error if it is no file that write_step() has written.  check_plan() has still to be
// called.
Plan read_step(const std::string& path);

}  // namespace croze::prepared
