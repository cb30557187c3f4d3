// target.h -- a machine to compile for, which need not be here.
//
// What the compiler asks of a device is data (caps.h), renderers are functions, and compilers of
// kernels know processors that are not there.  So kernels can be scheduled, chosen, written and
// compiled for one without opening it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "croze/device/caps.h"

namespace croze {

class Renderer;

// What a compiler has made of a kernel.
struct KernelImage {
  std::string bytes;  // loadable code
  std::string notes;  // what the compiler tells of it: registers, spills
};

struct Target {
  std::string name;      // of its processor: "sm_90a"
  Caps caps;             // of such a device
  std::string language;  // of the sources, as the end of a file's name: "cu"
  std::shared_ptr<const Renderer> renderer;
  // Throws Error if the compiler is not here, InternalError with its message if it refuses the
  // kernel.
  std::function<KernelImage(const std::string& name, const std::string& source)> compile;
};

}  // namespace croze
