// timeline.cpp -- one number under a mutex.
#include "croze/device/timeline.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "croze/base/error.h"

namespace croze {

struct Timeline::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t value = 0;
  std::exception_ptr failure;
};

Timeline::Timeline() : state_(std::make_shared<State>()) {}

std::uint64_t Timeline::value() const {
  const std::lock_guard lock(state_->mutex);
  return state_->value;
}

void Timeline::signal(std::uint64_t value) const {
  {
    const std::lock_guard lock(state_->mutex);
    check(value > state_->value, "a timeline is to reach {}, but it is at {} already", value,
          state_->value);
    if (state_->failure) return;
    state_->value = value;
  }
  state_->changed.notify_all();
}

void Timeline::wait(std::uint64_t value) const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->value >= value || state_->failure; });
  if (state_->value < value) std::rethrow_exception(state_->failure);
}

void Timeline::fail(std::exception_ptr failure) const {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->failure) state_->failure = std::move(failure);
  }
  state_->changed.notify_all();
}

}  // namespace croze
