// schedule_runner.h -- the runner of kernels and schedules of the fuzzers, for the tests.
#pragma once

#include "fuzz/schedule_runner.h"

namespace croze::test {

using fuzz::Bytes;
using fuzz::cpu_shaped_caps;
using fuzz::gpu_shaped_caps;
using fuzz::run_kernel;
using fuzz::run_schedule;
using fuzz::scalar_caps;
using fuzz::schedule_for;
using fuzz::small_cache_caps;

}  // namespace croze::test
