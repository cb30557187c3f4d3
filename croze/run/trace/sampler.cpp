#include "croze/run/trace/sampler.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

namespace croze::tracing {
namespace {

constexpr std::size_t max_threads = 256;
// Not a whole part of a millisecond: what a program does every millisecond would always be missed,
// or always be seen.
constexpr std::uint64_t ns_between_samples = 997'000;
constexpr std::size_t ring_pages = 16;  // a power of two: four seconds of samples

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
std::size_t mapped_bytes() { return (ring_pages + 1) * page_bytes(); }

// The threads of this process by the numbers that the system has for them, in order; as many as are
// listed before an error.
std::vector<int> threads_now() {
  std::vector<int> ids;
  std::error_code error;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator entry("/proc/self/task", error); !error && entry != end;
       entry.increment(error)) {
    ids.push_back(std::stoi(entry->path().filename().string()));
  }
  std::ranges::sort(ids);
  return ids;
}

// Of each sample the address alone, and only outside of the system, which may be asked for without
// privileges.
perf_event_attr description() {
  perf_event_attr event{};
  event.size = sizeof(event);
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_CPU_CLOCK;
  event.sample_period = ns_between_samples;
  event.sample_type = PERF_SAMPLE_IP;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  return event;
}

}  // namespace

Sampler::~Sampler() {
  for (const Thread& t : threads_) end(t);
}

// Without an event where that is refused.
Sampler::Thread Sampler::begin(int id) {
  perf_event_attr event = description();
  constexpr int any_processor = -1, no_group = -1;
  const int file = static_cast<int>(
      syscall(SYS_perf_event_open, &event, id, any_processor, no_group, PERF_FLAG_FD_CLOEXEC));
  if (file < 0) return {};
  void* pages = mmap(nullptr, mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (pages == MAP_FAILED) {
    close(file);
    return {};
  }
  return {id, file, pages};
}

void Sampler::end(const Thread& thread) {
  munmap(thread.pages, mapped_bytes());
  close(thread.event);
}

void Sampler::find_threads() {
  const std::vector<int> now = threads_now();
  std::erase_if(threads_, [&](const Thread& t) {
    const bool is_over = !std::ranges::binary_search(now, t.id);
    if (is_over) end(t);
    return is_over;
  });
  for (const int id : now) {
    if (threads_.size() >= max_threads) return;
    if (std::ranges::find(threads_, id, &Thread::id) != threads_.end()) continue;
    const Thread thread = begin(id);
    if (thread.event < 0) return;
    threads_.push_back(thread);
  }
}

// The ring holds records of eight bytes and more, each a multiple of eight, so only between such
// words may it begin anew.
void Sampler::take(function_ref<void(std::uintptr_t)> seen) {
  const std::uint64_t ring_bytes = ring_pages * page_bytes();
  for (const Thread& t : threads_) {
    auto* about = static_cast<perf_event_mmap_page*>(t.pages);
    const std::byte* ring = static_cast<const std::byte*>(t.pages) + page_bytes();
    const std::uint64_t head = std::atomic_ref(about->data_head).load(std::memory_order_acquire);
    std::uint64_t at = about->data_tail;
    while (at < head) {
      perf_event_header header;
      std::memcpy(&header, ring + at % ring_bytes, sizeof(header));
      if (header.type == PERF_RECORD_SAMPLE) {
        std::uint64_t address = 0;
        std::memcpy(&address, ring + (at + sizeof(header)) % ring_bytes, sizeof(address));
        seen(static_cast<std::uintptr_t>(address));
      }
      at += std::max<std::uint64_t>(header.size, sizeof(header));
    }
    std::atomic_ref(about->data_tail).store(at, std::memory_order_release);
  }
}

}  // namespace croze::tracing
