// programs.h -- internal to export/: kernels compiled to linear programs.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "croze/device/caps.h"
#include "croze/render/program.h"
#include "croze/schedule/schedule.h"

namespace croze::exporting {

// The programs of a schedule's kernels, each compiled once.
class ProgramTable {
 public:
  explicit ProgramTable(const Caps& machine) : machine_(machine) {}

  // The number of the kernel's program.
  int add(const Kernel& kernel);

  std::vector<LinearProgram> take() { return std::move(programs_); }

 private:
  const Caps& machine_;
  std::map<std::string, int> numbers_;  // by the key of the kernel
  std::vector<LinearProgram> programs_;
};

}  // namespace croze::exporting
