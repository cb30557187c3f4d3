// The table of environment variables, and the current values.
#include "croze/base/options.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "croze/base/error.h"

namespace croze {
namespace {

constexpr int64_t any = INT64_MAX;

// clang-format off
constexpr OptionInfo option_table[] = {
  {Option::Beam,      "CROZE_BEAM",       OptionType::Integer, "0", 0, 64,     "Try edits of each kernel that is compiled and take the fastest: a search that keeps so many at a time. What it finds is kept in CROZE_TUNED. 0 means to take what the model of the machine chooses, or what is kept."},
  {Option::Cache,     "CROZE_CACHE",      OptionType::Flag,    "1", 0, 1,      "Keep compiled kernels, and the schedules of large graphs, on disk between runs."},
  {Option::CacheDir,  "CROZE_CACHE_DIR",  OptionType::Text,    "",  0, 0,      "Directory of that cache, which keeps its files in a folder `croze-programs` there; empty means `$XDG_CACHE_HOME/croze` or `~/.cache/croze`."},
  {Option::CacheSize, "CROZE_CACHE_SIZE", OptionType::Integer, "512", 1, 1 << 20, "Megabytes (MiB) that the cache may hold; what has not been used for longest goes first."},
  {Option::CheckBounds, "CROZE_CHECK_BOUNDS", OptionType::Flag, "0", 0, 1,     "Prove, with Z3 where bounds do not decide, that every access of every kernel compiled lies in its buffer."},
  {Option::CheckIndices, "CROZE_CHECK_INDICES", OptionType::Flag, "0", 0, 1,   "Check the elements of index tensors (index, gather, scatter, embedding, ...) where they are used: one out of range is an error that names the call, instead of reading 0 and writing nowhere."},
  {Option::CheckNan,  "CROZE_CHECK_NAN",  OptionType::Flag,    "0", 0, 1,      "Run each operation as a kernel of its own and look at what it gives: where a result is not finite, the operation that first made a NaN or an infinity of finite numbers is named in an error, with its call, line and kernel. Slow."},
  {Option::CheckSpec, "CROZE_CHECK_SPEC", OptionType::Flag,    "0", 0, 1,      "Check each tensor graph, kernel and linear program against the spec of its stage."},
  {Option::Cooperative, "CROZE_COOPERATIVE", OptionType::Integer, "-1", -1, 1, "Multiply matrices by the cooperative matrices of Vulkan's drivers that have them, as the device VULKAN finds when it is opened: 1 yes, 0 no; -1 means unless the driver runs on a processor, where they are slower than what is chosen without them."},
  {Option::CpuWithout, "CROZE_CPU_WITHOUT", OptionType::Text, "", 0, 0,        "Extensions of the instruction set that kernels of the device CPU do not use, with a comma between: `avx512f` leaves out AVX-512, `avx2` AVX2 as well. LLVM's names; what is made of one that is left out is left out with it."},
  {Option::CudaCompiler, "CROZE_CUDA_COMPILER", OptionType::Text, "", 0, 0,    "How the device CUDA compiles kernels: `nvrtc`, or `ptx`, which the driver compiles; empty means NVRTC where it is found, else PTX."},
  {Option::CudaLibrary, "CROZE_CUDA_LIBRARY", OptionType::Text, "", 0, 0,      "Library with the functions of CUDA's driver that the device CUDA uses; empty means `libcuda.so.1`."},
  {Option::DataDir,   "CROZE_DATA_DIR",   OptionType::Text,    "/usr/share/datasets", 0, 0, "Directory that holds the data sets, each in a folder of its name."},
  {Option::Debug,     "CROZE_DEBUG",      OptionType::Integer, "0", 0, 7,      "How much to show: 1 devices and schedules, 2 each kernel with its time, 3 memory plans and chosen edits, 4 generated source, 5 the graph after each pass and the linear program, 6 assembly, 7 each rewrite."},
  {Option::Device,    "CROZE_DEVICE",     OptionType::Text,    "",  0, 0,      "Device of new tensors, as `croze devices` names it, `CPU` or `CPU:1`; empty means the best one."},
  {Option::Edits,     "CROZE_EDITS",      OptionType::Text,    "",  0, 0,      "Edits in place of the chosen ones: `KERNEL: split r0 by 4; bind r3 lane`, with a comma between kernels. KERNEL is the name or the key that CROZE_DEBUG=3 shows before the chosen edits."},
  {Option::Explain,   "CROZE_EXPLAIN",    OptionType::Flag,    "0", 0, 1,      "Print each schedule that is made: its launches with their buffers and costs, why each buffer is there, and what is alive when most memory is."},
  {Option::FastMath,  "CROZE_FAST_MATH",  OptionType::Flag,    "0", 0, 1,      "Take floats for real numbers when kernels are compiled: reorder and cancel, as if nothing were rounded, infinite, NaN or -0."},
  {Option::Fusion,    "CROZE_FUSION",     OptionType::Flag,    "1", 0, 1,      "Compute several operations in one kernel; 0 gives each operation a kernel and a buffer, to compare with."},
  {Option::Images,    "CROZE_IMAGES",     OptionType::Integer, "-1", -1, 1,    "Whether kernels of the device OPENCL read as images what they read several times, which then comes through the cache of textures: 1 where the device makes images of buffers, 0 nowhere, -1 where it is a GPU besides that shares the memory of the machine, as those of phones do."},
  {Option::KeptMemory, "CROZE_KEPT_MEMORY", OptionType::Integer, "256", 0, 1 << 20, "Megabytes (MiB) of freed memory that a device which computes in the memory of the process keeps for what is allocated next."},
  {Option::MemoryBudget, "CROZE_MEMORY_BUDGET", OptionType::Integer, "0", 0, any, "Bytes of intermediate values that one run may have alive at once: values are computed again where that helps to stay below, as far as it can be done. 0 means any number."},
  {Option::MemoryLimit, "CROZE_MEMORY_LIMIT", OptionType::Integer, "0", 0, 1 << 30, "Megabytes (MiB) that tensors and the temporaries of a run may take together: what would take more is an error before it is allocated. 0 means three quarters of the machine's memory."},
  {Option::NvrtcLibrary, "CROZE_NVRTC_LIBRARY", OptionType::Text, "", 0, 0,    "Library that compiles CUDA C, NVRTC; empty means `libnvrtc.so` of version 13 or 12."},
  {Option::Recompute, "CROZE_RECOMPUTE", OptionType::Integer, "5", 0, 100, "Percentage of a run's time that may go to computing values again so that less memory is needed at once, where more is than the caches hold."},
  {Option::RuleStats, "CROZE_RULE_STATS", OptionType::Flag,    "0", 0, 1,      "Count tries, hits and time of each rewrite rule; the `croze` command prints them at its end."},
  {Option::Seed,      "CROZE_SEED",       OptionType::Integer, "0", -any, any, "Seed of random numbers until the program sets one."},
  {Option::Tf32,      "CROZE_TF32",       OptionType::Flag,    "0", 0, 1,      "Let matrix units round the factors of sums of float32 products to the 10 bits behind the point that TF32 has."},
  {Option::Threads,   "CROZE_THREADS",    OptionType::Integer, "0", 0, 4096,   "Threads that run kernels on the CPU; 0 means one for each core that the process may use."},
  {Option::Trace,     "CROZE_TRACE",      OptionType::Text,    "",  0, 0,      "File to write a trace of the program to: launches, compiles and memory, for `croze viz`."},
  {Option::TraceLimit, "CROZE_TRACE_LIMIT", OptionType::Integer, "1024", 1, 1 << 20, "Megabytes (MiB) that such a file may have; what comes after them is counted and not written."},
  {Option::TraceRewrites, "CROZE_TRACE_REWRITES", OptionType::Flag, "0", 0, 1, "Write every rewrite of every kernel to the trace, too."},
  {Option::TraceSamples, "CROZE_TRACE_SAMPLES", OptionType::Flag, "0", 0, 1,  "Write to the trace, too, at which instructions the kernels of the CPU are, a thousand times a second, where the system lets a process sample itself (perf events)."},
  {Option::Tuned,     "CROZE_TUNED",      OptionType::Text,    "",  0, 0,      "File with the edits that searches have found, which kernels get; empty means `tuned-kernels.txt` beside the cache of compiled kernels, or none where that is off."},
  {Option::VulkanLibrary, "CROZE_VULKAN_LIBRARY", OptionType::Text, "", 0, 0,  "Loader of Vulkan's drivers that the device VULKAN uses; empty means `libvulkan.so.1`."},
  {Option::WebgpuLibrary, "CROZE_WEBGPU_LIBRARY", OptionType::Text, "", 0, 0,  "Library with the functions of `webgpu.h` (Dawn's) that the device WEBGPU uses; empty means `libwebgpu_dawn.so` or `libwebgpu.so`."},
  {Option::Wgmma,     "CROZE_WGMMA",      OptionType::Flag,    "0", 0, 1,      "Multiply matrices by `wgmma`, and fill its tiles by the TMA, on processors of NVIDIA's that have it (sm_90a), as the device CUDA finds when it is opened and `--target sm_90a` does, too. Off because no device has run such kernels yet; an interpreter of PTX has."},
};
// clang-format on

constexpr size_t option_count = std::size(option_table);

constexpr bool table_is_in_order() {
  for (size_t i = 0; i < option_count; ++i) {
    if (static_cast<size_t>(option_table[i].option) != i) return false;
  }
  return true;
}
static_assert(table_is_in_order());

int64_t parse_integer(const OptionInfo& info, std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool ok = error == std::errc{} && end == text.data() + text.size();
  check(ok && info.min <= value && value <= info.max,
        "{} must be an integer from {} to {}, not \"{}\"", info.name, info.min, info.max, text);
  return value;
}

// The current values.  Integers and flags are read on hot paths and by many threads.
struct State {
  std::array<std::atomic<int64_t>, option_count> integers{};
  std::array<std::string, option_count> texts;
  std::mutex text_mutex;

