// compare.h -- two traces side by side: what a change does to the time of kernels and to memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/trace/trace.h"

namespace croze {

// Launches of one name in both traces.
struct ComparedKernel {
  enum class What : std::uint8_t {
    Same,
    Changed,  // its code is another
    New,
    Gone,
  };
  std::string name;
  What what = What::Same;
  std::int64_t base_launches = 0, launches = 0;
  double base_seconds = 0, seconds = 0;
};

struct ComparedMemory {
  std::string device;
  std::int64_t base_peak = 0, peak = 0;  // bytes allocated at once
};

struct Comparison {
  std::vector<ComparedKernel> kernels;  // the largest difference in time first
  std::vector<ComparedMemory> memory;   // by the names of devices
  double base_seconds = 0, seconds = 0;
};

// "same", "changed", "new" or "gone".
std::string_view name_of(ComparedKernel::What what);

// `base` is what the other one is compared with.
Comparison compare(const traces::Trace& base, const traces::Trace& trace);

// The most bytes that were allocated at once on each device, by its name.
std::vector<std::pair<std::string, std::int64_t>> peaks_of(const traces::Trace& trace);

}  // namespace croze
