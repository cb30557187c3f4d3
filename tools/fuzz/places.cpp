// places.cpp -- steps in the direct evaluator.
#include "fuzz/places.h"

#include <optional>

namespace croze::fuzz {

bool Places::take(const InplaceStep& step) {
  places_.emplace_back();
  if (step.kind < 0) return false;
  const StepKind& kind = kind_of(step);
  if ((kind.operands > 0 && !has(step.x)) || (kind.operands > 1 && !has(step.y))) return false;
  // Copies: the step may change what they stand for.
  const Place x = kind.operands > 0 ? at(step.x) : Place{};
  const Place y = kind.operands > 1 ? at(step.y) : Place{};
  const std::optional<Place> result = kind.model(x, y, step.arg);
  if (!result) return false;
  (kind.makes() ? places_.back() : places_[static_cast<std::size_t>(step.x)]) = *result;
  return true;
}

std::vector<int> Places::present() const {
  std::vector<int> result;
  for (int i = 0; i < std::ssize(places_); i++) {
    if (has(i)) result.push_back(i);
  }
  return result;
}

}  // namespace croze::fuzz
