// numbers.h -- the numbers of a tensor graph, told apart from its form.
//
// `x * 0.1` and `x * 0.2` are two graphs of one form.  A number that was seen to change is better
// passed to the kernels at each launch than compiled into them (run/changing_numbers.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/schedule/schedule.h"

namespace croze {

// A number where one node uses it.
struct FormNumber {
  DType dtype = DType::Void;
  std::int64_t bits = 0;  // as a Const carries them
  // Whether arithmetic is left out because of its value, so that what stands around it could be
  // rounded once less: x * 1 is x.  Such a number stays a constant.
  bool is_folded = false;

  bool operator==(const FormNumber&) const = default;
};

// A canonical graph in which Variables stand for its numbers: `graph.number(dtype, i)` for
// `numbers[i]`.  Each use is a number of its own, so that two numbers which happen to be equal make
// no other form.  What follows from numbers alone has been computed, as a kernel would fold it.
//
// These stay constants of the form: numbers that positions, masks and indices are made of, because
// much follows from their values, and operands of what a kernel might fold with another result than
// it computes.
struct GraphForm {
  std::unique_ptr<Graph> graph;
  std::vector<UOp> roots;
  std::vector<FormNumber> numbers;
  std::string key;  // equal for equal forms
};
GraphForm form_of(const CanonicalGraph& graph);

// The graph of a form to schedule: number i is passed as number `passed[i]`, or is the constant it
// was if that is negative.  `inputs` are those of the graph that the form was made of.
CanonicalGraph with_numbers_passed(const GraphForm& form, std::span<const int> passed,
                                   std::span<const UOp> inputs);

// How numbers reach a kernel: as integers of 32 bits, two for each.  Variable 2i and 2i + 1 of a
// schedule are the low and the high word of number i; the high one is 0 if the dtype has one word.
void append_words(const FormNumber& number, std::vector<std::int64_t>& variables);
// Number `slot` of a schedule, of any dtype but Index, made of its words in a kernel.
UOp number_of_words(Graph& graph, DType dtype, std::int64_t slot);

}  // namespace croze
