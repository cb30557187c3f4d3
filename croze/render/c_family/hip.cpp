// hip.cpp -- the words of HIP C, where they are not those of CUDA C.
#include "croze/render/c_family/hip.h"

#include <fmt/format.h>

#include "croze/render/c_family/cuda_like.h"
#include "croze/render/c_family/writer.h"

namespace croze {
namespace {

using c_family::Dialect;

const Dialect& hip_dialect();

std::string signature(const LinearProgram& program) {
  return c_family::cuda_like_signature(
      hip_dialect(), program, fmt::format("__launch_bounds__({})", c_family::items_of(program)));
}

Dialect make_dialect() {
  Dialect d = c_family::cuda_like();
  d.name = "hip";
  d.preamble =
      "#pragma clang fp contract(off)\n"
      "#undef NAN\n"
      "#undef INFINITY\n"
      "#define NAN __builtin_nanf(\"\")\n"
      "#define INFINITY __builtin_inff()\n"
      "\n"
      "template <typename To, typename From>\n"
      "static __device__ inline To bits_as(From from) {\n"
      "  return __builtin_bit_cast(To, from);\n"
      "}\n";
  d.signature = signature;
  return d;
}

const Dialect& hip_dialect() {
  static const Dialect dialect = make_dialect();
  return dialect;
}

}  // namespace

std::uint64_t HipRenderer::ops() { return c_family::supported_ops(); }
std::uint32_t HipRenderer::dtypes() { return c_family::supported_dtypes(hip_dialect()); }

std::string HipRenderer::render(const LinearProgram& program) const {
  return c_family::group_memory_line(program) + c_family::write_program(hip_dialect(), program);
}

}  // namespace croze
