#include "viz/trace_file.h"

#include <croze/base/error.h>
#include <croze/base/file.h>
#include <croze/base/log.h>
#include <croze/base/thread_pool.h>
#include <croze/run/devices.h>
#include <croze/trace/writer.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "command_line/process.h"
#include "command_line/temporary_folder.h"
#include "yardstick/yardstick.h"

namespace croze::tool {
namespace {

namespace fs = std::filesystem;

std::string content_of(const std::string& path) {
  const MappedFile file(path);
  return std::string(as_text(file.data()));
}

bool was_written_here(const traces::Trace& trace) {
  return trace.fact("device") == "CPU" &&
         trace.fact("machine") == device(device_index("CPU")).description();
}

}  // namespace

bool is_trace(const std::string& path) {
  const MappedFile file(path);
  const auto size = static_cast<std::int64_t>(traces::magic.size());
  return file.reader().remaining() >= size && file.reader().text(size) == traces::magic;
}

bool is_program(const std::string& path) {
  return fs::is_regular_file(path) && access(path.c_str(), X_OK) == 0;
}

Roof roof_of_processor() {
  ThreadPool pool;
  const ProcessorRates rates = measured_rates(pool);
  return {rates.flops, rates.bytes};
}

TraceFile::TraceFile(const std::string& path) : bytes_(content_of(path)) {
  trace_ = traces::read_trace(bytes(), path);
  if (trace_.is_cut || roof_of(trace_, "CPU") || !was_written_here(trace_)) return;
  const Roof roof = roof_of_processor();
  bytes_ = traces::with_facts(bytes_, trace_,
                              {{roof_fact("flops", "CPU"), fmt::format("{:.4g}", roof.flops)},
                               {roof_fact("bytes", "CPU"), fmt::format("{:.4g}", roof.bytes)}});
  trace_ = traces::read_trace(bytes(), path);
}

TraceFile trace_of_program(const std::vector<std::string>& line, const TraceOptions& options) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/run.trace";
  const auto flag = [](bool is_set) { return is_set ? "1" : "0"; };
  const int status = run_in_terminal(line, {{"CROZE_TRACE", path},
                                            {"CROZE_TRACE_REWRITES", flag(options.rewrites)},
                                            {"CROZE_TRACE_SAMPLES", flag(options.samples)}});
  check(fs::exists(path), "{} has written no trace: does it compute with croze?", line[0]);
  if (status != 0) log_warning(fmt::format("{} ended with status {}", line[0], status));
  return TraceFile(path);
}

void add_samples_flag(const Command& command, TraceOptions& options) {
  command.flag("--samples", options.samples,
               "Of a program or a model: trace at which instructions threads are, too");
}

TraceFile trace_of(const std::vector<std::string>& line, const TraceOptions& options) {
  check(!line.empty(), "a trace or a program must be named");
  // What is no file may be found along PATH.
  const bool is_file = fs::exists(line[0]);
  if (is_file && !is_program(line[0])) {
    check(line.size() == 1, "{} is no program that could take arguments", line[0]);
    return TraceFile(line[0]);
  }
  return trace_of_program(line, options);
}

}  // namespace croze::tool
