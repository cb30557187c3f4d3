// cuda_compiler.cpp -- CUDA C by NVRTC, and the form of code.
#include "croze/backends/cuda/cuda_compiler.h"

#include <charconv>
#include <cstring>

#include "croze/backends/cuda/nvrtc_library.h"
#include "croze/base/error.h"
#include "croze/device/sealed.h"
#include "croze/render/c_family/cuda.h"

namespace croze::cuda {
namespace {

constexpr std::string_view mark = "cuda   1";
constexpr std::string_view first_words = "// group memory: ";

}  // namespace

CudaCompiler nvrtc_compiler(const std::string& architecture) {
  const Nvrtc* const nvrtc = Nvrtc::get();
  return {
      .renderer = std::make_shared<CudaRenderer>(),
      .language = {CudaRenderer::ops(), CudaRenderer::dtypes()},
      .version = nvrtc ? nvrtc->version() : "no NVRTC",
      .source_extension = "cu",
      .image_of =
          [=](const std::string& name, const std::string& source) {
            check(nvrtc != nullptr,
                  "kernel {}: CUDA C needs NVRTC, which is not here (CROZE_NVRTC_LIBRARY names it)",
                  name);
            return nvrtc->compile(name, source, architecture);
          },
      .group_bytes_of = group_bytes_of};
}

std::int64_t group_bytes_of(std::string_view source) {
  std::int64_t bytes = -1;
  if (source.starts_with(first_words)) {
    source.remove_prefix(first_words.size());
    std::from_chars(source.data(), source.data() + source.size(), bytes);
  }
  ensure(bytes >= 0, "a kernel in CUDA C does not say how much group memory it takes");
  return bytes;
}

std::string pack(std::int64_t group_bytes, std::string_view image) {
  std::string payload(sizeof group_bytes, '\0');
  std::memcpy(payload.data(), &group_bytes, sizeof group_bytes);
  payload += image;
  return seal(mark, payload);
}

CudaCode unpack(std::string_view code) {
  const std::string_view payload = unseal(mark, code);
  CudaCode result;
  check(payload.size() > sizeof result.group_bytes, "code of kind '{}' is damaged", mark);
  std::memcpy(&result.group_bytes, payload.data(), sizeof result.group_bytes);
  result.image = payload.substr(sizeof result.group_bytes);
  return result;
}

std::vector<Target> cuda_targets() {
  std::vector<Target> targets;
  for (const Architecture& a : known_architectures()) {
    const CudaCompiler compiler = nvrtc_compiler(a.name);
    targets.push_back({.name = a.name,
                       .caps = caps_of(a, compiler.language),
                       .language = compiler.source_extension,
                       .renderer = compiler.renderer,
                       .compile = compiler.image_of});
  }
  return targets;
}

}  // namespace croze::cuda
