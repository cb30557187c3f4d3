// workbench.cpp -- buffers, children and clocks.
//
// A child of a process with threads may call little: what was loaded before the fork (the kernels),
// and malloc and threads, which the C library keeps usable in it.  It makes a thread pool of its
// own, runs, compares, times, writes its report and ends without any clean-up.
#include "croze/tune/workbench.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <system_error>
#include <thread>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/thread_pool.h"
#include "croze/codegen/estimate.h"
#include "croze/device/host_memory.h"
#include "croze/graph/eval.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/tune/median.h"

namespace croze::tune {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr std::int64_t buffer_alignment = 64;
// Memory that a child may map beyond its parent's: stacks, arenas of malloc, scratch.
constexpr std::int64_t child_bytes = std::int64_t{1} << 30;
// A candidate that takes so much longer than its rival is not looked at any further.
constexpr double hopeless = 1.5;
// Runs are joined until they take so long, so that the clock is no part of what is measured.
constexpr double least_timed = 50e-6;
constexpr std::size_t least_pairs = 5, most_pairs = 200;

// The parameter that a Store writes; null if it fills a tile.
UOp written_param(UOp store) {
  UOp u = store.src(0);
  while (!u.is(Op::Param) && u.num_src() > 0) u = u.src(0);
  return u.is(Op::Param) ? u : UOp();
}

// How far apart two results may be, relative to the largest: sums of other orders differ by some
// ulps, of more terms by more.
double tolerance(DType t) {
  switch (t) {
    case DType::Float64: return 1e-10;
    case DType::Float32: return 1e-4;
    case DType::Float16: return 4e-3;
    case DType::BFloat16: return 3e-2;
    default: return 0.3;  // floats of eight bits
  }
}

double as_double(const std::byte* memory, DType t) {
  return std::bit_cast<double>(load_bits(memory, t));
}

bool floats_agree(std::span<const std::byte> found, std::span<const std::byte> expected, DType t) {
  const auto step = static_cast<std::size_t>(size_of(t));
  double scale = 0;
  for (std::size_t i = 0; i < expected.size(); i += step) {
    const double e = as_double(&expected[i], t);
    if (std::isfinite(e)) scale = std::max(scale, std::abs(e));
  }
  for (std::size_t i = 0; i < expected.size(); i += step) {
    const double f = as_double(&found[i], t), e = as_double(&expected[i], t);
    if (f == e || (std::isnan(f) && std::isnan(e))) continue;
    if (!(std::abs(f - e) <= tolerance(t) * scale)) return false;
  }
  return true;
}

std::int64_t mapped_bytes() {
  long long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * sysconf(_SC_PAGESIZE);
}

// What the parent has set up for itself does not hold in a child that may crash or hang.
void confine_child(std::int64_t most_mapped) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM}) std::signal(s, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const auto bytes = static_cast<rlim_t>(most_mapped);
  const rlimit memory{bytes, bytes};
  setrlimit(RLIMIT_AS, &memory);
}

// How a child ended; it is killed when the time is over.
TrialEnd wait_for(pid_t child, double limit) {
  constexpr auto longest_nap = std::chrono::microseconds(1000);
  auto nap = std::chrono::microseconds(50);
  const Clock::time_point start = Clock::now();
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return TrialEnd::Crashed;
    if (seconds_since(start) > limit) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return TrialEnd::Hung;
    }
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, longest_nap);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? TrialEnd::Right : TrialEnd::Crashed;
}

}  // namespace

std::string_view name_of(TrialEnd end) {
  switch (end) {
    case TrialEnd::Right: return "right";
    case TrialEnd::Slow: return "slow";
    case TrialEnd::Wrong: return "wrong";
    case TrialEnd::Crashed: return "crashed";
    case TrialEnd::Hung: return "hung";
  }
  return {};
}

