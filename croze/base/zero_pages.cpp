#include "croze/base/zero_pages.h"

#include <sys/mman.h>

#include <cerrno>
#include <system_error>

#include "croze/base/error.h"

namespace croze {

std::shared_ptr<void> zero_pages(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  void* start = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check(start != MAP_FAILED, "no room for {} bytes: {}", bytes,
        std::generic_category().message(errno));
  return {start, [size](void* pages) { munmap(pages, size); }};
}

}  // namespace croze
