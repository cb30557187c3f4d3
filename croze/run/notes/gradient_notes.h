// gradient_notes.h -- internal to run/: which call each part of a gradient is the gradient of.
//
// Seen from the program, the whole of a gradient is recorded by one call.  Whoever looks at its
// kernels wants to know the other one: the convolution that this is the gradient of.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "croze/graph/observer.h"

namespace croze {

// While it lives, gradients that this thread takes are written down; note() makes notes of them.
// Where nobody traces it does nothing: errors name the call that asked for the gradient.
class GradientNotes : public CompileObserver {
 public:
  GradientNotes();

  void differentiated(UOp node, UOp partial) override { seen_.emplace_back(node, partial); }
  // The roots are what the gradients were taken of.
  void note(std::span<const UOp> roots) const;

 private:
  std::vector<std::pair<UOp, UOp>> seen_;
  std::optional<Observing> watching_;
};

}  // namespace croze
