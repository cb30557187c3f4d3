// cpuid_words.h -- the instruction by which an x86 processor says what it is.
#pragma once

#if defined(__x86_64__)

#include <cpuid.h>

#include <array>

namespace croze {

using CpuidWords = std::array<unsigned, 4>;  // eax, ebx, ecx, edx

inline CpuidWords cpuid(unsigned leaf, unsigned subleaf = 0) {
  CpuidWords words{};
  __get_cpuid_count(leaf, subleaf, &words[0], &words[1], &words[2], &words[3]);
  return words;
}

constexpr unsigned eax = 0, ebx = 1, ecx = 2, edx = 3;

}  // namespace croze

#endif