// What a child tells.
struct Workbench::Report {
  TrialEnd end = TrialEnd::Crashed;
  double seconds = 0, rival_seconds = 0;
};

// Zeroed memory of the system.
class Workbench::Pages {
 public:
  Pages(std::int64_t bytes, int sharing) : bytes_(static_cast<std::size_t>(bytes)) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    check(memory_ != MAP_FAILED, "no room for {} bytes to try kernels on: {}", bytes,
          std::generic_category().message(errno));
  }
  ~Pages() { munmap(memory_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  std::byte* begin() const { return static_cast<std::byte*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
};

Workbench::Workbench(UOp kernel, int threads, std::uint64_t seed, std::int64_t most_bytes)
    : threads_(threads) {
  take_variables(kernel);
  take_buffers(kernel, most_bytes);
  fill(seed);
  for (const Buffer& b : buffers_) {
    addresses_.push_back(b.memory);
    if (b.is_written) initial_.insert(initial_.end(), b.memory, b.memory + b.bytes);
  }
}

Workbench::~Workbench() = default;

void Workbench::take_variables(UOp kernel) {
  const ProgramInfo info = estimate(kernel);
  variables_.resize(static_cast<std::size_t>(info.num_variables));
  for (std::size_t i = 0; i < variables_.size(); i++) {
    check(i < info.variables.size() && info.variables[i].hi <= address_space,
          "{} takes a number without bounds, so it cannot be tried", info.name);
    variables_[i] = info.variables[i].hi;
  }
}

// What is written lies in pages that a child shares, behind its report.
void Workbench::take_buffers(UOp kernel, std::int64_t most_bytes) {
  const ProgramInfo info = estimate(kernel);
  buffers_.resize(static_cast<std::size_t>(info.num_buffers));
  for (UOp u : toposort(kernel)) {
    if (u.is(Op::Param)) {
      Buffer& b = buffers_[static_cast<std::size_t>(u.slot())];
      b.dtype = u.dtype();
      b.bytes = u.elements() * size_of(u.dtype());
    } else if (u.is(Op::Store)) {
      const UOp param = written_param(u);
      if (param) buffers_[static_cast<std::size_t>(param.slot())].is_written = true;
    }
  }
  const auto room_of = [](const Buffer& b) {
    return (b.bytes / buffer_alignment + 2) * buffer_alignment;  // and a vector behind it
  };
  std::int64_t read = 0, written = sizeof(Report) + buffer_alignment;
  for (const Buffer& b : buffers_) {
    (b.is_written ? written : read) += room_of(b);
    check(read + written <= most_bytes,
          "the buffers of {} take more than {} bytes, so it is not "
          "tried",
          info.name, most_bytes);
  }
  read_ = std::make_unique<Pages>(std::max(read, buffer_alignment), MAP_PRIVATE);
  written_ = std::make_unique<Pages>(written, MAP_SHARED);
  report_ = new (written_->begin()) Report;
  std::byte* next_read = read_->begin();
  std::byte* next_written = written_->begin() + buffer_alignment;
  static_assert(sizeof(Report) <= buffer_alignment);
  for (Buffer& b : buffers_) {
    std::byte*& next = b.is_written ? next_written : next_read;
    b.memory = std::exchange(next, next + room_of(b));
  }
}

// Floats from 1/2 to 3/2, of which sums, roots and quotients are tame; integers that are places of
// something small; any bytes.
void Workbench::fill(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const Buffer& b : buffers_) {
    const std::int64_t size = size_of(b.dtype);
    for (std::int64_t at = 0; size > 0 && at + size <= b.bytes; at += size) {
      const std::uint64_t r = random();
      const double unit = static_cast<double>(r >> 40) * 0x1p-24;
      const std::int64_t bits = is_float(b.dtype)        ? bits_of(0.5 + unit, b.dtype)
                                : b.dtype == DType::Bool ? static_cast<std::int64_t>(r & 1)
                                                         : static_cast<std::int64_t>(r & 127);
      store_bits(bits, b.dtype, b.memory + at);
    }
  }
}

void Workbench::restore() {
  const std::byte* from = initial_.data();
  for (const Buffer& b : buffers_) {
    if (!b.is_written) continue;
    std::memcpy(b.memory, from, static_cast<std::size_t>(b.bytes));
    from += b.bytes;
  }
}

// ---- in the child -----------------------------------------------------------------------------

double Workbench::run(const TrialProgram& program, ThreadPool& pool, int times) const {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < times; i++) {
    pool.run(program.tasks, [&](std::int64_t task) {
      program.function(addresses_.data(), variables_.data(), task,
                       thread_scratch(program.scratch_bytes, "a trial"));
    });
  }
  return seconds_since(start) / times;
}

