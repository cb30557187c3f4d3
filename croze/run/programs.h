// programs.h -- compiled kernels, kept in memory and on disk.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "croze/device/device.h"
#include "croze/schedule/schedule.h"

namespace croze {

// What became of a kernel on its way to a program, for people.
struct KernelText {
  std::string edits;    // that were made
  std::string program;  // the linear program
  std::string source;
};

struct LoadedProgram {
  ProgramInfo info;
  std::unique_ptr<Program> program;
  std::int64_t code_bytes = 0;
  std::shared_ptr<const KernelText> text;  // of what was compiled while the program was traced
};

struct KernelRequest {
  std::shared_ptr<const Kernel> kernel;
  int device = 0;
  // It runs on one thread: over a block of a sequence, or in a step that a thread has to itself.
  bool on_one_thread = false;
};

// The programs of the kernels, in order.  Those in no cache are compiled in parallel; one that
// another thread compiles at the moment is waited for.  Counts in run_counters().
std::vector<std::shared_ptr<const LoadedProgram>> load_programs(
    std::span<const KernelRequest> requests);
// A kernel as code that Device::load() takes, in this process or another one.
struct KernelCode {
  ProgramInfo info;
  std::string code;
};
// The code of the kernels, in order, from the cache on disk or compiled now, in parallel.
std::vector<KernelCode> code_of_kernels(std::span<const KernelRequest> requests);
// The texts of a kernel as load_programs would compile it.
std::shared_ptr<const KernelText> text_of_kernel(const KernelRequest& request);
void clear_program_cache();

}  // namespace croze
