// disk_cache.h -- internal to run/: what this process keeps on disk for those that come after it.
#pragma once

#include "croze/device/compile_cache.h"

namespace croze {

// Process-wide: named in docs/architecture.md as global state.  Programs and large schedules.
CompileCache& disk_cache();

}  // namespace croze
