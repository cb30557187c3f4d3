// benchmark.h -- how long work on tensors takes.
//
// What was computed once is remembered: a second matmul(m, m).realize() over the same m takes
// microseconds, because it is a lookup.  So a loop around a clock times nothing.  benchmark() has
// everything forgotten before each run, and waits for the devices after it.
//
//     Timing t = benchmark([&] { return matmul(m, m); });
//     fmt::print("{:.3f} ms\n", t.median * 1e3);
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "croze/base/function_ref.h"
#include "croze/tensor/tensor.h"

namespace croze {

struct BenchmarkOptions {
  std::int64_t warm_up = 1;  // runs that are not counted: the first one compiles
  std::int64_t runs = 5;     // at least
  double seconds = 0.5;      // further runs until so much time has passed
};

// Seconds of one run.  A quarter of the runs took less than `lower` and a quarter more than
// `upper`: what lies between them is the spread.
struct Timing {
  double median = 0, lower = 0, upper = 0, least = 0, greatest = 0;
  std::int64_t runs = 0;
};

// Times `work`, which records operations and returns the result, a Tensor or a std::vector of
// them, to be computed; or returns nothing, having computed what it wanted.  Memory of tensors is
// kept, and so are compiled kernels: it is the run that is timed.
template <std::invocable F>
Timing benchmark(F&& work, const BenchmarkOptions& options = {}, Location at = Location::current());

namespace detail {
Timing time_runs(function_ref<std::vector<Tensor>()> work, const BenchmarkOptions& options,
                 Location at);
}  // namespace detail

template <std::invocable F>
Timing benchmark(F&& work, const BenchmarkOptions& options, Location at) {
  using Result = std::invoke_result_t<F&>;
  const auto run = [&]() -> std::vector<Tensor> {
    if constexpr (std::is_void_v<Result>) {
      work();
      return {};
    } else if constexpr (std::same_as<Result, std::vector<Tensor>>) {
      return work();
    } else {
      return {work()};
    }
  };
  return detail::time_runs(run, options, at);
}

}  // namespace croze
