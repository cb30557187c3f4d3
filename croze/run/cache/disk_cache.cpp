// disk_cache.cpp -- one for the process.
#include "croze/run/cache/disk_cache.h"

namespace croze {

CompileCache& disk_cache() {
  // Never destroyed: at the end of the process, other threads may still use it.
  static CompileCache& instance = *new CompileCache(CompileCache::from_environment());
  return instance;
}

}  // namespace croze
