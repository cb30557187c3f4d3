// compiler_id.h -- which compiler this is, for the names of what it has compiled.
#pragma once

#include <string_view>

namespace croze {

// A hash of all sources that decide what kernels a graph becomes and what code each of them, and of
// how they were built.  Two builds of one id make the same, whatever else is linked with them; so
// what one keeps on disk the other may use.  The build makes it: cmake/compiler_id.cmake.
std::string_view compiler_id();

}  // namespace croze
