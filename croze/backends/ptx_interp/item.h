// item.h -- one item of a group while it runs: its slots, its private memory, where it stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/backends/ptx_interp/boxes.h"
#include "croze/backends/ptx_interp/code.h"
#include "croze/backends/ptx_interp/shared_memory.h"

namespace croze::ptx_interp {

enum class Space : std::uint8_t { Global, Shared, Local };

// Where memory lies for the kernel: each buffer and each array in a window of its own, so that an
// address says what it belongs to, and how far outside it is.
struct Window {
  static constexpr int bits = 44;  // of an address inside a window
  static constexpr std::uint64_t origin = std::uint64_t{1} << (bits - 1);

  std::uint64_t address = 0;  // of its first byte
  std::byte* memory = nullptr;
  std::int64_t bytes = 0;

  // `low`: the bits below `origin` of the address; what alignment is seen.
  static std::uint64_t address_of(std::int64_t number, std::uint64_t low = 0) {
    return (static_cast<std::uint64_t>(number + 1) << bits) + origin + low;
  }
  static std::int64_t number_of(std::uint64_t address) {
    return static_cast<std::int64_t>(address >> bits) - 1;
  }
};

// What all items of a launch have in common.
struct Launch {
  const Code& code;
  std::string_view kernel;
  std::span<const Window> buffers;
  std::span<const TensorMap> maps;
  std::vector<std::uint64_t> parameters;
  std::int64_t groups[3];
};

enum class Stop : std::uint8_t { None, Warp, Warpgroup, Barrier, End };

class Item {
 public:
  // `shared`: that of its group, with a window for each array, and what is copied there by boxes.
  Item(const Launch& launch, std::int32_t number, SharedMemory& shared, BoxCopies& boxes,
       std::span<const Window> arrays);

  void start(const std::int64_t (&group)[3], const std::int64_t (&position)[3]);

  // Runs to where others are met, those of its warp or of its group, or to the end.
  Stop run();
  // The line of what it stopped at.
  std::int32_t line() const { return last_step().line; }

  // What it stopped at with its warp.
  const WarpStep& warp_step() const {
    return launch_.code.warp_steps[static_cast<std::size_t>(last_step().target)];
  }
  // Of ldmatrix, at which it stopped: the row of 16 bytes whose place it has is one; and what
  // stands in a column of that of another item, or of its own, which it reads itself.
  void check_row() const;
  std::uint16_t load_element(const Item& row, std::size_t column);

  // ---- for the handlers of steps ----

  template <typename T>
  T get(std::int32_t slot) const {
    look_at(slot);
    T value;
    std::memcpy(&value, &slots_[static_cast<std::size_t>(slot)], sizeof(T));
    return value;
  }
  // The bits beyond those of T become 0.
  template <typename T>
  void set(std::int32_t slot, T value) {
    look_at(slot);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    slots_[static_cast<std::size_t>(slot)] = bits;
  }

  void branch(std::int32_t target) { next_ = target; }
  void stop(Stop why) { stop_ = why; }

  // Accesses, which are inside, aligned and no race; throw Error otherwise.
  template <Space space>
  const std::byte* load(const Step& step, std::int64_t bytes);
  template <Space space>
  void store(const Step& step, std::span<const std::byte> values);

  // A copy to shared memory lands when it is waited for, as late as it may; what is read of its
  // place before that is refused.
  void begin_copy(const Step& step);
  void commit_copies();
  void await_copies(std::size_t batches_left);

  // ---- of boxes ----

  // Barriers, whose place is in the first slot; the box that begins.
  void init_barrier(const Step& step);
  void show_inits() { boxes_.show_inits(number_); }
  void expect_bytes(const Step& step);
  void arrive(const Step& step);
  void await_phase(const Step& step);
  void begin_box(const Step& step);

  // ---- of units that go on while items do ----

  // wgmma.fence: what has been done to registers is over.
  void fence_registers() { epoch_++; }
  // fence.proxy.async: units see what the item has written to shared memory.
  void show_writes();
  // Registers that a unit adds to, from when it begins until it is awaited.
  void begin_products(std::span<const std::int32_t> sums);
  void end_products(std::span<const std::int32_t> sums);
  std::uint64_t sum(std::int32_t slot) const { return slots_[static_cast<std::size_t>(slot)]; }
  void set_sum(std::int32_t slot, std::uint64_t bits) {
    slots_[static_cast<std::size_t>(slot)] = bits;
  }

  [[noreturn]] void refuse_here(std::string_view what) const { refuse(last_step(), what); }
  [[noreturn]] void refuse(const Step& step, std::string_view what) const;

 private:
  template <Space space>
  std::byte* place(const Step& step, std::int64_t bytes) const;
  std::byte* checked(const Step& step, std::span<const Window> windows, std::int64_t bytes,
                     std::string_view what) const;
  // Where in shared memory so many bytes are, whose address is in a slot.
  std::int64_t shared_place(const Step& step, std::int32_t slot, std::int64_t offset,
                            std::int64_t bytes) const;
  void require(const Step& step, const std::string& wrong) const;
  const std::byte* read_shared(const Step& step, const std::byte* memory, std::int64_t bytes);
  const Step& last_step() const { return launch_.code.steps[static_cast<std::size_t>(next_ - 1)]; }

  void look_at(std::int32_t slot) const {
    if (watches_registers_) [[unlikely]]
      note_register(slot);
  }
  void note_register(std::int32_t slot) const;

  struct Copy {
    std::int64_t offset;  // in shared memory
    std::vector<std::byte> values;
  };

  const Launch& launch_;
  std::int32_t number_;
  SharedMemory& shared_;
  BoxCopies& boxes_;
  std::span<const Window> arrays_;
  std::vector<std::uint64_t> slots_;
  std::vector<std::byte> private_;
  std::vector<Window> locals_;
  std::vector<Copy> begun_;                 // since the last batch
  std::vector<std::vector<Copy>> batches_;  // on their way
  bool watches_registers_;
  bool notes_writes_;                            // until they are shown
  mutable std::vector<std::int64_t> looked_at_;  // of each slot, the epoch in which it was last
  std::vector<std::int32_t> at_work_;            // products that are being added to it
  std::int64_t epoch_ = 0;                       // between two fences
  std::vector<std::pair<std::int64_t, std::int64_t>> written_;  // and not shown: places, bytes
  std::int32_t next_ = 0;
  Stop stop_ = Stop::None;
};

}  // namespace croze::ptx_interp
