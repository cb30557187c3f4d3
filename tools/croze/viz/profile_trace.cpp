#include "viz/profile_trace.h"

#include <croze/base/file.h>
#include <croze/base/printable.h>
#include <croze/trace/trace.h>
#include <croze/viz/compare.h>
#include <croze/viz/summary.h>
#include <fmt/format.h>

#include <vector>

#include "command_line/json.h"

namespace croze::tool {
namespace {

void print_rows(const char* title, const std::vector<TraceRow>& rows, double all) {
  fmt::print("{:>12} {:>6} {:>8} {:>10} {:>9} {:>8}  {}\n", "us", "%", "times", "least us",
             "GFLOP/s", "GB/s", title);
  for (const TraceRow& r : rows) {
    const double seconds = r.seconds > 0 ? r.seconds : 1;
    fmt::print("{:>12.1f} {:>6.1f} {:>8} {:>10.1f} {:>9.2f} {:>8.2f}  {}\n", r.seconds * 1e6,
               all > 0 ? r.seconds / all * 100 : 0, r.launches, r.least_seconds * 1e6,
               r.flops / seconds * 1e-9, r.bytes / seconds * 1e-9, printable(r.name));
  }
}

Json json_of(const std::vector<TraceRow>& rows, const char* name) {
  Json list = Json::array();
  for (const TraceRow& r : rows) {
    list.push_back(Json{{name, r.name},
                        {"device", r.device},
                        {"launches", r.launches},
                        {"seconds", r.seconds},
                        {"least_seconds", r.least_seconds},
                        {"flops", r.flops},
                        {"bytes", r.bytes}});
  }
  return list;
}

}  // namespace

bool is_trace(const std::string& path) {
  const MappedFile file(path);
  const auto size = static_cast<std::int64_t>(traces::magic.size());
  return file.reader().remaining() >= size && file.reader().text(size) == traces::magic;
}

void profile_trace(const std::string& path, bool json) {
  const MappedFile file(path);
  const traces::Trace trace = traces::read_trace(file.data(), path);
  const std::vector<TraceRow> calls = by_call(trace), kernels = by_kernel(trace);
  double seconds = 0;
  for (const TraceRow& r : kernels) seconds += r.seconds;
  if (json) {
    const Json line{{"trace", path},
                    {"seconds", seconds},
                    {"by_call", json_of(calls, "call")},
                    {"by_kernel", json_of(kernels, "kernel")}};
    fmt::print("{}\n", line.dump());
    return;
  }
  print_rows("call that recorded it", calls, seconds);
  fmt::print("\n");
  print_rows("kernel", kernels, seconds);
  fmt::print("\n{:.1f} us in {} launches\n", seconds * 1e6, trace.launches.size());
}

namespace {

// "+12.3 %" of what was before.
std::string change_text(double before, double now) {
  return before > 0 && now > 0 ? fmt::format("{:+.1f} %", (now / before - 1) * 100) : "";
}

Json json_of(const Comparison& c) {
  Json kernels = Json::array(), memory = Json::array();
  for (const ComparedKernel& k : c.kernels) {
    kernels.push_back(Json{{"kernel", k.name},
                           {"what", name_of(k.what)},
                           {"base_launches", k.base_launches},
                           {"launches", k.launches},
                           {"base_seconds", k.base_seconds},
                           {"seconds", k.seconds}});
  }
  for (const ComparedMemory& m : c.memory) {
    memory.push_back(
        Json{{"device", m.device}, {"base_peak_bytes", m.base_peak}, {"peak_bytes", m.peak}});
  }
  return {{"base_seconds", c.base_seconds},
          {"seconds", c.seconds},
          {"kernels", std::move(kernels)},
          {"memory", std::move(memory)}};
}

void print(const Comparison& c) {
  fmt::print("{:>12} {:>12} {:>12} {:>9} {:>13}  {:8} {}\n", "us before", "us now", "difference",
             "", "launches", "", "kernel");
  for (const ComparedKernel& k : c.kernels) {
    const std::string launches = k.base_launches == k.launches
                                     ? fmt::to_string(k.launches)
                                     : fmt::format("{} > {}", k.base_launches, k.launches);
    fmt::print("{:>12.1f} {:>12.1f} {:>+12.1f} {:>9} {:>13}  {:8} {}\n", k.base_seconds * 1e6,
               k.seconds * 1e6, (k.seconds - k.base_seconds) * 1e6,
               change_text(k.base_seconds, k.seconds), launches, name_of(k.what),
               printable(k.name));
  }
  fmt::print("{:>12.1f} {:>12.1f} {:>+12.1f} {:>9} {:>13}  {:8} all kernels\n",
             c.base_seconds * 1e6, c.seconds * 1e6, (c.seconds - c.base_seconds) * 1e6,
             change_text(c.base_seconds, c.seconds), "", "");
  for (const ComparedMemory& m : c.memory) {
    fmt::print("most memory on {}: {} bytes before, {} now {}\n", printable(m.device), m.base_peak,
               m.peak, change_text(static_cast<double>(m.base_peak), static_cast<double>(m.peak)));
  }
}

}  // namespace

void compare_traces(const std::string& base, const std::string& path, bool json) {
  const MappedFile base_file(base), file(path);
  const Comparison comparison =
      compare(traces::read_trace(base_file.data(), base), traces::read_trace(file.data(), path));
  if (!json) return print(comparison);
  Json line = json_of(comparison);
  line["base"] = base;
  line["trace"] = path;
  fmt::print("{}\n", line.dump());
}

}  // namespace croze::tool
