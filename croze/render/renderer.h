// renderer.h -- a renderer turns a linear program into source text (or bytes) for a compiler.
// It is a pure function of the program and needs no device.
#pragma once

#include <string>
#include <string_view>

#include "croze/render/program.h"

namespace croze {

class Renderer {
 public:
  virtual ~Renderer() = default;
  virtual std::string_view name() const = 0;  // "llvm", "c", "opencl", "interp"
  virtual std::string render(const LinearProgram& program) const = 0;
  // What it has rendered, for people.  (optional)
  virtual std::string text(const std::string& source) const { return source; }
};

}  // namespace croze
