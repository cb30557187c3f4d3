// small_blocks.cpp -- spans of equal blocks in one range of addresses, and lists of free ones.
//
// A span is as long as its alignment and begins with the size of its blocks, so a pointer says all.
// The lists of a thread that ends are taken by the next that begins.
#include "croze/device/llvm/small_blocks.h"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <new>

namespace croze::small_blocks {
namespace {

constexpr std::size_t span_bytes = 64 << 10, head_bytes = 64;
constexpr std::size_t range_bytes = std::size_t{16} << 30;  // of addresses; memory comes when used

constexpr int power_below(std::size_t n) { return static_cast<int>(std::bit_width(n)) - 1; }

// Sizes go up by 16 bytes, from 256 on by an eighth of a power of two.
constexpr std::size_t fine_step = 16, finely = 256;
constexpr int steps = 8, first_power = power_below(finely);
constexpr int fine_sizes = finely / fine_step;
constexpr int sizes = fine_sizes + steps * (power_below(most_bytes) - first_power);

int size_of_bytes(std::size_t bytes) {
  if (bytes == 0) return 0;
  const std::size_t last = bytes - 1;
  if (bytes <= finely) return static_cast<int>(last / fine_step);
  const int power = power_below(last);
  const auto eighths = static_cast<int>((last >> (power - 3)) & (steps - 1));
  return fine_sizes + (power - first_power) * steps + eighths;
}

std::size_t bytes_of_size(int size) {
  if (size < fine_sizes) return static_cast<std::size_t>(size + 1) * fine_step;
  const int power = (size - fine_sizes) / steps + first_power;
  const auto eighths = static_cast<std::size_t>((size - fine_sizes) % steps + 1);
  return (std::size_t{1} << power) + (eighths << (power - 3));
}

struct Free {
  Free* next;
};

struct Span {
  int size;
};

// What one thread works with.
struct Lists {
  Free* free[sizes] = {};
  char* unused[sizes] = {};  // of the span that was begun last
  char* end[sizes] = {};
  Lists* next_idle = nullptr;
};

// Null if the system refuses so many addresses: then there are no small blocks.  Large pages are
// not asked for: they save a hundredth of a large network's compile, but where memory is in pieces
// the system takes 9 ms to find one, as long as LLVM takes for a kernel.
char* reserve() {
  void* const all = mmap(nullptr, range_bytes + span_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(all);
  return static_cast<char*>(all) + (span_bytes - address % span_bytes);
}

// All of it stands beside the allocator that programs have: nothing here may ask for memory that is
// freed by another, and static objects of LLVM's may be made before these.
char* range() {
  static char* const begin = reserve();
  return begin;
}

std::atomic<std::size_t> begun{0};  // bytes of spans
pthread_mutex_t idle_mutex = PTHREAD_MUTEX_INITIALIZER;
Lists* idle = nullptr;
pthread_key_t key;
pthread_once_t key_once = PTHREAD_ONCE_INIT;
[[gnu::tls_model("initial-exec")]] thread_local Lists* mine = nullptr;

// A process that was forked meanwhile finds the mutex locked for ever: then lists are lost.
void put_aside(void* lists) {
  mine = nullptr;
  if (pthread_mutex_trylock(&idle_mutex) != 0) return;
  static_cast<Lists*>(lists)->next_idle = idle;
  idle = static_cast<Lists*>(lists);
  pthread_mutex_unlock(&idle_mutex);
}

Lists* take_idle() {
  if (pthread_mutex_trylock(&idle_mutex) != 0) return nullptr;
  Lists* const result = idle;
  if (result) idle = result->next_idle;
  pthread_mutex_unlock(&idle_mutex);
  return result;
}

Lists* make_lists() {
  void* const memory =
      mmap(nullptr, sizeof(Lists), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Lists;
}

[[gnu::noinline]] Lists* begin_thread() {
  pthread_once(&key_once, [] { pthread_key_create(&key, put_aside); });
  mine = take_idle();
  if (!mine) mine = make_lists();
  if (mine) pthread_setspecific(key, mine);
  return mine;
}

Lists* lists() { return mine ? mine : begin_thread(); }

bool begin_span(Lists& of, int size) {
  if (!range()) return false;
  const std::size_t at = begun.fetch_add(span_bytes, std::memory_order_relaxed);
  if (at + span_bytes > range_bytes) return false;
  char* const span = range() + at;
  new (span) Span{size};
  of.unused[size] = span + head_bytes;
  of.end[size] = span + span_bytes;
  return true;
}

[[gnu::noinline]] void* take_unused(Lists& of, int size) {
  const std::size_t bytes = bytes_of_size(size);
  if (of.end[size] - of.unused[size] < static_cast<std::ptrdiff_t>(bytes) &&
      !begin_span(of, size)) {
    return nullptr;
  }
  char* const result = of.unused[size];
  of.unused[size] += bytes;
  return result;
}

int size_of_block(const void* block) {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  return reinterpret_cast<const Span*>(address - address % span_bytes)->size;
}

}  // namespace

void* allocate(std::size_t bytes) {
  Lists* const of = lists();
  if (!of) return nullptr;
  const int size = size_of_bytes(bytes);
  Free* const free = of->free[size];
  if (!free) return take_unused(*of, size);
  of->free[size] = free->next;
  return free;
}

bool owns(const void* block) {
  const auto begin = reinterpret_cast<std::uintptr_t>(range());
  return begin != 0 && reinterpret_cast<std::uintptr_t>(block) - begin < range_bytes;
}

std::size_t bytes_of(const void* block) { return bytes_of_size(size_of_block(block)); }

void release(void* block) {
  Lists* const of = lists();
  if (!of) return;
  Free*& free = of->free[size_of_block(block)];
  free = new (block) Free{free};
}

}  // namespace croze::small_blocks
