// programs.cpp -- compiled kernels, kept in memory and on disk.
//
// A program is found by the serialised kernel, the device and the edits that were given for it.  On
// disk the key names the kind of the device, its architecture and the sources of this compiler; the
// entry holds the launch and the code, so that a warm start runs neither codegen nor the device's
// compiler.
//
// Devices of one kind and architecture share what they can: the program itself where one of them
// runs those of another, else the code, which each of them loads.
#include "croze/run/programs.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>

#include "croze/base/error.h"
#include "croze/base/log.h"
#include "croze/base/options.h"
#include "croze/base/process.h"
#include "croze/base/shared_cache.h"
#include "croze/base/thread_pool.h"
#include "croze/base/version.h"
#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/analysis/spec.h"
#include "croze/graph/observer.h"
#include "croze/render/renderer.h"
#include "croze/run/cache/disk_cache.h"
#include "croze/run/cache/program_entry.h"
#include "croze/run/compiler_id.h"
#include "croze/run/counters.h"
#include "croze/run/devices.h"
#include "croze/run/given_edits.h"
#include "croze/run/liberties.h"
#include "croze/run/trace/compile_tracer.h"
#include "croze/run/tuning.h"

namespace croze {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A program costs a driver more than its code; what is dropped here is still on disk.
constexpr SharedCache<LoadedProgram>::Limits loaded_limits = {.values = 2048,
                                                              .weight = std::int64_t{256} << 20};
constexpr SharedCache<KernelCode>::Limits code_limits = {.values = 2048,
                                                         .weight = std::int64_t{64} << 20};

using Claim = SharedCache<LoadedProgram>::Claim;

// Process-wide: named in docs/architecture.md as global state.
struct ProgramCache {
  SharedCache<LoadedProgram> loaded{loaded_limits};  // by device and kernel; weighed by their code
  SharedCache<KernelCode> codes{code_limits};  // of devices that share no programs; as on disk
  ThreadPool compilers;
};

ProgramCache& cache() {
  // Never destroyed: at the end of the process, other threads may still use it.
  static ProgramCache& instance = *new ProgramCache;
  return instance;
}

// ---- compiling --------------------------------------------------------------------------------

// In place of those that the model chooses.
struct WantedEdits {
  std::optional<std::string> text;
  bool are_advice = false;  // found by a search, not given by the user
};

struct Compilation {
  const Kernel* kernel = nullptr;
  Device* device = nullptr;
  bool shares_code = false;  // with other devices, which load it themselves
  Caps caps;                 // of the device, as far as they are the kernel's
  std::int64_t claim = 0;    // its number among those of the call
  WantedEdits edits;
  std::string disk_key;
  std::shared_ptr<LoadedProgram> result;
  std::string code = {};
};

// What the kernel is called in the log and in CROZE_EDITS.
std::string label_of(const Compilation& c) {
  if (!is_watched()) return {};
  return fmt::format("{} {} {}", c.device->name(), kernel_name(*c.kernel), kernel_key(*c.kernel));
}

// Those of the user it must take; of others it need not.
void make_edits(const Compilation& c, KernelState& k) {
  const std::vector<Edit> edits = parse_edits(*c.edits.text);
  if (!c.edits.are_advice) return apply_all(k, edits);
  KernelState advised = k;
  const bool takes_all = try_apply_all(advised, edits);
  takes_all ? void(k = advised) : choose_edits(k);
}

LinearProgram linear_program(const Compilation& c) {
  auto replay = [&](KernelState& k) { make_edits(c, k); };
  const bool check_spec = Options::flag(Option::CheckSpec);
  if (check_spec) check_kernel(c.kernel->sink);
  LinearProgram program = make_program(c.kernel->sink, c.caps, c.edits.text ? replay : Chooser());
  if (check_spec) check_program(program.instructions);
  if (log_enabled(5)) log_line(5, "--- linear program\n{}", print_program(program));
  return program;
}

void load(Compilation& c, ProgramInfo info, std::string code) {
  auto loaded = std::make_shared<LoadedProgram>();
  loaded->program = c.device->load(info, code);
  loaded->info = std::move(info);
  loaded->code_bytes = std::ssize(code);
  c.code = std::move(code);
  c.result = std::move(loaded);
}

// The compiler of a device is loaded while the first kernel for it is made.
class CompilerStart {
 public:
  explicit CompilerStart(Device& device) {
    if (!device.must_start_compiler()) return;
    try {
      thread_ = std::thread([&] { device.start_compiler(); });
    } catch (const std::system_error&) {  // no thread is left: compile() does it
    }
  }
  ~CompilerStart() {
    if (thread_.joinable()) thread_.join();
  }
  CompilerStart(const CompilerStart&) = delete;
  CompilerStart& operator=(const CompilerStart&) = delete;

