// inplace_gradients.cpp -- losses, targets, and what their gradients must be.
#include "fuzz/inplace_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "croze/base/error.h"
#include "croze/tensor/elementwise/elementwise.h"

namespace croze::fuzz {
namespace {

constexpr std::size_t most_targets = 3;
constexpr double leaf_squares = 10;  // the sum of the squares of the leaf

// The direction in which a target changes: another number for each element and version.
std::int64_t weight(std::size_t element, int version) {
  return 1 +
         static_cast<std::int64_t>((element * 31 + static_cast<std::size_t>(version) * 17) % 97);
}

void seed(Storage& storage, int version) {
  for (std::size_t i = 0; i < storage.elements.size(); i++) {
    Element& e = storage.elements[i];
    e.slope = weight(i, version);
    e.depends = true;
    e.is_any = false;
  }
}

bool says(const Error& e, std::string_view text) {
  return e.message().find(text) != std::string::npos;
}

}  // namespace

void Gradients::follow(int step, const Tensor& made, const Places& places) {
  last_step_ = step;
  for (Target& t : targets_) {
    if (!places.has(t.step) || places.at(t.step).storage->writes == t.writes) continue;
    t.writes = places.at(t.step).storage->writes;
    t.versions.push_back(step);
  }
  if (!places.has(step)) return;
  const Place& place = places.at(step);
  const StepKind& kind = kind_of(program_[static_cast<std::size_t>(step)]);
  if (kind.result == StepKind::Result::Distinct && place.dtype == DType::Float32 &&
      place.shape.numel() > 0 && targets_.size() < most_targets) {
    targets_.push_back({step, place.storage->writes, {step}, kind.operands == 0});
  }
  if (step % 4 == 0) add_loss(step, made, place);
}

void Gradients::add_loss(int step, const Tensor& x, const Place& place) {
  const Tensor sum = x.cast(DType::Float64).sum();
  losses_.push_back({step, (square(leaf_) * sum).sum(), 0});
  for (float v : place.floats()) losses_.back().sum += static_cast<double>(v);
  if (step % 8 == 0) losses_.back().tensor.realize();
}

std::string Gradients::wrong(std::span<const Tensor> tensors, const Places& places) const {
  for (const Loss& l : losses_) {
    const std::string text = wrong_by_leaf(l);
    if (!text.empty()) return text;
  }
  for (const Target& t : targets_) {
    if (!places.has(t.step) || t.may_look_like_others()) continue;
    const std::string text = wrong_by(t, tensors[static_cast<std::size_t>(t.step)]);
    if (!text.empty()) return text;
  }
  return {};
}

std::string Gradients::wrong_by_leaf(const Loss& loss) const {
  try {
    const auto gradient = loss.tensor.gradient({leaf_})[0].to_vector<double>();
    const std::vector<double> expected{2 * loss.sum, 6 * loss.sum};
    if (gradient == expected || (std::isnan(loss.sum) && std::isnan(gradient[0]))) return {};
    return fmt::format("gradient of loss {}: {} instead of {}", loss.step, fmt::join(gradient, " "),
                       fmt::join(expected, " "));
  } catch (const Error& e) {
    if (last_step_ > loss.step && says(e, "before it was assigned to")) return {};
    throw;
  }
}

std::string Gradients::wrong_by(const Target& target, const Tensor& tensor) const {
  const std::vector<Slope> now = slopes(target, true), before = slopes(target, false);
  for (std::size_t i = 0; i < losses_.size(); i++) {
    if (now[i].is_any || before[i].is_any) continue;
    const std::string text = wrong_by(losses_[i], target, tensor, now[i], before[i]);
    if (!text.empty()) return text;
  }
  return {};
}

std::string Gradients::wrong_by(const Loss& loss, const Target& target, const Tensor& tensor,
                                const Slope& now, const Slope& before) const {
  const std::string name = fmt::format("gradient of loss {} by t{}", loss.step, target.step);
  const double expected = leaf_squares * now.slope;
  try {
    const auto gradient = loss.tensor.gradient({tensor})[0].to_vector<double>();
    double got = 0;
    for (std::size_t i = 0; i < gradient.size(); i++) {
      got += gradient[i] * static_cast<double>(weight(i, target.versions.back()));
    }
    if (std::abs(got - expected) > 1e-5 * std::abs(expected)) {
      return fmt::format("{}: {}, which is {} in the direction instead of {}", name,
                         fmt::join(gradient, " "), got, expected);
    }
    if (before.slope == 0 || now.depends) return {};
    return fmt::format("{}: {}, though it was computed from what this held before", name,
                       fmt::join(gradient, " "));
  } catch (const Error& e) {
    if (says(e, "before it was assigned to")) return {};
    if (!says(e, "was assigned to")) throw;
    if (before.depends && now.slope == 0) return {};
    return fmt::format("{}: refused instead of {} in the direction: {}", name, expected,
                       e.message());
  }
}

std::vector<Gradients::Slope> Gradients::slopes(const Target& target, bool is_present) const {
  Places places;
  std::vector<Slope> result;
  const int last = target.versions.back();
  for (int i = 0; i < std::ssize(program_); i++) {
    if (!places.take(program_[static_cast<std::size_t>(i)])) continue;
    const bool is_version = std::ranges::find(target.versions, i) != target.versions.end();
    if (is_version && (i == last) == is_present) seed(*places.at(target.step).storage, i);
    const bool is_loss = std::ranges::find(losses_, i, &Loss::step) != losses_.end();
    if (!is_loss) continue;
    Slope& s = result.emplace_back();
    for (const Element& e : places.at(i).elements()) {
      s.slope += static_cast<double>(e.slope);
      s.depends = s.depends || e.depends;
      s.is_any = s.is_any || e.is_any;
    }
  }
  return result;
}

}  // namespace croze::fuzz
