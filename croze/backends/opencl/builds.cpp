#include "croze/backends/opencl/builds.h"

#include <fmt/format.h>

#include "croze/base/error.h"
#include "croze/render/c_family/opencl.h"

namespace croze::opencl {
namespace {

cl_int build(const Context& context, const BuiltProgram& program, TextForm form) {
  std::string options = "-cl-std=CL1.2";
  const auto single =
      context.cl.device_info<cl_device_fp_config>(context.device, CL_DEVICE_SINGLE_FP_CONFIG);
  if (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) {
    options += " -cl-fp32-correctly-rounded-divide-sqrt";
  }
  if (form == TextForm::Plain) options += fmt::format(" {}", OpenClRenderer::plain_option);
  return context.cl.build_program(program.get(), 1, &context.device, options.c_str(), nullptr,
                                  nullptr);
}

std::string build_log(const Context& context, const BuiltProgram& program) {
  std::size_t size = 0;
  context.cl.get_program_build_info(program.get(), context.device, CL_PROGRAM_BUILD_LOG, 0, nullptr,
                                    &size);
  std::string log(size, '\0');
  context.cl.get_program_build_info(program.get(), context.device, CL_PROGRAM_BUILD_LOG, size,
                                    log.data(), nullptr);
  return log;
}

}  // namespace

BuiltProgram built_of_text(const Context& context, std::string_view kernel,
                           const std::string& source, TextForm form) {
  context.loss.check_alive();
  const char* text = source.c_str();
  cl_int status = CL_SUCCESS;
  BuiltProgram made(context.cl, context.cl.create_program_with_source(context.handle, 1, &text,
                                                                      nullptr, &status));
  context.check(status, fmt::format("kernel {}", kernel));
  status = build(context, made, form);
  ensure(status == CL_SUCCESS, "{}: kernel {}: the OpenCL compiler failed:\n{}", context.name,
         kernel, build_log(context, made));
  return made;
}

BuiltProgram built_of_code(const Context& context, std::string_view kernel, std::string_view code) {
  context.loss.check_alive();
  const auto* bytes = reinterpret_cast<const unsigned char*>(code.data());
  const std::size_t size = code.size();
  cl_int status = CL_SUCCESS, binary_status = CL_SUCCESS;
  BuiltProgram made(context.cl,
                    context.cl.create_program_with_binary(context.handle, 1, &context.device, &size,
                                                          &bytes, &binary_status, &status));
  context.check(status, fmt::format("loading kernel {}", kernel));
  context.check(build(context, made, TextForm::AsItStands),
                fmt::format("loading kernel {}", kernel));
  return made;
}

std::string code_of(const Context& context, const BuiltProgram& built) {
  std::size_t size = 0;
  context.check(context.cl.get_program_info(built.get(), CL_PROGRAM_BINARY_SIZES, sizeof(size),
                                            &size, nullptr),
                "size of a binary");
  std::string binary(size, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(binary.data());
  context.check(
      context.cl.get_program_info(built.get(), CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, nullptr),
      "reading a binary");
  return binary;
}

}  // namespace croze::opencl
