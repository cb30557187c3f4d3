// boxes.h -- copies of boxes (cp.async.bulk.tensor), and the barriers in shared memory that await
// them (mbarrier).
//
// What a copy brings is taken when it begins and lands when it is awaited, as late as it may; until
// then nobody touches its place.  Who awaits a phase finds that all have arrived and that as many
// bytes come as are expected: the items run one after the other, so what is missing then comes from
// nobody.  Where elements lie is said here after the manual ("Tensor Swizzle Modes"): the bits of
// 16 bytes in 128 are flipped by those of 128 in 1024, of the address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "croze/backends/ptx_interp/shared_memory.h"
#include "croze/device/device.h"

namespace croze::ptx_interp {

// What a tensor map says, as the interpreter has it: the buffer from an address on that is aligned,
// and how it is cut.
struct TensorMap {
  BoxedBuffer box;
  std::int64_t shift = 0;             // elements from that address to the first one of the buffer
  const std::byte* memory = nullptr;  // that first one
  std::int64_t bytes = 0;             // of the buffer
};

class BoxCopies {
 public:
  explicit BoxCopies(SharedMemory& shared) : shared_(shared) {}

  void start_group() { barriers_.clear(); }
  // Whether nothing is on its way.
  bool is_idle() const;

  // What is wrong; empty if nothing is.  Places are in shared memory.
  std::string init(std::int32_t item, std::int64_t barrier, std::int64_t arrivals);
  void show_inits(std::int32_t item);
  std::string expect(std::int64_t barrier, std::int64_t bytes);
  std::string arrive(std::int64_t barrier);
  std::string begin(std::int32_t item, std::int64_t barrier, std::int64_t to, const TensorMap& map,
                    std::span<const std::int64_t> coordinates);
  // Whether the phase that is odd, or even, is over.
  std::string await(std::int32_t item, std::int64_t barrier, bool is_odd, bool& is_over);

 private:
  struct Piece {
    std::int32_t item;
    std::int64_t offset;
    std::vector<std::byte> values;
  };
  struct Barrier {
    std::int64_t arrivals = 0, pending = 0, expected = 0;
    std::int64_t coming = 0;  // bytes
    bool is_odd = false;      // the phase at hand
    bool is_shown = false;    // that it was made ready
    std::int32_t made_by = 0;
    std::int64_t made_in = 0;  // the phase between barriers of the group
    std::vector<Piece> pieces;
  };

  // That at a place, in a phase that goes on; null, with what is wrong.
  Barrier* going_on(std::int64_t barrier, std::string& wrong);

  SharedMemory& shared_;
  std::map<std::int64_t, Barrier> barriers_;
};

}  // namespace croze::ptx_interp
