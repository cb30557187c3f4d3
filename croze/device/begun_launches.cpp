#include "croze/device/begun_launches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace croze {

void BegunLaunches::note(std::string_view kernel) {
  kernels_.push_back(fmt::format("kernel {}", kernel));
  if (kernels_.size() > most_named) kernels_.erase(kernels_.begin());
  count_++;
}

void BegunLaunches::add(const BegunLaunches& others) {
  kernels_.insert(kernels_.end(), others.kernels_.begin(), others.kernels_.end());
  if (kernels_.size() > most_named) kernels_.erase(kernels_.begin(), kernels_.end() - most_named);
  count_ += others.count_;
}

void BegunLaunches::forget() {
  kernels_.clear();
  count_ = 0;
}

std::string BegunLaunches::text() const {
  if (kernels_.size() == 1) return kernels_[0];
  const std::string names = fmt::format("{}", fmt::join(kernels_, ", "));
  return count_ == kernels_.size()
             ? fmt::format("one of {}", names)
             : fmt::format("one of {} launches, the last of them {}", count_, names);
}

}  // namespace croze
