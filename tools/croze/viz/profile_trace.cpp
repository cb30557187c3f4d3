#include "viz/profile_trace.h"

#include <croze/base/file.h>
#include <croze/base/printable.h>
#include <croze/trace/trace.h>
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

}  // namespace croze::tool
