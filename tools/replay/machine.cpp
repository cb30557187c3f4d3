// machine.cpp -- the machine that graphs of the corpus are compiled for.
#include "replay/machine.h"

#include <fmt/format.h>

#include "croze/render/llvm.h"

namespace croze::replay {
namespace {

Caps described() {
  Caps caps;
  caps.device = "CPU";
  caps.architecture = "described";
  caps.ops = LlvmRenderer::ops();
  caps.dtypes = LlvmRenderer::dtypes();
  caps.storage = caps.dtypes | 1u << static_cast<int>(DType::Float16);
  caps.threads = 2;
  caps.vector_bytes = 32;
  caps.vector_registers = 16;
  caps.masked_vectors = true;
  caps.exchanges_lanes = true;
  caps.prefetches = true;
  caps.joins_nests = true;
  caps.l1_bytes = 32 << 10;
  caps.l2_bytes = 1 << 20;
  return caps;
}

}  // namespace

const Caps& machine() {
  static const Caps caps = described();
  return caps;
}

std::string machine_text() {
  const Caps& caps = machine();
  return fmt::format("{} threads, {} vectors of {} bytes, L1 {} KiB, L2 {} KiB", caps.threads,
                     caps.vector_registers, caps.vector_bytes, caps.l1_bytes >> 10,
                     caps.l2_bytes >> 10);
}

}  // namespace croze::replay
