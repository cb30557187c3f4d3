// places.h -- a program of views and assignments in the direct evaluator.
#pragma once

#include <vector>

#include "fuzz/inplace.h"
#include "fuzz/inplace_steps.h"
#include "fuzz/place.h"

namespace croze::fuzz {

inline const StepKind& kind_of(const InplaceStep& step) {
  return inplace_steps()[static_cast<std::size_t>(step.kind)];
}

// The places of the tensors that the steps made, by step.
class Places {
 public:
  // Does the step; false if it does nothing.
  bool take(const InplaceStep& step);
  void take_back() { places_.pop_back(); }

  bool has(int i) const { return i >= 0 && i < std::ssize(places_) && at(i).storage != nullptr; }
  const Place& at(int i) const { return places_[static_cast<std::size_t>(i)]; }
  std::vector<int> present() const;

 private:
  std::vector<Place> places_;
};

}  // namespace croze::fuzz
