// workbench.h -- programs tried in a process of their own.
//
// Whatever a candidate does (computes something else, writes where it must not, never ends), the
// process that tries it loses nothing: each try is a child made by fork(), with a copy of the
// memory, a limit on time and one on what it may map.  Only what it stores and its report are
// shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "croze/base/thread_pool.h"
#include "croze/device/device.h"
#include "croze/graph/uop.h"

namespace croze::tune {

// One kernel as a function of this process.
struct TrialProgram {
  HostFunction function = nullptr;
  std::int64_t tasks = 1;
  std::int64_t scratch_bytes = 0;
};

enum class TrialEnd : std::uint8_t {
  Right,
  Slow,   // so much slower than the rival that it was not timed
  Wrong,  // stores something else than was expected
  Crashed,
  Hung,  // took longer than the limit
};
std::string_view name_of(TrialEnd end);

struct Trial {
  TrialEnd end = TrialEnd::Right;
  double seconds = 0, rival_seconds = 0;  // medians; of what ended right
};

// How long a race takes, and how long it may take.
struct TrialTime {
  double seconds = 0.02;
  double limit = 5;
};

// The buffers of a kernel, filled with random numbers, and what it is to make of them.
class Workbench {
 public:
  // Open sizes are the greatest that they can be.  Throws Error if the buffers take more than
  // `most_bytes`, or a Variable has no greatest value.
  Workbench(UOp kernel, int threads, std::uint64_t seed,
            std::int64_t most_bytes = std::int64_t{4} << 30);
  ~Workbench();
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  const std::vector<std::int64_t>& variables() const { return variables_; }

  // Takes what `plain` stores as what is right.  False if it does not end in `limit` seconds.
  bool learn(const TrialProgram& plain, double limit);

  // Runs both in turns, on the same buffers and threads, after one run of the candidate whose
  // results are compared: integers must be equal, floats as near as another order of additions
  // leaves them.
  Trial race(const TrialProgram& candidate, const TrialProgram& rival, const TrialTime& time);

 private:
  struct Buffer {
    DType dtype = DType::Void;
    std::int64_t bytes = 0;
    bool is_written = false;
    std::byte* memory = nullptr;
  };
  struct Report;
  class Pages;

  void take_variables(UOp kernel);
  void take_buffers(UOp kernel, std::int64_t most_bytes);
  void fill(std::uint64_t seed);
  void restore();
  TrialEnd in_child(double limit, const std::function<void(Report&)>& work);
  double run(const TrialProgram& program, ThreadPool& pool, int times) const;
  void time_both(const TrialProgram& candidate, const TrialProgram& rival, double seconds,
                 Report& report) const;
  bool is_right() const;

  int threads_;
  std::vector<Buffer> buffers_;
  std::vector<void*> addresses_;
  std::vector<std::int64_t> variables_;
  std::unique_ptr<Pages> read_, written_;
  std::vector<std::byte> initial_, expected_;  // of what is written
  Report* report_ = nullptr;
};

}  // namespace croze::tune
