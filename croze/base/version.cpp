// The version, given by the build.
#include "base/version.h"

namespace croze {

const char* version() { return CROZE_VERSION; }

}  // namespace croze
