// donations.h -- internal to jit/: inputs of a captured step whose memory it may overwrite.
//
// A result that is computed into the memory of an input is an assignment to that input, so the
// scheduler knows how to do it and what has to be read before.  It is worth it only where nothing
// has to be kept aside for it, which the schedule tells.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/graph/uop.h"
#include "croze/jit/signature.h"
#include "croze/run/statistics.h"
#include "croze/tensor/tensor.h"

namespace croze {

class Donations {
 public:
  // All tensors at a place ("input 0") and within it.
  void add(std::string_view place);

  // Whether each of the tensors is donated.  Throws Error if a place has none.
  std::vector<bool> among(const Signature& signature) const;

 private:
  std::vector<std::string> places_;
};

// The donated ones among the inputs of a call.
class DonatedInputs {
 public:
  // Throws Error, naming the place, if other tensors look at the memory of one.
  DonatedInputs(std::span<const Tensor> inputs, std::vector<bool> donated,
                const Signature& signature);

  bool contains(std::size_t input) const { return donated_[input]; }
  // Throws Error if one of the roots reads one of them.
  void check_unread(std::span<const UOp> roots, const Signature& signature) const;

  // Memory with the value of the input that nothing else sees: its own, or a copy where that is
  // none or the user's.
  const Tensor& memory(std::size_t input);
  // Ends the values of all, for a call that has overwritten some: the Buffers of what these hold
  // then, by input.
  std::vector<UOp> end(const std::vector<bool>& overwritten);

 private:
  std::span<const Tensor> inputs_;
  std::vector<bool> donated_;
  std::vector<Tensor> memory_;
};

// Which results take the memory of an input.
class MemoryTaken {
 public:
  MemoryTaken() = default;

  // What was recorded: the results as the function returned them, and as values of their own; what
  // stands for the inputs, and which of them are donated; what else is assigned to.
  struct Recorded {
    std::span<const Tensor> returned, results, inputs;
    const std::vector<bool>& donated;
    std::span<const Tensor> assigned;
  };
  explicit MemoryTaken(const Recorded& recorded);

  // The input whose memory a result takes, or -1.
  int input_of(std::size_t result) const { return results_[result].input; }
  bool is_taken(std::size_t input) const;

  // What the step computes: the results, some of them as memory after a store, and what is
  // assigned.
  std::vector<UOp> roots() const;
  // These, in whatever graph they were copied to, if no result took memory.
  std::vector<UOp> without(std::span<const UOp> roots) const;
  // Ends what is known of the tensor graph.
  void forget_nodes();

 private:
  struct Result {
    UOp value;
    Shape shape;
    int input = -1;
    UOp memory = {};         // of that input
    bool is_stored = false;  // the value there; else the function itself has left it there
  };
  struct Pair {
    std::size_t result;
    int input;
    UOp memory;
    bool is_stored;
  };

  std::vector<Pair> pairs_of(const Recorded& recorded) const;
  std::vector<std::pair<UOp, UOp>> stored() const;
  static bool is_left_there(const Result& r) { return r.input >= 0 && !r.is_stored; }
  void take(std::span<const Pair> pairs, RunCost& least);

  std::vector<Result> results_;
  std::vector<UOp> assigned_;
};

// Roots, and all stores below them, which are performed with them.
std::vector<UOp> with_stores(std::vector<UOp> roots);

}  // namespace croze
