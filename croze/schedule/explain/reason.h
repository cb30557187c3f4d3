// reason.h -- why values of a schedule have buffers.
//
// The steps of scheduling that decide it write the cause down, with the numbers that they decided
// by, and the buffer of the schedule keeps it.  explanation.h makes sentences of it.
#pragma once

#include <cstdint>

namespace croze {

// Why a value is not computed where it is used.
enum class BufferCause : std::uint8_t {
  None,               // memory that came in
  Requested,          // it is a root: a result
  Contiguous,         // contiguous() asked for it
  Copied,             // it is a copy on another device
  CopySource,         // it is copied to another device
  ScatterTarget,      // a scatter writes to it
  Unfused,            // CROZE_FUSION=0
  SharedReduction,    // several kernels want it, and it holds a reduction
  SharedArithmetic,   // several kernels want it: count = arithmetic for an element, > limit
  LargeExpression,    // count = arithmetic of the expression, > limit
  ManyReads,          // count = buffers that the expression reads, > limit
  RepeatedReduction,  // a reduction of which each element would be computed count times
  NestedReduction,    // a reduction whose place is a loop of another one
  SeveralPlaces,      // a reduction that one kernel wants at two places
  SecondContraction,  // a contraction in the kernel of another: one has the tiles
  RowsInOrder,        // a contraction whose results are stored one row after the other
  LoopOrder,          // a reduction whose loops cannot stand outside of the others
  FewOuterLoops,      // the same, and would leave count iterations for threads that want limit
  ManyRanges,         // of one kernel: count, of at most limit
  ManyBuffers,        // of one kernel: count, of at most limit
  RepeatedOperand,    // arithmetic limit for an element, which would be computed count times
  OlderContents,      // memory is overwritten while what stood there is still wanted
  OwnContents,        // assigned to memory that it reads at other places
  OtherDevice,        // it belongs to no device and is wanted on another
  MadeAgain,          // made once more, for readers along other axes
  OverBudget,         // made once more, so that less memory is needed in between
  KeptReduction,      // what the value that is made again would have to reduce again
};

struct BufferReason {
  BufferCause cause = BufferCause::None;
  std::int64_t count = 0, limit = 0;

  explicit operator bool() const { return cause != BufferCause::None; }
};

// Why the step that makes a value and one that reads it did not become one: one loop nest, or two
// nests that run block by block.
enum class RefusalCause : std::uint8_t {
  None,           // nobody tried
  Contraction,    // a contraction has tiles of its own
  InOrder,        // a loop must run in order, or memory is overwritten
  SeveralMakers,  // several steps make the value
  OtherDevice,
  OtherLoops,      // it is not read at the position at which it is written
  Circle,          // the one waits for the other through a third
  ManyRanges,      // of one nest: count, of at most limit
  ManyBuffers,     // of one nest: count, of at most limit
  LargeNest,       // count = arithmetic of one nest, > limit
  LoopsDoNotNest,  // some values want loops that others do not
  FewOuterLoops,   // count iterations for threads that want limit
  ManyNests,       // of one sequence: count, of at most limit
  NoGain,          // count = cycles gained by blocks, limit = by the parts without
  MadeLater,       // what reads it there makes values once more, late
};

struct Refusal {
  RefusalCause cause = RefusalCause::None;
  std::int64_t count = 0, limit = 0;

  explicit operator bool() const { return cause != RefusalCause::None; }
};

}  // namespace croze
