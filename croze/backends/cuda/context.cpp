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
    : driver_(driver), ordinal_(ordinal), name_(std::move(name)), loss_(name_) {
  check(driver_.retain_context(&handle_, ordinal_), "opening the device");
}

Context::~Context() { driver_.release_context(ordinal_); }

void Context::enter() const {
  loss_.check_alive();
  driver_.set_context(handle_);
}

bool Context::try_enter() const noexcept {
  return !loss_.is_lost() && driver_.set_context(handle_) == Status::Success;
}

void Context::check(Status status, std::string_view what) {
  if (status == Status::Success) return;
  loss_.fail(fmt::format("{}: {}", what, driver_.text_of(status)), is_final(status));
}

}  // namespace croze::cuda
