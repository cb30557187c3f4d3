// loss.h -- whether a device still works for this process.
//
// After some failures a driver answers nothing but errors until the process ends, or nobody knows
// what is done.  Then the device is lost: what is asked of it is refused with the first failure,
// and other devices go on.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "croze/base/error.h"
#include "croze/device/begun_launches.h"

namespace croze {

class Loss {
 public:
  explicit Loss(std::string device) : device_(std::move(device)) {}

  bool is_lost() const { return is_lost_; }
  // Throws Error if the device is lost.
  void check_alive() const;
  // Throws Error, naming the device, after a failure that the device survives, or does not.
  [[noreturn]] void fail(const std::string& failure, bool is_final);

  // Calls it; an error that loses the device is also about what was launched before.
  template <typename Call>
  void named(const BegunLaunches& begun, Call call) {
    check_alive();
    try {
      call();
    } catch (const Error& e) {
      if (!is_lost_ || begun.count() == 0) throw;
      throw Error(begun.text() + ": " + e.message(), e.details());
    }
  }

 private:
  const std::string device_;
  std::atomic<bool> is_lost_ = false;
  mutable std::mutex mutex_;
  std::string by_;
};

}  // namespace croze
