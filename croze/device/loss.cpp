#include "croze/device/loss.h"

namespace croze {

void Loss::check_alive() const {
  if (!is_lost_) return;
  const std::lock_guard lock(mutex_);
  croze::fail({.devices = {device_}}, "{} is lost to this process: {}", device_, by_);
}

void Loss::fail(const std::string& failure, bool is_final) {
  if (is_final) {
    const std::lock_guard lock(mutex_);
    if (!is_lost_) by_ = failure;
    is_lost_ = true;
  }
  croze::fail({.devices = {device_}}, "{}: {}", device_, failure);
}

}  // namespace croze
