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

// Word by word; places are counted in bytes.
c_family::Helper shuffle(const Dialect& dialect, DType t) {
  return c_family::shuffle_helper(
      dialect, t,
      "  const int own = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));\n"
      "  int words[sizeof value / 4];\n"
      "  __builtin_memcpy(words, &value, sizeof value);\n"
      "  for (int& word : words) word = __builtin_amdgcn_ds_bpermute((own ^ bit) * 4, word);\n"
      "  __builtin_memcpy(&value, words, sizeof value);\n"
      "  return value;\n");
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
  d.shuffle = shuffle;
  d.ballot = "__builtin_amdgcn_ballot_w{1}({0})";
  return d;
}

const Dialect& hip_dialect() {
  static const Dialect dialect = make_dialect();
  return dialect;
}

}  // namespace

OpSet HipRenderer::ops() { return c_family::supported_ops(); }
std::uint32_t HipRenderer::dtypes() { return c_family::supported_dtypes(hip_dialect()); }

std::string HipRenderer::render(const LinearProgram& program) const {
  return c_family::group_memory_line(program) + c_family::write_program(hip_dialect(), program);
}

}  // namespace croze
