// changing_numbers.cpp -- what is remembered of the numbers of each form.
//
// Numbers that had equal values in every graph of a form so far are one group and are passed as
// one: a learning rate stands in the update of each parameter.  When two of them differ for the
// first time, the group is divided.  So a form is planned anew once for each such discovery, of
// which there are few, and for values that are folded (FormNumber::is_folded).
#include "croze/run/changing_numbers.h"

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "croze/base/options.h"
#include "croze/base/shared_cache.h"

namespace croze {
namespace {

// More take up the parameters that a device has room for.
constexpr int most_passed = 32;
// Of all histories together.
constexpr std::int64_t most_bytes = 16 << 20;

class History {
 public:
  explicit History(std::vector<FormNumber> numbers)
      : first_(std::move(numbers)), groups_(first_.size(), constant) {}

  // The group of each number, `constant` for those that never changed; after these numbers.
  std::vector<int> learn(const std::vector<FormNumber>& numbers) const {
    const std::lock_guard lock(mutex_);
    return groups_ = groups_after(numbers);
  }

  // The groups if they are the same after these numbers.
  std::optional<std::vector<int>> known(const std::vector<FormNumber>& numbers) const {
    const std::lock_guard lock(mutex_);
    if (groups_after(numbers) != groups_) return std::nullopt;
    return groups_;
  }

  static constexpr int constant = -1;

 private:
  // Groups are numbered by their first member, so equal divisions are equal lists.
  std::vector<int> groups_after(const std::vector<FormNumber>& numbers) const {
    std::vector<int> result(groups_.size(), constant);
    std::map<std::tuple<int, DType, std::int64_t, std::int64_t>, int> found;
    for (std::size_t i = 0; i < numbers.size(); i++) {
      const bool was_constant = groups_[i] == constant;
      if (was_constant && numbers[i].bits == first_[i].bits) continue;
      const std::int64_t before = was_constant ? first_[i].bits : 0;
      const auto next = static_cast<int>(found.size());
      const std::tuple key(groups_[i], numbers[i].dtype, before, numbers[i].bits);
      result[i] = found.emplace(key, next).first->second;
    }
    return result;
  }

  const std::vector<FormNumber> first_;
  mutable std::mutex mutex_;
  mutable std::vector<int> groups_;
};

// Process-wide: named in docs/architecture.md as global state.  By form, weighed in bytes.
SharedCache<History>& histories() {
  // Never destroyed: at the end of the process, other threads may still use it.
  static SharedCache<History>& instance =
      *new SharedCache<History>({.values = 4096, .weight = most_bytes});
  return instance;
}

std::int64_t weight_of(const std::string& key, std::int64_t numbers) {
  return std::ssize(key) + numbers * std::int64_t{sizeof(FormNumber)};
}

PassedNumbers none_passed(const GraphForm& form) {
  return {std::vector<int>(form.numbers.size(), -1), {}};
}

PassedNumbers passed_of(const GraphForm& form, const std::vector<int>& groups) {
  PassedNumbers result = none_passed(form);
  std::map<int, int> place;  // of a group among what is passed
  for (std::size_t i = 0; i < groups.size(); i++) {
    if (groups[i] == History::constant || form.numbers[i].is_folded) continue;
    const auto [it, is_new] = place.emplace(groups[i], static_cast<int>(place.size()));
    result.passed[i] = it->second;
    if (is_new) append_words(form.numbers[i], result.variables);
  }
  return std::ssize(place) <= most_passed ? result : none_passed(form);
}

// Fast maths computes with constants what a number that is passed would have to be computed with at
// each launch, and with other rounding.
bool are_constants() { return Options::flag(Option::FastMath); }

void append(std::string& key, std::int64_t value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

bool is_remembered(const CanonicalGraph& graph) {
  const auto nodes =
      static_cast<std::int64_t>(graph.graph->size());  // about as many numbers, at most
  return !are_constants() && weight_of(graph.key, nodes) <= most_bytes;
}

PassedNumbers numbers_to_pass(const GraphForm& form) {
  const auto history = histories().get(form.key, [&](std::int64_t& weight) {
    weight = weight_of(form.key, std::ssize(form.numbers));
    return std::make_shared<const History>(form.numbers);
  });
  return passed_of(form, history->learn(form.numbers));
}

std::optional<PassedNumbers> known_numbers_to_pass(const GraphForm& form) {
  const auto history = histories().find(form.key);
  if (!history) return std::nullopt;
  const auto groups = history->known(form.numbers);
  return groups ? std::optional(passed_of(form, *groups)) : std::nullopt;
}

std::string key_of(const GraphForm& form, const PassedNumbers& numbers) {
  std::string key = form.key;
  for (std::size_t i = 0; i < numbers.passed.size(); i++) {
    append(key, numbers.passed[i]);
    if (numbers.passed[i] < 0) append(key, form.numbers[i].bits);
  }
  return key;
}

void forget_changing_numbers() { histories().clear(); }

}  // namespace croze
