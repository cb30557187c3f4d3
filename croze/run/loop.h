// loop.h -- a prepared run launched again and again, each turn over other parts of the same
// buffers.
//
// Launching a run by itself makes buffers for its results and takes its place among what all
// threads do with its inputs.  A loop does both once, and a turn costs its kernels alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "croze/run/buffers.h"
#include "croze/run/execute.h"

namespace croze {

class BoundLoop {
 public:
  // Where a value stands in a turn: in one of the buffers, so many bytes from its beginning.
  struct Place {
    std::size_t buffer = 0;
    std::int64_t offset = 0;
  };
  // Writes the places of a turn: of the inputs, as inputs_of, and behind them of the roots.  All
  // elements of a value lie in the buffer, and nothing that a turn writes is read in the same turn.
  // It is kept until the last turn, and a queue calls it on a thread of its own.
  using Places = std::function<void(std::int64_t turn, std::span<Place> places)>;

  // `uses`: the buffers, and whether turns write to them.  The roots are computed values, no two of
  // them the same.
  BoundLoop(const PreparedRun& prepared, std::span<const MemoryAccess::Use> uses);
  ~BoundLoop();
  BoundLoop(BoundLoop&&) noexcept;
  BoundLoop& operator=(BoundLoop&&) = delete;

  // Once, as BoundRun::launch: in a QueueScope, returns when the turns are enqueued.
  void launch(std::int64_t turns, Places places);

 private:
  struct Bound;
  std::shared_ptr<Bound> bound_;  // a queue takes it over
};

}  // namespace croze
