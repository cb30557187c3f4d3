// context.h -- one device of CUDA as this process sees it, and whether it still works.
#pragma once

#include <string>
#include <string_view>

#include "croze/backends/cuda/driver_library.h"
#include "croze/device/loss.h"

namespace croze::cuda {

// After some failures (an access outside of memory, a kernel over its time) the driver answers
// every call with the same error until the process ends: then the device is lost.
class Context {
 public:
  // Throws Error if the driver does not open the device.
  Context(const Driver& driver, Ordinal ordinal, std::string name);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  const std::string& name() const { return name_; }
  ContextHandle handle() const { return handle_; }

  // Makes it that of the calling thread.  Throws Error if the device is lost.
  void enter() const;
  // The same where nothing may be thrown; false if the device is lost.
  bool try_enter() const noexcept;

  // Throws Error, naming the device and what was tried, unless the call was a success.
  void check(Status status, std::string_view what);

  Loss& loss() { return loss_; }

 private:
  const Driver& driver_;
  const Ordinal ordinal_;
  const std::string name_;
  ContextHandle handle_ = nullptr;

  Loss loss_;
};

}  // namespace croze::cuda
