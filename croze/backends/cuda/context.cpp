#include "croze/backends/cuda/context.h"

#include <fmt/format.h>

#include <utility>

#include "croze/base/error.h"

namespace croze::cuda {
namespace {

// Whether the driver says the same to every call from now on.
bool is_final(Status status) {
  switch (status) {
    case Status::Deinitialized:
    case Status::EccUncorrectable:
    case Status::NvlinkUncorrectable:
    case Status::IllegalAddress:
    case Status::LaunchTimeout:
    case Status::HardwareStackError:
    case Status::IllegalInstruction:
    case Status::MisalignedAddress:
    case Status::InvalidAddressSpace:
    case Status::InvalidPc:
    case Status::LaunchFailed:
    case Status::Unknown: return true;
    default: return false;
  }
}

}  // namespace

Context::Context(const Driver& driver, Ordinal ordinal, std::string name)
    : driver_(driver), ordinal_(ordinal), name_(std::move(name)) {
  check(driver_.retain_context(&handle_, ordinal_), "opening the device");
}

Context::~Context() { driver_.release_context(ordinal_); }

void Context::enter() const {
  if (is_lost_) {
    const std::lock_guard lock(mutex_);
    fail({.devices = {name_}}, "{} is lost to this process: {}", name_, lost_by_);
  }
  driver_.set_context(handle_);
}

bool Context::try_enter() const noexcept {
  return !is_lost_ && driver_.set_context(handle_) == Status::Success;
}

void Context::check(Status status, std::string_view what) {
  if (status == Status::Success) return;
  const std::string failure = fmt::format("{}: {}", what, driver_.text_of(status));
  if (is_final(status)) {
    const std::lock_guard lock(mutex_);
    if (!is_lost_) lost_by_ = failure;
    is_lost_ = true;
  }
  fail({.devices = {name_}}, "{}: {}", name_, failure);
}

}  // namespace croze::cuda
