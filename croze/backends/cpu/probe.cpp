// probe.cpp -- questions to the processor and to the system.
#include "croze/backends/cpu/probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>

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

#endif

}  // namespace

Caps probe_cpu(int threads) {
  const Features has = features();
  Caps caps;
  caps.device = "CPU";
  caps.architecture = architecture();
  caps.ops = LlvmRenderer::ops();
  // Else LLVM would call a function.
  if (!has.avx512 && !has.avx2) caps.ops &= ~(std::uint64_t{1} << static_cast<int>(Op::MulAdd));
  caps.dtypes = caps.storage = LlvmRenderer::dtypes();
  if (has.f16) caps.storage |= 1u << static_cast<int>(DType::Float16);
  caps.threads = threads;
  caps.joins_nests = true;
  caps.vector_bytes = has.avx512 ? 64 : has.avx2 ? 32 : 16;
  caps.vector_registers = has.avx512 ? 32 : 16;
  caps.masked_vectors = has.avx512 || has.avx2;
  caps.exchanges_lanes = true;
  caps.prefetches = true;
  caps.l1_bytes = system_value(_SC_LEVEL1_DCACHE_SIZE, caps.l1_bytes);
  caps.l2_bytes = system_value(_SC_LEVEL2_CACHE_SIZE, caps.l2_bytes);
  return caps;
}

std::string describe_cpu(const Caps& caps) {
  const char* vectors = caps.vector_bytes == 64   ? "AVX-512"
                        : caps.vector_bytes == 32 ? "AVX2"
                                                  : "128-bit vectors";
  return fmt::format("{}, {} thread{}, {}, L1 {} KiB, L2 {} KiB", brand(), caps.threads,
                     caps.threads == 1 ? "" : "s", vectors, caps.l1_bytes >> 10,
                     caps.l2_bytes >> 10);
}

}  // namespace croze
