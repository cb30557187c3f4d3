// probe.h -- what this machine is: instruction sets, caches, threads.
#pragma once

#include <string>

#include "croze/device/caps.h"

namespace croze {

// The capabilities of this machine's cores, for kernels run by `threads` threads.
Caps probe_cpu(int threads);

// Whether these are of a processor whose AVX-512 is used, forms for narrow vectors included.
bool has_avx512(const Caps& caps);

// Whether on this processor an instruction that loads lanes from places of their own takes no
// longer than as many loads and shuffles.
bool gathers_fast();

// One line for people: "AMD EPYC 9554, 2 threads, AVX-512, L1 32 KiB, L2 1024 KiB".
std::string describe_cpu(const Caps& caps);

}  // namespace croze
