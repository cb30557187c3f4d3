// code_object.h -- what stands in an object that LLVM has made for AMD's graphics processors, and
// the linker that makes of it what a driver loads.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "targets/kernel_use.h"

namespace croze::targets {

// Whether the bytes are such an object, linked or not.
bool is_code_object(std::string_view bytes);

// Of each kernel, from the note that the driver reads as well.  Spills are counted in registers.
// Throws Error if the object is damaged or has no such note.
std::vector<KernelUse> uses_in_code_object(std::string_view object);

// How often each instruction occurs in it, by name: "v_mfma_f32_16x16x16_f16".
std::map<std::string, int> count_instructions(std::string_view object,
                                              const std::string& processor);

// The path of ld.lld, the linker; nothing if the PATH has none.
std::optional<std::string> find_code_linker();
// A code object of an object.  Throws Error with the linker's message.
std::string link_code_object(const std::string& linker, std::string_view object);
// The same of many at once, to see that they can be linked: of kernels of one name the first stays.
std::string link_code_objects(const std::string& linker, std::span<const std::string> objects);

}  // namespace croze::targets
