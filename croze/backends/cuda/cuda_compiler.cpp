// cuda_compiler.cpp -- CUDA C by NVRTC, PTX by the driver, and the form of code.
#include "croze/backends/cuda/cuda_compiler.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "croze/backends/cuda/nvrtc_library.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/device/sealed.h"
#include "croze/render/c_family/cuda.h"
#include "croze/render/ptx/ptx.h"

namespace croze::cuda {
namespace {

constexpr std::string_view mark = "cuda   1";
constexpr std::string_view first_words = "// group memory: ";

// The library is loaded when the first kernel is compiled.
KernelImage compile_by_nvrtc(const std::string& name, const std::string& source,
                             const std::string& architecture) {
  const Nvrtc* const nvrtc = Nvrtc::get();
  check(nvrtc != nullptr,
        "kernel {}: CUDA C needs NVRTC, which is not here (CROZE_NVRTC_LIBRARY names it)", name);
  return nvrtc->compile(name, source, architecture);
}

// A text for one processor of the newest kinds runs on no other; one for an older processor is for
// all that came after it.
PtxTarget ptx_target_for(std::string_view architecture) {
  for (const PtxTarget& target : {ptx_sm_90a, ptx_sm_100a}) {
    if (target.architecture == architecture) return target;
  }
  return ptx_sm_80;
}

Language cuda_c() { return {CudaRenderer::ops(), CudaRenderer::dtypes(), CudaRenderer::storage()}; }

}  // namespace

CudaCompiler nvrtc_compiler(const std::string& architecture) {
  const Nvrtc* const nvrtc = Nvrtc::get();
  return {.renderer = std::make_shared<CudaRenderer>(),
          .language = cuda_c(),
          .version = nvrtc ? nvrtc->version() : "no NVRTC",
          .image_of =
              [=](const std::string& name, const std::string& source) {
                return compile_by_nvrtc(name, source, architecture);
              },
          .group_bytes_of = group_bytes_of};
}

CudaCompiler ptx_compiler(const std::string& architecture) {
  const PtxTarget target = ptx_target_for(architecture);
  return {.renderer = std::make_shared<PtxRenderer>(target),
          .language = {.ops = PtxRenderer::ops(),
                       .dtypes = PtxRenderer::dtypes(),
                       .storage = PtxRenderer::storage(),
                       .most_group_memory = ptx_caps().group_memory,
                       .multiplies_fp8 = target.multiplies_fp8},
          .version = fmt::format("PTX {} for {}", target.version, target.architecture),
          .image_of =
              [](const std::string&, const std::string& source) {
                return KernelImage{source, ""};
              },
          // The text declares all that it takes.
          .group_bytes_of = [](std::string_view) { return std::int64_t{0}; }};
}

CudaCompiler chosen_compiler(const std::string& architecture) {
  const std::string name = Options::text(Option::CudaCompiler);
  if (name == "ptx" || (name.empty() && !Nvrtc::get())) return ptx_compiler(architecture);
  check(name.empty() || name == "nvrtc", "CROZE_CUDA_COMPILER is '{}'; there are 'nvrtc' and 'ptx'",
        name);
  return nvrtc_compiler(architecture);
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
    targets.push_back({.name = a.name,
                       .caps = caps_of(a, cuda_c()),
                       .language = "cu",
                       .renderer = std::make_shared<CudaRenderer>(),
                       .compile = [&a](const std::string& name, const std::string& source) {
                         return compile_by_nvrtc(name, source, a.name);
                       }});
  }
  return targets;
}

}  // namespace croze::cuda
