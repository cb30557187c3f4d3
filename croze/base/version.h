// The version of the library that is linked, to compare with the one compiled against.
#pragma once

namespace croze {

// "major.minor.patch", for example "0.1.0".
const char* version();

}  // namespace croze
