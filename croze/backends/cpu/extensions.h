// extensions.h -- which extensions of the instruction set kernels may use on this machine.
//
// Those that the processor has and whose registers the system keeps, but for what CROZE_CPU_WITHOUT
// leaves out.  That is read once: all devices of a process are the same machine.
#pragma once

#include <string>
#include <string_view>

namespace croze {

// By LLVM's names, with a blank between two.  Throws Error if what is left out has no such name.
const std::string& usable_extensions();
// What the machine has and CROZE_CPU_WITHOUT leaves out, in the same form.
const std::string& left_out_extensions();

// Whether `name` is one of `names`, which have a blank between two.
bool has_extension(std::string_view names, std::string_view name);

// What LLVM says that the host has ("+avx,-xop"), without what is left out.
std::string usable_features(std::string features);

}  // namespace croze