bool Workbench::is_right() const {
  const std::byte* from = expected_.data();
  for (const Buffer& b : buffers_) {
    if (!b.is_written) continue;
    const std::span found(b.memory, static_cast<std::size_t>(b.bytes));
    const std::span expected(from, found.size());
    from += b.bytes;
    const bool agree = is_float(b.dtype) ? floats_agree(found, expected, b.dtype)
                                         : std::ranges::equal(found, expected);
    if (!agree) return false;
  }
  return true;
}

void Workbench::time_both(const TrialProgram& candidate, const TrialProgram& rival, double seconds,
                          Report& report) const {
  ThreadPool pool(threads_);
  const double first = run(candidate, pool, 1);
  if (!is_right()) {
    report.end = TrialEnd::Wrong;
    return;
  }
  run(rival, pool, 1);  // both are warm now
  const double rival_once = run(rival, pool, 1);
  const double once = std::min(first, run(candidate, pool, 1));
  if (once > hopeless * rival_once && once > least_timed) {
    report.end = TrialEnd::Slow;
    return;
  }
  const int times = std::max(1, static_cast<int>(least_timed / std::max(once, 1e-8)));
  std::vector<double> mine, other;
  const Clock::time_point start = Clock::now();
  while (mine.size() < least_pairs ||
         (mine.size() < most_pairs && seconds_since(start) < seconds)) {
    mine.push_back(run(candidate, pool, times));
    other.push_back(run(rival, pool, times));
  }
  report = {TrialEnd::Right, median(mine), median(other)};
}

// ---- in the parent ----------------------------------------------------------------------------

TrialEnd Workbench::in_child(double limit, const std::function<void(Report&)>& work) {
  restore();
  *report_ = {};
  const std::int64_t most_mapped = mapped_bytes() + child_bytes;
  const pid_t child = fork();
  check(child >= 0, "no process to try a kernel in: {}", std::generic_category().message(errno));
  if (child == 0) {
    confine_child(most_mapped);
    try {
      work(*report_);
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  const TrialEnd end = wait_for(child, limit);
  return end == TrialEnd::Right ? report_->end : end;
}

bool Workbench::learn(const TrialProgram& plain, double limit) {
  const TrialEnd end = in_child(limit, [&](Report& report) {
    ThreadPool pool(threads_);
    run(plain, pool, 1);
    report.end = TrialEnd::Right;
  });
  if (end != TrialEnd::Right) return false;
  expected_.clear();
  for (const Buffer& b : buffers_) {
    if (b.is_written) expected_.insert(expected_.end(), b.memory, b.memory + b.bytes);
  }
  return true;
}

Trial Workbench::race(const TrialProgram& candidate, const TrialProgram& rival,
                      const TrialTime& time) {
  ensure(expected_.size() == initial_.size(), "a race before it is known what is right");
  const TrialEnd end = in_child(
      time.limit, [&](Report& report) { time_both(candidate, rival, time.seconds, report); });
  if (end != TrialEnd::Right) return {.end = end};
  return {end, report_->seconds, report_->rival_seconds};
}

}  // namespace croze::tune