 private:
  std::thread thread_;
};

void compile(Compilation& c) {
  const Clock::time_point start = Clock::now();
  const std::string label = label_of(c);
  const CompileScope scope(CompilePart::Kernel, label);
  tracing::EditsNote note;
  std::optional<Observing> noting;
  if (tracing::is_tracing()) noting.emplace(note);
  const CompilerStart starting(*c.device);
  const LinearProgram program = linear_program(c);
  const Renderer& renderer = c.device->renderer();
  const std::string source = renderer.render(program);
  std::shared_ptr<const KernelText> text;
  if (noting) {
    text =
        std::make_shared<KernelText>(note.edits(), print_program(program), renderer.text(source));
  }
  run_counters().codegen_seconds += seconds_since(start);
  if (log_enabled(4)) log_line(4, "{}", renderer.text(source));

  const Clock::time_point rendered = Clock::now();
  load(c, program.info, c.device->compile(program.info.name, source));
  c.result->text = std::move(text);
  run_counters().compile_seconds += seconds_since(rendered);
  run_counters().kernels_compiled++;
  disk_cache().store(c.disk_key, entry_of({program.info, c.code}));
  if (log_enabled(6)) log_line(6, "{}", c.result->program->disassembly());
}

void find_on_disk_or_compile(Compilation& c) {
  if (std::optional<std::string> entry = disk_cache().find(c.disk_key)) {
    try {
      KernelCode kept = kernel_of(*entry);
      return load(c, std::move(kept.info), std::move(kept.code));
    } catch (const Error&) {
      // A damaged entry: compile again.
    }
  }
  compile(c);
}

void find_or_compile(Compilation& c) {
  if (!c.shares_code) return find_on_disk_or_compile(c);
  SharedCache<KernelCode>::Claim claim = cache().codes.claim(c.disk_key);
  if (!claim.must_make()) {
    const std::shared_ptr<const KernelCode> made = claim.wait();
    return load(c, made->info, made->code);
  }
  try {
    find_on_disk_or_compile(c);
    claim.put(std::make_shared<KernelCode>(c.result->info, c.code), std::ssize(c.code));
  } catch (...) {
    claim.fail(std::current_exception());
    throw;
  }
}

void make(Compilation& c, Claim& claim) {
  try {
    const CompilerStay stay;
    find_or_compile(c);
    claim.put(c.result, c.result->code_bytes);
  } catch (...) {
    claim.fail(std::current_exception());
  }
}

Caps caps_for(const KernelRequest& request, const Device& device) {
  Caps caps = device.caps();
  if (request.on_one_thread) caps.threads = 1;
  return caps;
}

WantedEdits edits_for(const KernelRequest& request, Device& device, const Caps& caps) {
  if (std::optional<std::string> given = given_edits(*request.kernel)) return {std::move(given)};
  return {tuned_edits(request, device, caps), true};
}

// What the program depends on beside the kernel and the device.
std::string manner_of(const KernelRequest& request, const WantedEdits& edits) {
  std::string manner = liberties();
  if (request.on_one_thread) manner += " block";
  if (edits.text) manner += fmt::format(" edits {}", *edits.text);
  return manner;
}

// What was compiled without proof does not count as proven.
std::string disk_key(const KernelRequest& request, const Caps& caps, std::string_view manner) {
  return fmt::format("{} {} {} {} {} threads{}{}\n", version(), compiler_id(), caps.device,
                     caps.architecture, caps.threads, manner,
                     Options::flag(Option::CheckBounds) ? " proven" : "") +
         request.kernel->key;
}

std::string loaded_key(const KernelRequest& request, const Device& device,
                       std::string_view manner) {
  const std::string_view runs_on =
      device.runs_programs_of_kin() ? std::string_view(device.caps().device) : device.name();
  return fmt::format("{}{}\n", runs_on, manner) + request.kernel->key;
}

bool shares_code(const KernelRequest& request, const Device& device) {
  return !device.runs_programs_of_kin() && has_siblings(request.device);
}

}  // namespace

