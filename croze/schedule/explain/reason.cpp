// reason.cpp -- reasons in words.
#include "croze/schedule/explain/reason.h"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

#include "croze/schedule/explain/explanation.h"

namespace croze {
namespace {

// In the order of the enumerators.
constexpr std::string_view buffer_causes[] = {"none",
                                              "requested",
                                              "contiguous",
                                              "copied",
                                              "copy_source",
                                              "scatter_target",
                                              "unfused",
                                              "shared_reduction",
                                              "shared_arithmetic",
                                              "large_expression",
                                              "many_reads",
                                              "repeated_reduction",
                                              "nested_reduction",
                                              "several_places",
                                              "second_contraction",
                                              "rows_in_order",
                                              "loop_order",
                                              "few_outer_loops",
                                              "many_ranges",
                                              "many_buffers",
                                              "repeated_operand",
                                              "older_contents",
                                              "own_contents",
                                              "other_device",
                                              "made_again",
                                              "over_budget",
                                              "kept_reduction"};
static_assert(std::size(buffer_causes) == static_cast<std::size_t>(BufferCause::KeptReduction) + 1);

constexpr std::string_view refusal_causes[] = {
    "none",           "contraction",       "in_order",
    "several_makers", "other_device",      "other_loops",
    "circle",         "many_ranges",       "many_buffers",
    "large_nest",     "loops_do_not_nest", "few_outer_loops",
    "many_nests",     "no_gain",           "made_later"};
static_assert(std::size(refusal_causes) == static_cast<std::size_t>(RefusalCause::MadeLater) + 1);

}  // namespace

std::string_view name_of(BufferCause cause) {
  return buffer_causes[static_cast<std::size_t>(cause)];
}

std::string_view name_of(RefusalCause cause) {
  return refusal_causes[static_cast<std::size_t>(cause)];
}

std::string in_words(const BufferReason& r) {
  switch (r.cause) {
    case BufferCause::None: return "";
    case BufferCause::Requested: return "it was asked for";
    case BufferCause::Contiguous: return "contiguous() asked for it";
    case BufferCause::Copied: return "it is a copy from another device";
    case BufferCause::CopySource: return "it is copied to another device";
    case BufferCause::ScatterTarget: return "a scatter writes to it";
    case BufferCause::Unfused: return "CROZE_FUSION=0 stores every value";
    case BufferCause::SharedReduction: return "several kernels want this, which holds a reduction";
    case BufferCause::SharedArithmetic:
      return fmt::format("several kernels want this, and {} operations an element are more than {}",
                         r.count, r.limit);
    case BufferCause::LargeExpression:
      return fmt::format("the expression has grown to {} operations, more than {}", r.count,
                         r.limit);
    case BufferCause::ManyReads:
      return fmt::format("the expression has come to read {} buffers, more than {}", r.count,
                         r.limit);
    case BufferCause::RepeatedReduction:
      return fmt::format("this reduction would be computed {} times", r.count);
    case BufferCause::NestedReduction:
      return "this reduction would be computed in every turn of another one";
    case BufferCause::SeveralPlaces: return "a kernel wants this reduction at two places";
    case BufferCause::SecondContraction:
      return "the kernel has another contraction, and tiles for one";
    case BufferCause::RowsInOrder:
      return "what stores it goes on row by row, and this contraction wants tiles of rows";
    case BufferCause::LoopOrder:
      return "the loops of this reduction cannot stand outside of the others";
    case BufferCause::FewOuterLoops:
      return fmt::format("the loops around this reduction have {} turns, and threads want {}",
                         r.count, r.limit);
    case BufferCause::ManyRanges:
      return fmt::format("its kernel has {} loops, of at most {}", r.count, r.limit);
    case BufferCause::ManyBuffers:
      return fmt::format("its kernel has {} buffers, of at most {}", r.count, r.limit);
    case BufferCause::RepeatedOperand:
      return fmt::format("a reduction would compute its {} operations {} times", r.limit, r.count);
    case BufferCause::OlderContents: return "memory is overwritten whose old contents are wanted";
    case BufferCause::OwnContents: return "it is assigned to memory that it reads elsewhere";
    case BufferCause::OtherDevice: return "it is wanted on another device";
    case BufferCause::MadeAgain: return "it is made again for readers along other axes";
    case BufferCause::OverBudget: return "it is made again, so that less is alive in between";
    case BufferCause::KeptReduction: return "it is kept for a value that is made again";
  }
  return "";
}

std::string in_words(const Refusal& r) {
  switch (r.cause) {
    case RefusalCause::None: return "";
    case RefusalCause::Contraction: return "a contraction has tiles of its own";
    case RefusalCause::InOrder: return "loops must run in order";
    case RefusalCause::SeveralMakers: return "several steps make it";
    case RefusalCause::OtherDevice: return "a copy between devices";
    case RefusalCause::OtherLoops: return "it is not read where it is written";
    case RefusalCause::Circle: return "a third step stands between";
    case RefusalCause::ManyRanges: return fmt::format("{} loops, of at most {}", r.count, r.limit);
    case RefusalCause::ManyBuffers:
      return fmt::format("{} buffers, of at most {}", r.count, r.limit);
    case RefusalCause::LargeNest:
      return fmt::format("{} operations, more than {}", r.count, r.limit);
    case RefusalCause::LoopsDoNotNest: return "the loops do not nest";
    case RefusalCause::FewOuterLoops:
      return fmt::format("{} turns outside, and threads want {}", r.count, r.limit);
    case RefusalCause::ManyNests: return fmt::format("{} nests, of at most {}", r.count, r.limit);
    case RefusalCause::NoGain:
      return r.limit > 0 ? fmt::format("{} cycles saved, and {} without it", r.count, r.limit)
                         : fmt::format("{} cycles saved", r.count);
    case RefusalCause::MadeLater: return "its reader makes values again, later";
  }
  return "";
}

}  // namespace croze
