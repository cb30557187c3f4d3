// watch.h -- internal to tensor/ and jit/: what CROZE_CHECK_INDICES and CROZE_CHECK_NAN look at
// while tensors are computed.
//
// What is computed is a graph, and nodes know nothing of the calls that recorded them.  So when one
// of the two is set, a table beside the graph notes for each result of a function which call of the
// user's made it.  When neither is, every function here is one branch.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/uop.h"
#include "croze/tensor/tensor.h"

namespace croze {

class Call;

// Whether one of the two options is set.
bool is_watching();

// The user's call at work gives this node.  Under the lock of the tensor graph, as all below.
void note_call(UOp node);
// The node is a Gather or Scatter by positions of the user's; negative ones have been counted from
// the end or not.
enum class Negative { Refused, FromTheEnd };
void note_indices(UOp node, Negative negative);
// `after` is the graph `before` with some nodes replaced: it was recorded by the same calls.
void carry_notes(UOp before, UOp after);

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
