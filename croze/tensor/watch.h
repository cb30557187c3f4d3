// watch.h -- internal to tensor/ and jit/: what CROZE_CHECK_INDICES and CROZE_CHECK_NAN look at
// while tensors are computed.
//
// The calls that recorded what is wrong are noted beside the graph (run/notes/call_notes.h).  When
// neither option is set, every function here is one branch.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/uop.h"
#include "croze/run/notes/call_notes.h"
#include "croze/tensor/tensor.h"

namespace croze {

class Call;

// Whether one of the two options is set.
bool is_watching();

// The node is a Gather or Scatter by positions of the user's.  Under the lock of the tensor graph.
void note_positions(UOp node, Negative negative);

// Throws Error, as the call, for an index that is known without computing anything, because it
// stands in memory of the host: unless low <= index < high, or it is `ignored`.
void check_known_indices(const Call& call, const Tensor& index, std::int64_t low, std::int64_t high,
                         std::optional<std::int64_t> ignored = {});

// While it lives, the calling thread records positions that are out of range on purpose.
class OutOfRangeOnPurpose {
 public:
  OutOfRangeOnPurpose();
  ~OutOfRangeOnPurpose();
  OutOfRangeOnPurpose(const OutOfRangeOnPurpose&) = delete;
  OutOfRangeOnPurpose& operator=(const OutOfRangeOnPurpose&) = delete;

 private:
  bool around_;
};

// What the options ask to look at while some roots are computed.
class Watch {
 public:
  explicit Watch(std::span<const UOp> roots);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Those, and behind them what is looked at.
  std::span<const UOp> roots() const;
  // What is wrong, from the Buffers of all roots (BoundRun::values); the additional ones are freed.
  std::optional<Error> found(std::span<const UOp> values);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace croze