std::vector<std::shared_ptr<const LoadedProgram>> load_programs(
    std::span<const KernelRequest> requests) {
  std::vector<Claim> claims;
  std::vector<Compilation> missing;
  for (const KernelRequest& r : requests) {
    Device& d = device(r.device);
    const Caps caps = caps_for(r, d);
    WantedEdits edits = edits_for(r, d, caps);
    const std::string manner = manner_of(r, edits);
    claims.push_back(cache().loaded.claim(loaded_key(r, d, manner)));
    if (!claims.back().must_make()) continue;
    missing.push_back({r.kernel.get(), &d, shares_code(r, d), caps, std::ssize(claims) - 1,
                       std::move(edits), disk_key(r, caps, manner), nullptr});
  }
  if (!missing.empty()) {
    const Clock::time_point start = Clock::now();
    cache().compilers.run(std::ssize(missing), [&, watchers = Watchers()](std::int64_t i) {
      const WatchedBy watched(watchers);
      Compilation& c = missing[static_cast<std::size_t>(i)];
      make(c, claims[static_cast<std::size_t>(c.claim)]);
    });
    run_counters().compile_wall_seconds += seconds_since(start);
  }
  std::vector<std::shared_ptr<const LoadedProgram>> programs;
  for (const Claim& claim : claims) programs.push_back(claim.wait());
  return programs;
}

std::vector<KernelCode> code_of_kernels(std::span<const KernelRequest> requests) {
  std::vector<Compilation> compilations;
  for (const KernelRequest& r : requests) {
    Device& d = device(r.device);
    const Caps caps = caps_for(r, d);
    WantedEdits edits = edits_for(r, d, caps);
    std::string key = disk_key(r, caps, manner_of(r, edits));
    compilations.push_back({r.kernel.get(), &d, shares_code(r, d), caps, 0, std::move(edits),
                            std::move(key), nullptr});
  }
  cache().compilers.run(std::ssize(compilations), [&, watchers = Watchers()](std::int64_t i) {
    const WatchedBy watched(watchers);
    const CompilerStay stay;
    find_or_compile(compilations[static_cast<std::size_t>(i)]);
  });
  std::vector<KernelCode> codes;
  for (Compilation& c : compilations) codes.push_back({c.result->info, std::move(c.code)});
  return codes;
}

std::shared_ptr<const KernelText> text_of_kernel(const KernelRequest& request) {
  Device& d = device(request.device);
  const Caps caps = caps_for(request, d);
  Compilation c{.kernel = request.kernel.get(),
                .device = &d,
                .caps = caps,
                .edits = edits_for(request, d, caps),
                .disk_key = {},
                .result = {}};
  tracing::EditsNote note;
  const Observing noting(note);
  const LinearProgram program = linear_program(c);
  return std::make_shared<KernelText>(note.edits(), print_program(program),
                                      d.renderer().text(d.renderer().render(program)));
}

void clear_program_cache() {
  cache().loaded.clear();
  cache().codes.clear();
}

}  // namespace croze
