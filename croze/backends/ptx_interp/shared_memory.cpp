// shared_memory.cpp -- races and reads before writes.
#include "croze/backends/ptx_interp/shared_memory.h"

#include <fmt/format.h>

#include <cstddef>

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

std::string SharedMemory::who(std::int32_t items) {
  if (items < several) return "a unit has";
  return items == several ? "others have" : fmt::format("item {} has", items);
}

std::string SharedMemory::read(std::int32_t item, std::int64_t offset, std::int64_t count) {
  for (std::int64_t k = offset; k < offset + count; k++) {
    Watch& w = watch(k);
    if (w.coming > 0) return fmt::format("byte {} is read before its copy is waited for", k);
    if (!w.is_written) return fmt::format("byte {} is read and was never written", k);
    if (w.writer != nobody && w.writer != item) {
      return fmt::format("race: item {} reads byte {}, which {} written since the barrier", item, k,
                         who(w.writer));
    }
    w.reader = w.reader == nobody || w.reader == item ? item : several;
  }
  return {};
}

std::string SharedMemory::write(std::int32_t item, std::int64_t offset,
                                std::span<const std::byte> values) {
  std::int64_t k = offset;
  for (const std::byte value : values) {
    Watch& w = watch(k);
    if (w.coming > 0) return fmt::format("byte {} is written before its copy is waited for", k);
    if (w.units > 0) return fmt::format("byte {} is written while a unit reads it", k);
    const bool is_other = w.writer != nobody && w.writer != item;
    if (is_other && *at(k) != value) {
      return fmt::format("race: item {} writes byte {}, which {} written since the barrier", item,
                         k, who(w.writer));
    }
    if (w.reader != nobody && w.reader != item) {
      return fmt::format("race: item {} writes byte {}, which {} read since the barrier", item, k,
                         who(w.reader));
    }
    w.writer = is_other ? several : item;
    w.is_written = true;
    w.shown = -1;
    *at(k++) = value;
  }
  return {};
}

std::string SharedMemory::begin(std::int32_t item, std::int64_t offset,
                                std::span<const std::byte> values, bool by_unit) {
  std::int64_t k = offset;
  for (const std::byte value : values) {
    Watch& w = watch(k);
    if (w.units > 0) return fmt::format("byte {} is written while a unit reads it", k);
    const bool is_other = w.writer != nobody && w.writer != item;
    const bool is_same = value == (w.coming > 0 ? w.brought : *at(k));
    if ((w.coming > 0 || is_other) && !is_same) {
      return fmt::format("race: item {} copies to byte {}, which {} written since the barrier",
                         item, k, who(w.writer));
    }
    if (w.reader != nobody && w.reader != item) {
      return fmt::format("race: item {} copies to byte {}, which {} read since the barrier", item,
                         k, who(w.reader));
    }
    if (by_unit && w.is_written && w.shown < 0)
      return fmt::format("byte {} is copied to and no fence has shown who wrote it before", k);
    w.writer = is_other ? several : item;
    w.coming++;
    w.brought = value;
    k++;
  }
  return {};
}

void SharedMemory::land(std::int32_t item, std::int64_t offset, std::span<const std::byte> values,
                        bool by_unit) {
  std::int64_t k = offset;
  for (const std::byte value : values) {
    Watch& w = watch(k);
    w.writer = w.writer == nobody || w.writer == item ? item : several;
    w.is_written = true;
    w.shown = by_unit ? phase_ : -1;
    w.coming--;
    *at(k++) = value;
  }
}

void SharedMemory::show(std::int64_t offset, std::int64_t count) {
  for (std::int64_t k = offset; k < offset + count; k++) watch(k).shown = phase_;
}

std::string SharedMemory::begin_unit(std::int32_t unit, std::int64_t offset, std::int64_t count) {
  if (offset + count > size()) return fmt::format("a unit reads byte {} of {}", offset, size());
  if (std::string wrong = read(unit, offset, count); !wrong.empty()) return wrong;
  for (std::int64_t k = offset; k < offset + count; k++) {
    Watch& w = watch(k);
    if (w.shown < 0 || w.shown == phase_) {
      return fmt::format("byte {} is read by a unit and no fence has shown it before a barrier", k);
    }
    w.units++;
  }
  return {};
}

// What is read late is read in this phase, too.
std::string SharedMemory::end_unit(std::int32_t unit, std::int64_t offset, std::int64_t count) {
  for (std::int64_t k = offset; k < offset + count; k++) watch(k).units--;
  return read(unit, offset, count);
}

}  // namespace croze::ptx_interp
