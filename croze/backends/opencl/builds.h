// builds.h -- internal to backends/opencl/: programs of OpenCL, from text and from code.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "croze/backends/opencl/context.h"

namespace croze::opencl {

// A program that is released by whoever has it last.
class BuiltProgram {
 public:
  BuiltProgram() = default;
  BuiltProgram(const OpenClLibrary& cl, cl_program program) : cl_(&cl), program_(program) {}
  BuiltProgram(BuiltProgram&& other) noexcept
      : cl_(other.cl_), program_(std::exchange(other.program_, nullptr)) {}
  BuiltProgram& operator=(BuiltProgram&& other) noexcept {
    std::swap(cl_, other.cl_);
    std::swap(program_, other.program_);
    return *this;
  }
  ~BuiltProgram() {
    if (program_) cl_->release_program(program_);
  }

  cl_program get() const { return program_; }
  explicit operator bool() const { return program_ != nullptr; }

 private:
  const OpenClLibrary* cl_ = nullptr;
  cl_program program_ = nullptr;
};

// Which of two forms a text is compiled to: see OpenClRenderer::plain_option.
enum class TextForm { AsItStands, Plain };

// Throws InternalError with what the compiler said if it refuses the text.
BuiltProgram built_of_text(const Context& context, std::string_view kernel,
                           const std::string& source, TextForm form = TextForm::AsItStands);
BuiltProgram built_of_code(const Context& context, std::string_view kernel, std::string_view code);
// What the second one takes.
std::string code_of(const Context& context, const BuiltProgram& built);

}  // namespace croze::opencl
