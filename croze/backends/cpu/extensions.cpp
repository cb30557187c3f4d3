// extensions.cpp -- the table of extensions, what the machine has of it, and what is left out.
//
// An extension that is left out takes those along that are made of it: without AVX2 there is no
// AVX-512, as LLVM has it, too.  Of AVX-512 four are used together or not at all, so each of them
// stands for all of it.
#include "croze/backends/cpu/extensions.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "croze/backends/cpu/cpuid_words.h"
#include "croze/base/error.h"
#include "croze/base/options.h"

namespace croze {
namespace {

// For each name until the function has returned true.
template <typename F>
bool any_name(std::string_view names, char between, F function) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(between), names.size());
    if (end > 0 && function(names.substr(0, end))) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

void append(std::string& names, std::string_view name) {
  names += names.empty() ? "" : " ";
  names += name;
}

struct Extensions {
  std::string usable, left_out;
};

#if defined(__x86_64__)

// What must be there, registers that the system keeps among it.
enum class Needs { Nothing, Avx, Avx2, Avx512, Tiles };

// What LLVM may use in a kernel on this processor, where it has it.
struct Extension {
  std::string_view name;
  unsigned leaf, subleaf, word, bit;  // of cpuid
  Needs needs = Needs::Nothing;
};

constexpr auto avx = Needs::Avx, avx2 = Needs::Avx2, avx512 = Needs::Avx512, tiles = Needs::Tiles;
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
    {"avx2", 7, 0, ebx, 5, avx2},
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
    {"vaes", 7, 0, ecx, 9, avx2},
    {"vpclmulqdq", 7, 0, ecx, 10, avx},
    {"avx512vnni", 7, 0, ecx, 11, avx512},
    {"avx512bitalg", 7, 0, ecx, 12, avx512},
    {"avx512vpopcntdq", 7, 0, ecx, 14, avx512},
    {"avx512vp2intersect", 7, 0, edx, 8, avx512},
    {"amx-bf16", 7, 0, edx, 22, tiles},
    {"avx512fp16", 7, 0, edx, 23, avx512},
    {"amx-tile", 7, 0, edx, 24, tiles},
    {"amx-int8", 7, 0, edx, 25, tiles},
    {"avxvnni", 7, 1, eax, 4, avx2},
    {"avx512bf16", 7, 1, eax, 5, avx512},
    {"avxifma", 7, 1, eax, 23, avx2},
    {"avxvnniint8", 7, 1, edx, 4, avx2},
    {"avxneconvert", 7, 1, edx, 5, avx2},
    {"avxvnniint16", 7, 1, edx, 10, avx2},
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

// Whether an extension with such needs is none without `name`.
bool is_made_of(Needs needs, std::string_view name) {
  constexpr std::string_view parts_of_avx512[] = {"avx512f",  "avx512vl", "avx512bw",
                                                  "avx512dq", "fma",      "f16c"};
  switch (needs) {
    case Needs::Nothing: return false;
    case Needs::Tiles: return name == "amx-tile";
    case Needs::Avx: return name == "avx";
    case Needs::Avx2: return name == "avx2" || is_made_of(Needs::Avx, name);
    case Needs::Avx512:
      return std::ranges::find(parts_of_avx512, name) != std::end(parts_of_avx512) ||
             is_made_of(Needs::Avx2, name);
  }
  return false;
}

void check_names(std::string_view without) {
  any_name(without, ',', [](std::string_view name) {
    check(std::ranges::find(extensions, name, &Extension::name) != std::end(extensions),
          "CROZE_CPU_WITHOUT: there is no extension \"{}\"; LLVM's names are meant, as avx512f",
          name);
    return false;
  });
}

Extensions find_extensions(std::string_view without) {
  check_names(without);
  __builtin_cpu_init();
  const bool keeps_avx = __builtin_cpu_supports("avx"),
             keeps_avx512 = __builtin_cpu_supports("avx512f"), keeps_amx = keeps_tiles();
  const auto is_kept = [&](Needs needs) {
    return needs == tiles                  ? keeps_amx
           : needs == avx512               ? keeps_avx512
           : needs == avx || needs == avx2 ? keeps_avx
                                           : true;
  };
  // Asking takes longer than all else here: once for each leaf.
  std::map<std::pair<unsigned, unsigned>, CpuidWords> told;
  const auto words = [&](unsigned leaf, unsigned subleaf) -> const CpuidWords& {
    const auto [it, is_new] = told.try_emplace({leaf, subleaf});
    if (is_new) it->second = cpuid(leaf, subleaf);
    return it->second;
  };
  Extensions found;
  for (const Extension& e : extensions) {
    if (!is_kept(e.needs) || !(words(e.leaf, e.subleaf)[e.word] >> e.bit & 1)) continue;
    const bool is_left_out = any_name(without, ',', [&](std::string_view name) {
      return name == e.name || is_made_of(e.needs, name);
    });
    append(is_left_out ? found.left_out : found.usable, e.name);
  }
  return found;
}

#else

Extensions find_extensions(std::string_view) { return {}; }

#endif

const Extensions& extensions_here() {
  static const Extensions& result =
      *new Extensions(find_extensions(Options::text(Option::CpuWithout)));
  return result;
}

}  // namespace

const std::string& usable_extensions() { return extensions_here().usable; }
const std::string& left_out_extensions() { return extensions_here().left_out; }

bool has_extension(std::string_view names, std::string_view name) {
  return any_name(names, ' ', [&](std::string_view n) { return n == name; });
}

// The last word on a feature counts.  Names that LLVM does not know it would complain about.
std::string usable_features(std::string features) {
  std::string taken_back;
  any_name(features, ',', [&](std::string_view feature) {
    if (feature[0] == '+' && has_extension(left_out_extensions(), feature.substr(1))) {
      taken_back += ",-";
      taken_back += feature.substr(1);
    }
    return false;
  });
  return features + taken_back;
}

}  // namespace croze
