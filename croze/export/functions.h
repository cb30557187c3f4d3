// functions.h -- internal to export/: kernels compiled to functions of C.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "croze/export/model.h"
#include "croze/render/c_family/writer.h"
#include "croze/schedule/schedule.h"

namespace croze::plain_c {

// The functions of a schedule's kernels, each compiled once.
class FunctionTable {
 public:
  explicit FunctionTable(const Caps& machine) : machine_(machine) {}

  // The number of the kernel's function.
  int add(const Kernel& kernel);

  std::vector<Function> take_functions() { return std::move(functions_); }
  std::vector<c_family::Helper> take_helpers() { return std::move(helpers_); }

 private:
  // The function, once its helpers are kept.
  std::string taken(c_family::KernelText text);

  const Caps& machine_;
  std::map<std::string, int> numbers_;  // by the key of the kernel
  std::vector<Function> functions_;
  std::vector<c_family::Helper> helpers_;  // that they call, each once
};

}  // namespace croze::plain_c
