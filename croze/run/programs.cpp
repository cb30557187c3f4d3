// programs.cpp -- compiled kernels, kept in memory and on disk.
//
// A program is found by the serialised kernel and the device.  On disk the key names also the
// device's architecture and croze's version; the entry holds the launch and the code, so that a
// warm start runs neither codegen nor the device's compiler.
#include "run/programs.h"

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <unordered_map>

#include "base/build_id.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/thread_pool.h"
#include "base/version.h"
#include "codegen/pipeline.h"
#include "device/compile_cache.h"
#include "graph/print.h"
#include "graph/spec.h"
#include "render/renderer.h"
#include "run/devices.h"

namespace croze {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Process-wide: named in docs/architecture.md as global state.
struct ProgramCache {
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<LoadedProgram>> loaded;  // by device and kernel
  CompileCache disk = CompileCache::from_environment();
};

ProgramCache& cache() {
  static ProgramCache instance;
  return instance;
}

// ---- an entry of the disk cache ---------------------------------------------------------------

template <typename T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string encode(const ProgramInfo& info, const std::string& code) {
  std::string out;
  append(out, static_cast<std::int64_t>(info.name.size()));
  out += info.name;
  append(out, info.launch);
  append(out, info.num_buffers);
  append(out, info.num_variables);
  append(out, info.flops);
  append(out, info.bytes);
  return out + code;
}

template <typename T>
void take(ByteReader& reader, T& value) {
  std::memcpy(&value, reader.bytes(sizeof value).data(), sizeof value);
}

std::string_view decode(std::string_view entry, ProgramInfo& info) {
  ByteReader reader(std::as_bytes(std::span(entry.data(), entry.size())), "program cache");
  std::int64_t name_bytes = 0;
  take(reader, name_bytes);
  info.name = reader.text(name_bytes);
  take(reader, info.launch);
  take(reader, info.num_buffers);
  take(reader, info.num_variables);
  take(reader, info.flops);
  take(reader, info.bytes);
  return entry.substr(static_cast<std::size_t>(reader.offset()));
}

// ---- compiling --------------------------------------------------------------------------------

struct Compilation {
  const Kernel* kernel = nullptr;
  Device* device = nullptr;
  std::string memory_key, disk_key;
  std::shared_ptr<LoadedProgram> result;
  double codegen_seconds = 0, compile_seconds = 0;
  bool compiled = false;
  std::exception_ptr failure;
};

void log_pass(void*, const char* pass, UOp sink) {
  if (log_enabled(5)) log_line(5, "--- after {}\n{}", pass, print_graph(sink));
}

void log_edits(void* context, const std::vector<std::string>& applied) {
  if (log_enabled(3)) {
    log_line(3, "{}: {}", *static_cast<std::string*>(context), fmt::join(applied, "; "));
  }
}

void compile(Compilation& c) {
  const Clock::time_point start = Clock::now();
  std::string label = c.device->caps().device;
  const PassObserver observer{log_pass, log_edits, &label};
  const bool check_spec = Options::flag(Option::CheckSpec);
  if (check_spec) check_kernel(c.kernel->sink);
  const LinearProgram program = make_program(c.kernel->sink, c.device->caps(), observer);
  if (check_spec) check_program(program.instructions);
  if (log_enabled(5)) log_line(5, "--- linear program\n{}", print_program(program));
  const std::string source = c.device->renderer().render(program);
  c.codegen_seconds = seconds_since(start);
  if (log_enabled(4)) log_line(4, "{}", source);

  const Clock::time_point rendered = Clock::now();
  const std::string code = c.device->compile(program.info.name, source);
  c.result->info = program.info;
  c.result->program = c.device->load(program.info, code);
  c.compile_seconds = seconds_since(rendered);
  c.compiled = true;
  cache().disk.store(c.disk_key, encode(program.info, code));
  if (log_enabled(6)) log_line(6, "{}", c.result->program->disassembly());
}

void find_or_compile(Compilation& c) {
  c.result = std::make_shared<LoadedProgram>();
  if (std::optional<std::string> entry = cache().disk.find(c.disk_key)) {
    try {
      const std::string_view code = decode(*entry, c.result->info);
      c.result->program = c.device->load(c.result->info, code);
      return;
    } catch (const Error&) {
      c.result = std::make_shared<LoadedProgram>();  // a damaged entry: compile again
    }
  }
  compile(c);
}

}  // namespace

std::vector<std::shared_ptr<LoadedProgram>> load_programs(std::span<const KernelRequest> requests,
                                                          RunStatistics& statistics) {
  std::vector<std::string> keys;
  std::vector<Compilation> missing;
  const std::string_view maths = Options::flag(Option::FastMath) ? " fast" : "";
  {
    std::lock_guard lock(cache().mutex);
    std::unordered_map<std::string, bool> asked;
    for (const KernelRequest& r : requests) {
      keys.push_back(fmt::format("{}{}\n", device_name(r.device), maths) + r.kernel->key);
      if (cache().loaded.contains(keys.back()) || !asked.emplace(keys.back(), true).second)
        continue;
      Compilation c;
      c.kernel = r.kernel.get();
      c.device = &device(r.device);
      c.memory_key = keys.back();
      // What was compiled without proof does not count as proven.
      c.disk_key = fmt::format("{} {} {} {}{}{}\n", version(), build_id(), c.device->name(),
                               c.device->caps().architecture, maths,
                               Options::flag(Option::CheckBounds) ? " proven" : "") +
                   r.kernel->key;
      missing.push_back(std::move(c));
    }
  }
  if (!missing.empty()) {
    const Clock::time_point start = Clock::now();
    ThreadPool pool(
        static_cast<int>(std::min<std::size_t>(missing.size(), default_thread_count())));
    pool.run(static_cast<std::int64_t>(missing.size()), [&](std::int64_t i) {
      Compilation& c = missing[static_cast<std::size_t>(i)];
      try {
        find_or_compile(c);
      } catch (...) {
        c.failure = std::current_exception();
      }
    });
    statistics.compile_wall_seconds += seconds_since(start);
  }
  std::lock_guard lock(cache().mutex);
  for (Compilation& c : missing) {
    if (c.failure) std::rethrow_exception(c.failure);
    statistics.codegen_seconds += c.codegen_seconds;
    statistics.compile_seconds += c.compile_seconds;
    statistics.kernels_compiled += c.compiled;
    cache().loaded.emplace(c.memory_key, c.result);
  }
  std::vector<std::shared_ptr<LoadedProgram>> result;
  for (const std::string& key : keys) result.push_back(cache().loaded.at(key));
  return result;
}

void clear_program_cache() {
  std::lock_guard lock(cache().mutex);
  cache().loaded.clear();
}

}  // namespace croze
