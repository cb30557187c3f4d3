// machine.cpp -- the capabilities that can be counted on everywhere.
#include "croze/export/machine.h"

#include "croze/render/c_family/c.h"

namespace croze::plain_c {
namespace {

Caps described() {
  Caps caps;
  caps.device = "C";
  caps.architecture = "portable";
  // Without an instruction fma() is a slow call, and C says at no price whether there is one.
  caps.ops = CRenderer::ops() & ~(std::uint64_t{1} << static_cast<int>(Op::MulAdd));
  caps.dtypes = caps.storage = CRenderer::dtypes();
  caps.threads = 1;
  // Vectors are short loops, which compilers turn into instructions: 16 bytes is what SSE2, NEON
  // and the vectors of WebAssembly have.
  caps.vector_bytes = 16;
  caps.vector_registers = 16;
  caps.masked_vectors = true;
  // Sequences: what nests pass to each other is small and stays in the cache.
  caps.joins_nests = true;
  caps.l1_bytes = 32 << 10;
  caps.l2_bytes = 256 << 10;
  return caps;
}

}  // namespace

const Caps& portable_machine() {
  static const Caps caps = described();
  return caps;
}

}  // namespace croze::plain_c
