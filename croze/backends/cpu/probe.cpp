// probe.cpp -- questions to the processor and to the system.
#include "croze/backends/cpu/probe.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "croze/graph/matrix_unit.h"
#include "croze/render/llvm.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace croze {
namespace {

std::int64_t system_value(int name, std::int64_t fallback) {
  const long value = sysconf(name);
  return value > 0 ? value : fallback;
}

struct Features {
  bool avx512 = false;  // with the forms for narrow vectors and for all element sizes
  bool avx2 = false;    // with fused multiply-add
  bool f16 = false;     // conversions from and to Float16
};

#if defined(__x86_64__)

using Registers = std::array<unsigned, 4>;  // eax, ebx, ecx, edx

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r{};
  __get_cpuid_count(leaf, subleaf, &r[0], &r[1], &r[2], &r[3]);
  return r;
}

Features features() {
  __builtin_cpu_init();
  return {.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"),
          .avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
          .f16 = __builtin_cpu_supports("avx") && (cpuid(1)[2] & bit_F16C) != 0};
}

// What LLVM may use in a kernel on this processor, where it has it.  The registers that some need
// must be kept by the system, too.
struct Extension {
  std::string_view name;
  unsigned leaf, subleaf, word, bit;  // of cpuid
  enum class Needs { Nothing, Avx, Avx512, Tiles } needs = Needs::Nothing;
};

constexpr auto avx = Extension::Needs::Avx, avx512 = Extension::Needs::Avx512,
               tiles = Extension::Needs::Tiles;
constexpr unsigned eax = 0, ebx = 1, ecx = 2, edx = 3;
constexpr unsigned extended_leaf = 0x80000001;

constexpr Extension extensions[] = {
    {"sse3", 1, 0, ecx, 0},
    {"pclmul", 1, 0, ecx, 1},
    {"ssse3", 1, 0, ecx, 9},
    {"fma", 1, 0, ecx, 12, avx},
    {"sse4.1", 1, 0, ecx, 19},
    {"sse4.2", 1, 0, ecx, 20},
    {"movbe", 1, 0, ecx, 22},
    {"popcnt", 1, 0, ecx, 23},
    {"aes", 1, 0, ecx, 25},
    {"avx", 1, 0, ecx, 28, avx},
    {"f16c", 1, 0, ecx, 29, avx},
    {"bmi", 7, 0, ebx, 3},
    {"avx2", 7, 0, ebx, 5, avx},
    {"bmi2", 7, 0, ebx, 8},
    {"avx512f", 7, 0, ebx, 16, avx512},
    {"avx512dq", 7, 0, ebx, 17, avx512},
    {"adx", 7, 0, ebx, 19},
    {"avx512ifma", 7, 0, ebx, 21, avx512},
    {"avx512cd", 7, 0, ebx, 28, avx512},
    {"sha", 7, 0, ebx, 29},
    {"avx512bw", 7, 0, ebx, 30, avx512},
    {"avx512vl", 7, 0, ebx, 31, avx512},
    {"avx512vbmi", 7, 0, ecx, 1, avx512},
    {"avx512vbmi2", 7, 0, ecx, 6, avx512},
    {"gfni", 7, 0, ecx, 8},
    {"vaes", 7, 0, ecx, 9, avx},
    {"vpclmulqdq", 7, 0, ecx, 10, avx},
    {"avx512vnni", 7, 0, ecx, 11, avx512},
    {"avx512bitalg", 7, 0, ecx, 12, avx512},
    {"avx512vpopcntdq", 7, 0, ecx, 14, avx512},
    {"avx512vp2intersect", 7, 0, edx, 8, avx512},
    {"amx-bf16", 7, 0, edx, 22, tiles},
    {"avx512fp16", 7, 0, edx, 23, avx512},
    {"amx-tile", 7, 0, edx, 24, tiles},
    {"amx-int8", 7, 0, edx, 25, tiles},
    {"avxvnni", 7, 1, eax, 4, avx},
    {"avx512bf16", 7, 1, eax, 5, avx512},
    {"avxifma", 7, 1, eax, 23, avx},
    {"avxvnniint8", 7, 1, edx, 4, avx},
    {"avxneconvert", 7, 1, edx, 5, avx},
    {"avxvnniint16", 7, 1, edx, 10, avx},
    {"avx10", 7, 1, edx, 19, avx512},
    {"apx", 7, 1, edx, 21},
    {"lzcnt", extended_leaf, 0, ecx, 5},
    {"sse4a", extended_leaf, 0, ecx, 6},
    {"xop", extended_leaf, 0, ecx, 11, avx},
    {"fma4", extended_leaf, 0, ecx, 16, avx},
    {"tbm", extended_leaf, 0, ecx, 21},
};

// Whether the system keeps the registers of tiles for this process, which it has to be asked for
// (Linux, Documentation/arch/x86/xstate.rst).  Threads made from now on have them, too.
bool keeps_tiles() {
#if defined(__linux__)
  constexpr long ask_for_state = 0x1023, tile_data = 18;
  const bool has_tiles = (cpuid(7)[edx] >> 24 & 1) != 0;
  return has_tiles && syscall(SYS_arch_prctl, ask_for_state, tile_data) == 0;
#else
  return false;
#endif
}

