// shared_memory.cpp -- races and reads before writes.
#include "croze/backends/ptx_interp/shared_memory.h"

#include <fmt/format.h>

namespace croze::ptx_interp {

void SharedMemory::start_group() {
  for (Watch& w : watch_) w = {};
  phase_ = 0;
}

SharedMemory::Watch& SharedMemory::watch(std::int64_t offset) {
  Watch& w = watch_[static_cast<std::size_t>(offset)];
  if (w.phase != phase_) {
    w.phase = phase_;
    w.reader = w.writer = nobody;
  }
  return w;
}

std::string SharedMemory::read(std::int32_t item, std::int64_t offset, std::int64_t count) {
  for (std::int64_t k = offset; k < offset + count; k++) {
    Watch& w = watch(k);
    if (!w.is_written) return fmt::format("byte {} is read and was never written", k);
    if (w.writer != nobody && w.writer != item) {
      return fmt::format("race: item {} reads byte {}, which item {} has written since the barrier",
                         item, k, w.writer);
    }
    w.reader = w.reader == nobody || w.reader == item ? item : several;
  }
  return {};
}

std::string SharedMemory::write(std::int32_t item, std::int64_t offset, std::int64_t count) {
  for (std::int64_t k = offset; k < offset + count; k++) {
    Watch& w = watch(k);
    if (w.writer != nobody && w.writer != item) {
      return fmt::format(
          "race: item {} writes byte {}, which item {} has written since the barrier", item, k,
          w.writer);
    }
    if (w.reader != nobody && w.reader != item) {
      const std::string who =
          w.reader == several ? "others have" : fmt::format("item {} has", w.reader);
      return fmt::format("race: item {} writes byte {}, which {} read since the barrier", item, k,
                         who);
    }
    w.writer = item;
    w.is_written = true;
  }
  return {};
}

}  // namespace croze::ptx_interp
