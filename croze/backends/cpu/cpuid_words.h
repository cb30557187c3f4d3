// cpuid_words.h -- the instruction by which an x86 processor says what it is.
#pragma once

#if defined(__x86_64__)

#include <cpuid.h>

#include <array>

namespace croze {

using CpuidWords = std::array<unsigned, 4>;  // eax, ebx, ecx, edx

// Zeros for a leaf that the processor does not have.  A virtual machine is left to ask, which takes
// ten microseconds: not for the number of leaves each time.
inline CpuidWords cpuid(unsigned leaf, unsigned subleaf = 0) {
  constexpr unsigned extended = 0x80000000;
  static const unsigned most = __get_cpuid_max(0, nullptr),
                        most_extended = __get_cpuid_max(extended, nullptr);
  CpuidWords words{};
  if (leaf > (leaf < extended ? most : most_extended)) return words;
  __cpuid_count(leaf, subleaf, words[0], words[1], words[2], words[3]);
  return words;
}

constexpr unsigned eax = 0, ebx = 1, ecx = 2, edx = 3;

}  // namespace croze

#endif
