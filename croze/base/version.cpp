// The version, given by the build.
#include "croze/base/version.h"

namespace croze {

const char* version() { return CROZE_VERSION; }

}  // namespace croze
