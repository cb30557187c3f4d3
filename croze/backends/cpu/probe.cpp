// probe.cpp -- questions to the processor and to the system.
#include "croze/backends/cpu/probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "croze/backends/cpu/cpuid_words.h"
#include "croze/backends/cpu/extensions.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/llvm.h"

namespace croze {
namespace {

std::int64_t system_value(int name, std::int64_t fallback) {
  const long value = sysconf(name);
  return value > 0 ? value : fallback;
}

#if defined(__x86_64__)

// Of CPUID's leaf 0: "Auth" of "AuthenticAMD", and "Genu" of "GenuineIntel".
constexpr unsigned vendor_is_amd = 0x68747541, vendor_is_intel = 0x756e6547;

// Of a register of 512 bits.  AMD says how wide the units are (CPUID 8000_001A, bits 2 and 3: 256
// and 512 bits); the first with such registers, family 19h, compute one in two halves.  A machine
// that is virtual may say neither.
std::int64_t datapath_bytes() {
  constexpr unsigned amd_leaf = 0x8000001a;
  if (cpuid(0)[ebx] != vendor_is_amd) return 64;
  const unsigned widths = cpuid(amd_leaf)[eax] >> 2 & 3, version = cpuid(1)[eax];
  const unsigned family = (version >> 8 & 15) + (version >> 20 & 255);
  const bool in_halves = widths == 0 ? family <= 0x19 : widths == 1;
  return in_halves ? 32 : 64;
}

// AMD's processors fetch far ahead of a thread that reads in one place, into the L2 cache: up to 27
// GB/s of a core of family 19h, and half of that where two or more places take turns, each of which
// is found out about anew.  Intel's fetch no further than a page, of one as of several at once.
std::int64_t memory_places() { return cpuid(0)[ebx] == vendor_is_amd ? 1 : 4; }

// AMD's processors make a gather of several instructions for each lane, and so do Intel's that leak
// what others have gathered and are kept from it: the system says which.  As fast as loads and
// shuffles are those of Intel's that do not leak.
bool has_fast_gather() {
  if (cpuid(0)[ebx] != vendor_is_intel) return false;
  std::ifstream file("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling");
  std::string answer;
  return std::getline(file, answer) && answer == "Not affected";
}

std::string brand() {
  char text[49] = "";
  for (unsigned i = 0; i < 3; i++) {
    const CpuidWords r = cpuid(0x80000002 + i);
    std::memcpy(text + 16 * i, r.data(), 16);
  }
  std::string result(text);
  result.erase(result.find_last_not_of(' ') + 1);
  result.erase(0, result.find_first_not_of(' '));
  return result.empty() ? "x86-64" : result;
}

// Code made for one machine must not be run on another: the model, and every word of feature bits
// that a virtual machine may mask.
std::string features_here() {
  std::string result = "x86_64";
  // The second word of leaf 1 holds the number of the core that happens to ask.
  const CpuidWords basic = cpuid(1);
  result += fmt::format("-{:x}-{:x}-{:x}", basic[0], basic[2] & ~unsigned{bit_OSXSAVE}, basic[3]);
  for (unsigned subleaf : {0u, 1u}) {
    for (unsigned word : cpuid(7, subleaf)) result += fmt::format("-{:x}", word);
  }
  const CpuidWords extended = cpuid(0x80000001);
  return result + fmt::format("-{:x}-{:x}", extended[2], extended[3]);
}

#else

std::string brand() { return "CPU"; }
std::string features_here() { return "unknown"; }
std::int64_t datapath_bytes() { return 0; }
bool has_fast_gather() { return false; }
std::int64_t memory_places() { return 4; }

#endif

// What compiled code depends on: how lanes are gathered, too.
std::string architecture() {
  const std::string& without = left_out_extensions();
  return features_here() + (without.empty() ? "" : " without " + without) +
         (gathers_fast() ? " gathering" : "");
}

struct Features {
  bool avx512 = false;  // with the forms for narrow vectors and for all element sizes
  bool avx2 = false;    // with fused multiply-add
  bool f16 = false;     // conversions from and to Float16
};

Features features_in(std::string_view extensions) {
  const auto has = [&](std::string_view name) { return has_extension(extensions, name); };
  // Without AVX2 LLVM 19 makes halfs of vectors of unsigned words by way of 65,536, which is none.
  return {.avx512 = has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq"),
          .avx2 = has("avx2") && has("fma"),
          .f16 = has("avx2") && has("f16c")};
}

// Whether an instruction of its own does what the unit does with several.
bool is_one_instruction(const MatrixUnit& unit, const MatrixUnit& other) {
  return !unit.adds_to_sums && other.adds_to_sums && other.a == unit.a && other.b == unit.b &&
         other.rows == unit.rows && other.columns == unit.columns &&
         has_row_for_each_column(other) == has_row_for_each_column(unit);
}

// Those of whose sums a row fills a register: they are read from tiles as vectors, too.  Columns
// that have rows of their own may be fewer: as many as a group of numbers makes, where one
// instruction does it.
std::vector<const MatrixUnit*> units_of(const Caps& caps) {
  std::vector<const MatrixUnit*> units;
  for (const MatrixUnit& unit : matrix_units()) {
    const std::int64_t bytes = unit.columns * size_of(unit.accumulator);
    const bool fills =
        bytes == caps.vector_bytes ||
        (has_row_for_each_column(unit) && unit.adds_to_sums && bytes < caps.vector_bytes);
    const bool is_needed = std::ranges::none_of(
        units, [&](const MatrixUnit* other) { return is_one_instruction(unit, *other); });
    if (fills && is_needed && has_extension(caps.extensions, unit.extension))
      units.push_back(&unit);
  }
  return units;
}

// What the cores of a die have in common at most.  Where more is told, as of 480 MiB to a virtual
// machine of two cores, it lies on several dies, most of it far away, and others have their part.
constexpr std::int64_t most_last_cache = std::int64_t{96} << 20;

// The cache that one core shares with others; 0 if it is not known.  sysconf() tells that of all
// cores of the processor together, of which a virtual machine has a few.
std::int64_t last_cache_bytes() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::int64_t kilobytes = 0;
  char unit = 0;
  if (!(file >> kilobytes >> unit) || unit != 'K') return 0;
  return std::min(kilobytes << 10, most_last_cache);
}

}  // namespace

Caps probe_cpu(int threads) {
  Caps caps;
  caps.device = "CPU";
  caps.architecture = architecture();
  caps.extensions = usable_extensions();
  const Features has = features_in(caps.extensions);
  caps.ops = LlvmRenderer::ops();
  if (has.avx512) caps.ops |= set_of({Op::Scale});
  // Else LLVM would call a function.
  if (!has.avx512 && !has.avx2) caps.ops &= ~set_of({Op::MulAdd});
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
  caps.last_cache_bytes = last_cache_bytes();
  caps.memory_places = memory_places();
  return caps;
}

bool gathers_fast() {
  static const bool result = has_fast_gather();
  return result;
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
