// warpgroup.h -- wgmma, of four warps of a group: what they have begun, and when it is done.
//
// Nothing is computed before it is awaited.  Until then the bytes of the factors must not be
// written, nor the registers of the sums be looked at; what an instruction begins with must have
// been shown to it: writes to shared memory by a proxy fence and a barrier, registers by
// wgmma.fence.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "croze/backends/ptx_interp/code.h"
#include "croze/backends/ptx_interp/item.h"

namespace croze::ptx_interp {

class Warpgroup {
 public:
  // `number`: in the group.
  Warpgroup(std::span<Item> items, std::int32_t number, SharedMemory& shared)
      : items_(items), reader_(SharedMemory::unit(number)), shared_(shared) {}

  void start();
  // What all items have stopped at.
  void step(const WarpStep& step);
  // Whether all has been awaited.
  bool is_idle() const { return begun_.empty() && batches_.empty(); }

 private:
  struct Product {
    const WarpStep* step;
    std::uint64_t a, b;  // descriptors
  };
  // Bytes of a factor's elements, each given to f(line, term, byte).
  template <typename F>
  void each_element(const Product& p, bool of_a, F f) const;

  void begin(const WarpStep& step);
  void await(std::size_t batches_left);
  void land(const Product& p);
  std::vector<double> read_factor(const Product& p, bool of_a);
  std::uint64_t same_in_all(std::int32_t slot) const;
  void require(const std::string& wrong) const;

  std::span<Item> items_;
  std::int32_t reader_;
  SharedMemory& shared_;
  std::vector<Product> begun_;                 // since the last batch
  std::vector<std::vector<Product>> batches_;  // at work
};

}  // namespace croze::ptx_interp
