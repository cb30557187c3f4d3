// inplace_gradients.h -- gradients through programs of views and assignments.
//
// Losses are computed from tensors of a program and a leaf beside it, some at once and some when
// the program has ended.  Then gradients are asked for: by the leaf, and by tensors of the program
// as they are at the end.  What they must be is worked out by the direct evaluator, which carries a
// derivative with each number.  A tensor is one more target each time it is assigned to; so a loss
// that knows only what a target held before must refuse, and one that does not need what is gone
// must not.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fuzz/inplace.h"
#include "fuzz/places.h"

namespace croze::fuzz {

class Gradients {
 public:
  explicit Gradients(const InplaceProgram& program) : program_(program) {}

  // To be told of every step that has been done in `places`, with what it made.
  void follow(int step, const Tensor& made, const Places& places);
  // What is wrong with the gradients of the losses, or nothing.
  std::string wrong(std::span<const Tensor> tensors, const Places& places) const;

 private:
  struct Loss {
    int step;
    Tensor tensor;
    double sum;  // of the numbers that it was computed from
  };
  struct Target {
    int step;                   // that made it
    int writes;                 // to its storage, as far as known
    std::vector<int> versions;  // the steps that gave it contents
    bool is_leaf;

    // What is not in memory when it is assigned to takes the node of the value, which looks like
    // what else was recorded of this value.
    bool may_look_like_others() const { return !is_leaf && versions.size() > 1; }
  };
  // How the sum below a loss changes with the contents of a target.
  struct Slope {
    double slope = 0;
    bool depends = false, is_any = false;
  };

  void add_loss(int step, const Tensor& x, const Place& place);
  std::string wrong_by_leaf(const Loss& loss) const;
  std::string wrong_by(const Target& target, const Tensor& tensor) const;
  std::string wrong_by(const Loss& loss, const Target& target, const Tensor& tensor,
                       const Slope& now, const Slope& before) const;
  std::vector<Slope> slopes(const Target& target, bool is_present) const;

  const InplaceProgram& program_;
  Tensor leaf_ = Tensor::from_data({1., 3.}, {2}, {.dtype = std::nullopt, .device = "INTERP"});
  std::vector<Loss> losses_;
  std::vector<Target> targets_;
  int last_step_ = 0;
};

}  // namespace croze::fuzz