std::string extensions_here() {
  __builtin_cpu_init();
  const bool keeps_avx = __builtin_cpu_supports("avx"),
             keeps_avx512 = __builtin_cpu_supports("avx512f"), keeps_amx = keeps_tiles();
  std::string names;
  for (const Extension& e : extensions) {
    const bool is_kept = e.needs == tiles    ? keeps_amx
                         : e.needs == avx512 ? keeps_avx512
                         : e.needs == avx    ? keeps_avx
                                             : true;
    if (!is_kept || !(cpuid(e.leaf, e.subleaf)[e.word] >> e.bit & 1)) continue;
    names += names.empty() ? "" : " ";
    names += e.name;
  }
  return names;
}

// Of a register of 512 bits.  AMD says how wide the units are (CPUID 8000_001A, bits 2 and 3: 256
// and 512 bits); the first with such registers, family 19h, compute one in two halves.  A machine
// that is virtual may say neither.
std::int64_t datapath_bytes() {
  constexpr unsigned amd_leaf = 0x8000001a, is_amd = 0x68747541;  // "Auth" of "AuthenticAMD"
  if (cpuid(0)[ebx] != is_amd) return 64;
  const unsigned widths = cpuid(amd_leaf)[eax] >> 2 & 3, version = cpuid(1)[eax];
  const unsigned family = (version >> 8 & 15) + (version >> 20 & 255);
  const bool in_halves = widths == 0 ? family <= 0x19 : widths == 1;
  return in_halves ? 32 : 64;
}

std::string brand() {
  char text[49] = "";
  for (unsigned i = 0; i < 3; i++) {
    const Registers r = cpuid(0x80000002 + i);
    std::memcpy(text + 16 * i, r.data(), 16);
  }
  std::string result(text);
  result.erase(result.find_last_not_of(' ') + 1);
  result.erase(0, result.find_first_not_of(' '));
  return result.empty() ? "x86-64" : result;
}

// Code made for one machine must not be run on another: the model, and every word of feature bits
// that a virtual machine may mask.
std::string architecture() {
  std::string result = "x86_64";
  // The second word of leaf 1 holds the number of the core that happens to ask.
  const Registers basic = cpuid(1);
  result += fmt::format("-{:x}-{:x}-{:x}", basic[0], basic[2] & ~unsigned{bit_OSXSAVE}, basic[3]);
  for (unsigned subleaf : {0u, 1u}) {
    for (unsigned word : cpuid(7, subleaf)) result += fmt::format("-{:x}", word);
  }
  const Registers extended = cpuid(0x80000001);
  return result + fmt::format("-{:x}-{:x}", extended[2], extended[3]);
}

#else

Features features() { return {}; }
std::string brand() { return "CPU"; }
std::string architecture() { return "unknown"; }
std::string extensions_here() { return {}; }
std::int64_t datapath_bytes() { return 0; }

#endif

bool has_extension(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

// Those whose sums fill a register: vectors, of a row each, or tiles.
std::vector<const MatrixUnit*> units_of(const Caps& caps) {
  std::vector<const MatrixUnit*> units;
  for (const MatrixUnit& unit : matrix_units()) {
    const std::int64_t bytes = unit.columns * size_of(unit.accumulator);
    const bool fills = unit.rows > 1 || bytes == caps.vector_bytes;
    if (fills && has_extension(caps.extensions, unit.extension)) units.push_back(&unit);
  }
  return units;
}

}  // namespace

Caps probe_cpu(int threads) {
  const Features has = features();
  Caps caps;
  caps.device = "CPU";
  caps.architecture = architecture();
  caps.extensions = extensions_here();
  caps.ops = LlvmRenderer::ops();
  // Else LLVM would call a function.
  if (!has.avx512 && !has.avx2) caps.ops &= ~(std::uint64_t{1} << static_cast<int>(Op::MulAdd));
  caps.dtypes = caps.storage = LlvmRenderer::dtypes();
  if (has.f16) caps.storage |= 1u << static_cast<int>(DType::Float16);
  caps.threads = threads;
  caps.joins_nests = true;
  caps.vector_bytes = has.avx512 ? 64 : has.avx2 ? 32 : 16;
  caps.vector_registers = has.avx512 ? 32 : 16;
  if (has.avx512) caps.datapath_bytes = datapath_bytes();
  caps.masked_vectors = has.avx512 || has.avx2;
  caps.exchanges_lanes = true;
  caps.looks_up = has.avx512 || has.avx2;
  caps.prefetches = true;
  caps.matrix_units = units_of(caps);
  caps.l1_bytes = system_value(_SC_LEVEL1_DCACHE_SIZE, caps.l1_bytes);
  caps.l2_bytes = system_value(_SC_LEVEL2_CACHE_SIZE, caps.l2_bytes);
  return caps;
}

// sysconf() tells that of all cores of the processor together, of which a virtual machine has a
// few.
std::int64_t last_cache_bytes() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::int64_t kilobytes = 0;
  char unit = 0;
  return file >> kilobytes >> unit && unit == 'K' ? kilobytes << 10 : 0;
}

bool has_avx512(const Caps& caps) { return caps.vector_bytes == 64; }

std::string describe_cpu(const Caps& caps) {
  const char* vectors = has_avx512(caps)          ? "AVX-512"
                        : caps.vector_bytes == 32 ? "AVX2"
                                                  : "128-bit vectors";
  return fmt::format("{}, {} thread{}, {}, L1 {} KiB, L2 {} KiB", brand(), caps.threads,
                     caps.threads == 1 ? "" : "s", vectors, caps.l1_bytes >> 10,
                     caps.l2_bytes >> 10);
}

}  // namespace croze
