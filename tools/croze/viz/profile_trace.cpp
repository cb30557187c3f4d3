#include "viz/profile_trace.h"

#include <croze/base/file.h>
#include <croze/base/printable.h>
#include <croze/trace/trace.h>
#include <croze/viz/compare.h>
#include <croze/viz/hot.h>
#include <croze/viz/summary.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "command_line/json.h"

namespace croze::tool {
namespace {

// A row against the roof of its device; none where that is not known.
std::optional<double> share_of(const traces::Trace& trace, const TraceRow& r) {
  const std::optional<Roof> roof = roof_of(trace, r.device);
  if (!roof) return {};
  return share_of_roof(*roof, r.flops, r.bytes, r.seconds);
}

void print_rows(const char* title, const traces::Trace& trace, const std::vector<TraceRow>& rows,
                double all, bool shows_nodes) {
  fmt::print("{:>12} {:>6} {:>8} {:>10} {:>9} {:>8} {:>6}  {}\n", "us", "%", "times", "least us",
             "GFLOP/s", "GB/s", "% roof", title);
  for (const TraceRow& r : rows) {
    const double seconds = r.seconds > 0 ? r.seconds : 1;
    const std::optional<double> share = share_of(trace, r);
    fmt::print("{:>12.1f} {:>6.1f} {:>8} {:>10.1f} {:>9.2f} {:>8.2f} {:>6}  {}\n", r.seconds * 1e6,
               all > 0 ? r.seconds / all * 100 : 0, r.launches, r.least_seconds * 1e6,
               r.flops / seconds * 1e-9, r.bytes / seconds * 1e-9,
               share ? fmt::format("{:.1f}", *share * 100) : "", printable(r.name));
    if (!shows_nodes) continue;
    for (traces::Name node : r.nodes) {
      fmt::print("{:>67}{}\n", "", printable(traces::short_name(trace.text(node))));
    }
  }
  fmt::print("\n");
}

// The hottest instructions of the hottest kernels.
void print_hot(const std::vector<HotKernel>& kernels) {
  constexpr std::size_t max_kernels = 5, max_instructions = 8;
  double all = 0;
  for (const HotKernel& k : kernels) all += static_cast<double>(k.samples);
  for (const HotKernel& k : std::span(kernels).first(std::min(kernels.size(), max_kernels))) {
    const auto samples = static_cast<double>(k.samples);
    fmt::print("{:>12.1f} % of {:.0f} samples  {}\n", samples / all * 100, all, printable(k.name));
    const std::size_t shown = std::min(k.instructions.size(), max_instructions);
    for (const HotInstruction& i : std::span(k.instructions).first(shown)) {
      fmt::print("{:>12.1f} % {:>8x}:  {}\n", static_cast<double>(i.samples) / samples * 100,
                 i.offset, printable(i.text));
    }
    fmt::print("\n");
  }
}

Json json_of(const traces::Trace& trace, const std::vector<TraceRow>& rows, const char* name) {
  Json list = Json::array();
  for (const TraceRow& r : rows) {
    Json row{{name, r.name},
             {"device", r.device},
             {"launches", r.launches},
             {"seconds", r.seconds},
             {"least_seconds", r.least_seconds},
             {"flops", r.flops},
             {"bytes", r.bytes}};
    if (const std::optional<double> share = share_of(trace, r)) row["share_of_roof"] = *share;
    for (traces::Name node : r.nodes) row["nodes"].push_back(trace.text(node));
    list.push_back(std::move(row));
  }
  return list;
}

Json json_of(const std::vector<HotKernel>& kernels) {
  Json list = Json::array();
  for (const HotKernel& k : kernels) {
    Json instructions = Json::array();
    for (const HotInstruction& i : k.instructions) {
      instructions.push_back(
          Json{{"offset", i.offset}, {"samples", i.samples}, {"instruction", i.text}});
    }
    list.push_back(Json{
        {"kernel", k.name}, {"samples", k.samples}, {"instructions", std::move(instructions)}});
  }
  return list;
}

}  // namespace

void profile_trace(const std::string& name, const traces::Trace& trace, bool json) {
  const std::vector<TraceRow> modules = by_module(trace), calls = by_call(trace),
                              kernels = by_kernel(trace);
  double seconds = 0;
  for (const TraceRow& r : kernels) seconds += r.seconds;
  const std::optional<Roof> roof = roof_of(trace, "CPU");
  const std::vector<HotKernel> hot = hot_kernels(trace);
  if (json) {
    Json line{{"trace", name},
              {"seconds", seconds},
              {"by_module", json_of(trace, modules, "module")},
              {"by_call", json_of(trace, calls, "call")},
              {"by_kernel", json_of(trace, kernels, "kernel")}};
    if (!hot.empty()) line["hot"] = json_of(hot);
    if (roof) line["roof"] = Json{{"flops", roof->flops}, {"bytes", roof->bytes}};
    fmt::print("{}\n", line.dump());
    return;
  }
  print_rows("module", trace, modules, seconds, false);
  print_rows("call that recorded it", trace, calls, seconds, false);
  print_rows("kernel", trace, kernels, seconds, true);
  print_hot(hot);
  fmt::print("{:.1f} us in {} launches\n", seconds * 1e6, trace.launches.size());
  if (roof) {
    fmt::print("the roof of CPU: {:.1f} GFLOP/s, {:.1f} GB/s\n", roof->flops * 1e-9,
               roof->bytes * 1e-9);
  }
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
