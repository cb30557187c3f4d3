// nvrtc_library.h -- NVRTC, NVIDIA's compiler of CUDA C as a library, found at run time.  It needs
// no GPU.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "croze/device/target.h"

namespace croze::cuda {

class Nvrtc {
 public:
  // The library that CROZE_NVRTC_LIBRARY names, or that of version 13 or 12; loaded when it is
  // first asked for.  Null if it is not there.
  static const Nvrtc* get();

  // "NVRTC 13.0": its code depends on it.
  const std::string& version() const { return version_; }

  // Code for the architecture, "sm_90a", of a source of several kernels or one, and what the
  // compiler says of them.  `name` is for messages.  Throws InternalError with the compiler's
  // message.
  KernelImage compile(const std::string& name, const std::string& source,
                      const std::string& architecture) const;

 private:
  struct Functions;
  class Compilation;

  explicit Nvrtc(std::unique_ptr<Functions> functions);

  std::unique_ptr<Functions> functions_;
  std::string version_;
};

}  // namespace croze::cuda
