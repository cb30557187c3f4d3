#include "croze/viz/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "croze/viz/events.h"
#include "croze/viz/summary.h"

namespace croze {
namespace {

using traces::Trace;

// The code of what was launched under each name.
std::map<std::string, std::set<std::string_view>> code_by_name(const Trace& trace) {
  std::map<std::string, std::set<std::string_view>> code;
  for (const traces::Schedule& schedule : trace.schedules) {
    for (const traces::PlannedLaunch& launch : schedule.launches) {
      std::set<std::string_view>& texts = code[name_of(trace, launch)];
      for (const traces::Number number : launch.kernels) {
        const traces::Kernel& kernel = trace.kernels[number];
        texts.insert(trace.text(kernel.source != 0 ? kernel.source : kernel.program));
      }
    }
  }
  return code;
}

std::vector<ComparedKernel> compared_kernels(const Trace& base, const Trace& trace) {
  const auto base_code = code_by_name(base), code = code_by_name(trace);
  std::map<std::string, ComparedKernel> kernels;
  for (const TraceRow& row : by_kernel(base)) {
    kernels[row.name] = {.name = row.name,
                         .what = ComparedKernel::What::Gone,
                         .base_launches = row.launches,
                         .base_seconds = row.seconds};
  }
  for (const TraceRow& row : by_kernel(trace)) {
    const auto [entry, is_new] = kernels.try_emplace(row.name);
    ComparedKernel& kernel = entry->second;
    const bool is_same = !is_new && base_code.at(row.name) == code.at(row.name);
    kernel.what = is_new    ? ComparedKernel::What::New
                  : is_same ? ComparedKernel::What::Same
                            : ComparedKernel::What::Changed;
    kernel.name = row.name;
    kernel.launches = row.launches;
    kernel.seconds = row.seconds;
  }
  std::vector<ComparedKernel> rows;
  for (auto& [name, kernel] : kernels) rows.push_back(std::move(kernel));
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const ComparedKernel& k) {
    return std::abs(k.seconds - k.base_seconds);
  });
  return rows;
}

}  // namespace

std::string_view name_of(ComparedKernel::What what) {
  constexpr std::string_view names[] = {"same", "changed", "new", "gone"};
  return names[static_cast<std::size_t>(what)];
}

std::vector<std::pair<std::string, std::int64_t>> peaks_of(const Trace& trace) {
  std::map<std::string, std::int64_t> now, peaks;
  for (const MemoryChange& change : memory_changes(trace)) {
    const std::string device = traces::short_name(change.device);
    std::int64_t& bytes = now[device];
    // Sums of what a file claims may not fit: they saturate.
    if (__builtin_add_overflow(bytes, change.bytes, &bytes)) {
      bytes = change.bytes > 0 ? INT64_MAX : INT64_MIN;
    }
    peaks[device] = std::max(peaks[device], bytes);
  }
  return {peaks.begin(), peaks.end()};
}

Comparison compare(const Trace& base, const Trace& trace) {
  Comparison result;
  result.kernels = compared_kernels(base, trace);
  for (const ComparedKernel& kernel : result.kernels) {
    result.base_seconds += kernel.base_seconds;
    result.seconds += kernel.seconds;
  }
  std::map<std::string, ComparedMemory> memory;
  for (const auto& [device, peak] : peaks_of(base)) memory[device].base_peak = peak;
  for (const auto& [device, peak] : peaks_of(trace)) memory[device].peak = peak;
  for (auto& [device, row] : memory) {
    row.device = device;
    result.memory.push_back(std::move(row));
  }
  return result;
}

}  // namespace croze
