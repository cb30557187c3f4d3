// shared_memory.h -- what the items of a group share, watched.
//
// Between two barriers nothing orders the items.  So each byte remembers who has read and who has
// written it since the last barrier: where two items touch it and one of them writes, the result
// would depend on chance.  Two that write the same are none: items may fill a tile twice.  And it
// remembers whether it was ever written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace croze::ptx_interp {

class SharedMemory {
 public:
  explicit SharedMemory(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)), watch_(static_cast<std::size_t>(bytes)) {}

  void start_group();
  void pass_barrier() { phase_++; }
  // Which of the times between two barriers it is.
  std::int64_t phase() const { return phase_; }

  // What is wrong with an access of the item to bytes, which lie inside; empty if nothing is.  A
  // write that is right has happened.
  std::string read(std::int32_t item, std::int64_t offset, std::int64_t count);
  std::string write(std::int32_t item, std::int64_t offset, std::span<const std::byte> values);

  // A copy of the item begins, and has come: what is between is nobody's.  Two may bring the same.
  // `by_unit`: one that the item asked for it brings it, not the item.
  std::string begin(std::int32_t item, std::int64_t offset, std::span<const std::byte> values,
                    bool by_unit = false);
  void land(std::int32_t item, std::int64_t offset, std::span<const std::byte> values,
            bool by_unit = false);

  // A unit (wgmma) begins to read for itself, and has read, what nobody writes in between.
  static std::int32_t unit(std::int32_t number) { return -3 - number; }
  std::string begin_unit(std::int32_t unit, std::int64_t offset, std::int64_t count);
  std::string end_unit(std::int32_t unit, std::int64_t offset, std::int64_t count);
  // What the item has written to bytes is shown to units.
  void show(std::int64_t offset, std::int64_t count);

  std::byte* at(std::int64_t offset) { return bytes_.data() + offset; }
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }

 private:
  static constexpr std::int32_t nobody = -1, several = -2;

  // Of one byte.
  struct Watch {
    std::int64_t phase = -1;  // in which it was last touched
    std::int32_t reader = nobody;
    std::int32_t writer = nobody;
    bool is_written = false;  // since the group has begun
    std::int32_t coming = 0;  // copies on their way
    std::byte brought{};      // by all of them
    std::int64_t shown = -1;  // the phase in which it was, to units, since it was written
    std::int32_t units = 0;   // that are reading it
  };

  Watch& watch(std::int64_t offset);
  static std::string who(std::int32_t items);

  std::vector<std::byte> bytes_;
  std::vector<Watch> watch_;
  std::int64_t phase_ = 0;
};

}  // namespace croze::ptx_interp
