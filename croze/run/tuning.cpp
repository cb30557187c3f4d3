// tuning.cpp -- the table of each machine that this process compiles for, and searching.
#include "croze/run/tuning.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include "croze/base/error.h"
#include "croze/base/log.h"
#include "croze/base/options.h"
#include "croze/codegen/edits/edit.h"
#include "croze/device/compile_cache.h"
#include "croze/graph/observer.h"
#include "croze/run/compiler_id.h"
#include "croze/run/given_edits.h"
#include "croze/run/liberties.h"
#include "croze/tune/search.h"
#include "croze/tune/table.h"

namespace croze {
namespace {

// Process-wide: named in docs/architecture.md as global state.  Its lock is held while a kernel is
// tuned, so that nothing else of croze is timed or compiled for it meanwhile.
struct Tuning {
  std::mutex mutex;
  std::map<std::string, tune::TunedTable> tables;  // by path and machine
  ThreadPool compilers;
};

Tuning& tuning() {
  // Never destroyed: at the end of the process, other threads may still use it.
  static Tuning& instance = *new Tuning;
  return instance;
}

// Beside the compiled programs, unless it is named.
std::string table_path() {
  std::string named = Options::text(Option::Tuned);
  if (!named.empty()) return named;
  static const std::filesystem::path programs = CompileCache::from_environment().folder();
  if (programs.empty()) return {};
  return (programs.parent_path() / "tuned-kernels.txt").string();
}

tune::TunedTable& table_of(const std::string& machine) {
  const std::string path = table_path();
  return tuning().tables.try_emplace(path + '\n' + machine, path, machine).first->second;
}

std::string machine_of(const Caps& caps) {
  return fmt::format("{} {} threads {} croze {}{}", caps.device, caps.architecture, caps.threads,
                     compiler_id(), liberties());
}

// Searched for now.  What cannot be tuned keeps the model's choice.
tune::TunedKernel searched(const KernelRequest& request, Device& device, const Caps& caps) {
  const tune::Settings settings{.width = static_cast<int>(Options::integer(Option::Beam)),
                                .seed = 1};
  const std::string name = kernel_name(*request.kernel);
  const tune::Found found = [&] {
    const WatchedBy unwatched(Watchers::nobody());  // candidates are no part of the compile
    return tune::search_edits(request.kernel->sink, device, caps, settings, tuning().compilers);
  }();
  for (const std::string& b : found.broken) log_line(1, "tuning {}: {}", name, b);
  tune::TunedKernel tuned{to_text(found.edits), found.seconds, found.model_seconds};
  tell_observers([&](CompileObserver& o) {
    o.tuned({name, tuned.edits, found.tried, tuned.seconds, tuned.model_seconds, found.broken});
  });
  return tuned;
}

}  // namespace

std::optional<std::string> tuned_edits(const KernelRequest& request, Device& device,
                                       const Caps& caps) {
  const std::lock_guard lock(tuning().mutex);
  tune::TunedTable& table = table_of(machine_of(caps));
  const bool searches = Options::integer(Option::Beam) > 0;
  if (table.empty() && !searches) return {};
  const std::string key = kernel_key(*request.kernel);
  if (const tune::TunedKernel* known = table.find(key)) return known->edits;
  if (!searches) return {};
  try {
    const tune::TunedKernel tuned = searched(request, device, caps);
    if (!table.add(key, tuned)) log_line(1, "{} cannot be written", table_path());
    return tuned.edits;
  } catch (const Error& e) {
    log_line(1, "tuning {}: {}", kernel_name(*request.kernel), e.what());
    return {};
  }
}

}  // namespace croze