  State() {
    for (size_t i = 0; i < option_count; ++i) {
      const OptionInfo& info = option_table[i];
      const char* variable = std::getenv(info.name);
      std::string_view value = variable != nullptr && *variable ? variable : info.default_value;
      if (info.type == OptionType::Text) {
        texts[i] = value;
      } else {
        integers[i] = parse_integer(info, value);
      }
    }
  }
};

State& state() {
  static State& instance = *new State;
  return instance;
}

size_t index_of(Option option, OptionType type) {
  const OptionInfo& info = Options::info(option);
  ensure(info.type == type, "{} is read as another type than it has", info.name);
  return static_cast<size_t>(option);
}

// Sets one option and returns what it was.
OptionValue replace(Option option, OptionValue value) {
  const OptionInfo& info = Options::info(option);
  size_t index = index_of(option, value.is_text ? OptionType::Text : info.type);
  if (info.type == OptionType::Text) {
    ensure(value.is_text, "{} is set to a number but holds text", info.name);
    std::lock_guard lock(state().text_mutex);
    state().texts[index].swap(value.text);
    return value;
  }
  check(info.min <= value.integer && value.integer <= info.max, "{} must be from {} to {}, not {}",
        info.name, info.min, info.max, value.integer);
  return state().integers[index].exchange(value.integer);
}

}  // namespace

bool Options::flag(Option option) {
  size_t index = index_of(option, OptionType::Flag);
  return state().integers[index].load(std::memory_order_relaxed) != 0;
}

int64_t Options::integer(Option option) {
  size_t index = index_of(option, OptionType::Integer);
  return state().integers[index].load(std::memory_order_relaxed);
}

std::string Options::text(Option option) {
  size_t index = index_of(option, OptionType::Text);
  std::lock_guard lock(state().text_mutex);
  return state().texts[index];
}

std::span<const OptionInfo> Options::table() { return option_table; }

const OptionInfo& Options::info(Option option) { return option_table[static_cast<size_t>(option)]; }

std::vector<std::string> Options::unknown_variables() {
  std::vector<std::string> unknown;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    std::string_view name(*variable);
    name = name.substr(0, name.find('='));
    bool known = !name.starts_with("CROZE_");
    for (const OptionInfo& info : option_table) known = known || name == info.name;
    if (!known) unknown.emplace_back(name);
  }
  return unknown;
}

std::string Options::markdown() {
  constexpr const char* type_names[] = {"0 or 1", "integer", "text"};
  std::string text = "| variable | value | default | meaning |\n|---|---|---|---|\n";
  for (const OptionInfo& info : option_table) {
    std::string default_value =
        *info.default_value ? fmt::format("`{}`", info.default_value) : "empty";
    text += fmt::format("| `{}` | {} | {} | {} |\n", info.name,
                        type_names[static_cast<size_t>(info.type)], default_value, info.meaning);
  }
  return text;
}

Options::Scope::Scope(std::initializer_list<std::pair<Option, OptionValue>> values) {
  saved_.reserve(values.size());
  try {
    for (const auto& [option, value] : values) saved_.emplace_back(option, replace(option, value));
  } catch (...) {
    for (auto it = saved_.rbegin(); it != saved_.rend(); ++it) replace(it->first, it->second);
    throw;
  }
}

Options::Scope::~Scope() {
  for (auto it = saved_.rbegin(); it != saved_.rend(); ++it) {
    replace(it->first, std::move(it->second));
  }
}

}  // namespace croze
