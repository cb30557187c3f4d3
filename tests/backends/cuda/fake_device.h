// fake_device.h -- the device CUDA over the fake driver.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "croze/backends/cuda/cuda_device.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/device/queue.h"
#include "croze/render/c_family/cuda.h"
#include "fake_driver.h"
#include "support/programs.h"

namespace croze::test {

// Images as the fake driver reads them.  Kernels whose name begins with "faulty" access what they
// must not, "slow" ones take too long.
inline std::string fake_image(const std::string& name, const std::string& source) {
  const std::string entry = CudaRenderer::entry(name);
  std::size_t at = source.find(entry + "(") + entry.size() + 1;
  const std::size_t end = source.find(") {", at);
  std::string arguments;
  while (at < end) {
    const std::size_t next = std::min(source.find(", ", at), end);
    const std::string parameter = source.substr(at, next - at);
    arguments += parameter.find("tensor_map") != std::string::npos ? 'm'
                 : parameter.find('*') == std::string::npos        ? 'v'
                                                                   : 'p';
    at = next + 2;
  }
  const char* failure = name.starts_with("faulty") ? " 700"
                        : name.starts_with("slow") ? " 702"
                                                   : "";
  return entry + " " + (arguments.empty() ? "-" : arguments) + failure;
}

inline cuda::CudaCompiler fake_compiler(const std::string& architecture) {
  return {.renderer = std::make_shared<CudaRenderer>(),
          .language = {CudaRenderer::ops(), CudaRenderer::dtypes()},
          .version = "a fake for " + architecture,
          .image_of =
              [](const std::string& name, const std::string& source) {
                return KernelImage{fake_image(name, source), ""};
              },
          .group_bytes_of = cuda::group_bytes_of};
}

inline const cuda::Driver& fake_driver() {
  static const std::unique_ptr<cuda::Driver> driver = [] {
    const Options::Scope fake{{Option::CudaLibrary, FAKE_DRIVER}};
    return cuda::Driver::load();
  }();
  return *driver;
}

// Two devices, new in each test.
class FakeCuda : public testing::Test {
 protected:
  const bool is_new_driver = (fake::reset(), true);

  // y = x + x over groups of 4 items; the name says what the fake makes of it.
  static LinearProgram doubling(const std::string& name, std::int64_t size = 16) {
    ProgramBuilder b(name);
    const UOp x = b.param(DType::Int32, size), y = b.param(DType::Int32, size);
    const UOp at = b.special(0, size / 4, LoopKind::Group) * 4 + b.special(0, 4, LoopKind::Item);
    const UOp value = b.load(x, at);
    b.store(y, at, value + value);
    return b.finish();
  }

  std::unique_ptr<Program> loaded(Device& on, const LinearProgram& program) {
    return compile_program(on, program);
  }

  // What was said, of work that fails.
  template <typename Work>
  static std::string message_of(Work work) {
    try {
      work();
    } catch (const Error& e) {
      return e.message();
    }
    return "no error";
  }

  std::unique_ptr<Device> device = cuda::make_device(fake_driver(), 0, fake_compiler);
  std::unique_ptr<Device> second = cuda::make_device(fake_driver(), 1, fake_compiler);
};

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace croze::test
