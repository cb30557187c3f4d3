// kernel_samples.h -- internal to run/: in which kernels, and where in their code, threads are
// seen.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "croze/run/trace/sampler.h"
#include "croze/trace/writer.h"

namespace croze::tracing {

using Clock = std::chrono::steady_clock;

// Not thread-safe.  Memory is bounded: by the instructions that are seen between two writes, and a
// number of kernels.
class KernelSamples {
 public:
  // From now on this memory is the code of the kernel, whatever it was before.
  void add(traces::Number kernel, std::span<const std::byte> code);
  // Takes what was seen if the last time was a while ago; what waits for too long is lost.
  void collect_now_and_then(Clock::time_point now);
  // Writes what was seen since the last time.
  void write(traces::Writer& writer);

 private:
  void collect();

  struct Code {
    std::uintptr_t end = 0;
    traces::Number kernel = 0;
  };
  std::map<std::uintptr_t, Code> codes_;  // by where it begins; they do not overlap
  std::map<std::pair<traces::Number, std::int64_t>, std::int64_t> counts_;  // by kernel and offset
  Sampler sampler_;
  Clock::time_point last_collect_ = {};
};

}  // namespace croze::tracing
