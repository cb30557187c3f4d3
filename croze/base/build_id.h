// build_id.h -- which build of the program is running.
#pragma once

#include <string>

namespace croze {

// The build id that the linker gave to the executable or shared library that croze is in, in
// hexadecimal; empty if it gave none.  Two builds with different code have different ids, so what
// is kept on disk under it is never used by a build that would have made it otherwise.
const std::string& build_id();

}  // namespace croze
