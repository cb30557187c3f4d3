// memory_limit.cpp -- how much is too much, and what is said then.
#include "croze/run/memory_limit.h"

#include <fmt/format.h>
#include <unistd.h>

#include "croze/base/error.h"
#include "croze/base/options.h"

namespace croze {
namespace {

std::int64_t machine_memory() {
  static const std::int64_t bytes =
      static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE);
  return bytes;
}

std::string size_text(std::int64_t bytes) {
  const double megabytes = static_cast<double>(bytes) / (1 << 20);
  if (megabytes >= 1024) return fmt::format("{:.1f} GiB", megabytes / 1024);
  return megabytes >= 1 ? fmt::format("{:.1f} MiB", megabytes) : fmt::format("{} bytes", bytes);
}

}  // namespace

std::int64_t memory_limit() {
  const std::int64_t megabytes = Options::integer(Option::MemoryLimit);
  return megabytes > 0 ? megabytes << 20 : machine_memory() / 4 * 3;
}

void check_memory(std::int64_t bytes, std::int64_t held, const std::string& what) {
  const std::int64_t limit = memory_limit();
  if (bytes <= limit - held) return;
  fail({.hint = "CROZE_MEMORY_LIMIT sets the limit, in MiB"},
       "{} takes {}; with the {} that tensors hold that is more than the limit of {}", what,
       size_text(bytes), size_text(held), size_text(limit));
}

}  // namespace croze
