#include "croze/render/c_family/cuda/boxes.h"

#include <fmt/format.h>

#include <bit>

#include "croze/render/scratch.h"

namespace croze::c_family {

std::string tensor_map_type(const LinearProgram& program) {
  if (program.info.boxed.empty()) return {};
  return "struct __align__(64) tensor_map {\n  unsigned char bytes[128];\n};\n\n";
}

std::string box_parameters(const LinearProgram& program) {
  std::string text;
  for (std::size_t i = 0; i < program.info.boxed.size(); i++) {
    text += fmt::format(", const __grid_constant__ tensor_map map{0}, long long shift{0}", i);
  }
  return text;
}

std::int64_t bytes_of_barriers(const LinearProgram& program) {
  return batch_barriers(program) * bytes_of_batch_barrier;
}

std::string box_prologue(const LinearProgram& program) {
  const std::int64_t barriers = batch_barriers(program);
  if (barriers == 0) return {};
  return fmt::format(
      "\n  unsigned long long* const batches = (unsigned long long*)(group_memory + {});\n"
      "  const bool is_first = threadIdx.x + threadIdx.y + threadIdx.z == 0;\n"
      "  unsigned int batches_begun = 0, batches_awaited = 0;\n"
      "  if (is_first) {{\n"
      "    for (int i = 0; i < {}; i++) {{\n"
      "      asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\"\n"
      "          :: \"r\"((unsigned int)__cvta_generic_to_shared(batches + i)) : \"memory\");\n"
      "    }}\n"
      "    asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n"
      "  }}\n"
      "  __syncthreads();",
      group_layout(program).bytes / 16, barriers);
}

Helper copy_box_helper(const Dialect& dialect, const BoxedBuffer& box) {
  const std::size_t axes = box.box.size();
  Helper helper;
  helper.name = fmt::format("copy_box_{}x{}", axes, bytes_of(box));
  std::string parameters, numbers, operands;
  for (std::size_t i = 0; i < axes; i++) {
    parameters += fmt::format(", int x{}", i);
    numbers += fmt::format("{}%{}", i ? ", " : "", 3 + i);
    operands += fmt::format(", \"r\"(x{})", i);
  }
  helper.text = fmt::format(
      "{0} void {1}(void* to, const void* map, unsigned long long* batch{2}) {{\n"
      "  const unsigned int barrier = (unsigned int)__cvta_generic_to_shared(batch);\n"
      "  asm volatile(\"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], {3};\"\n"
      "      :: \"r\"(barrier) : \"memory\");\n"
      "  asm volatile(\"cp.async.bulk.tensor.{4}d.shared::cluster.global.tile\"\n"
      "      \".mbarrier::complete_tx::bytes [%0], [%1, {{{5}}}], [%2];\"\n"
      "      :: \"r\"((unsigned int)__cvta_generic_to_shared(to)), \"l\"(map), \"r\"(barrier){6}\n"
      "      : \"memory\");\n"
      "}}\n",
      dialect.function, helper.name, parameters, bytes_of(box), axes, numbers, operands);
  return helper;
}

Helper await_boxes_helper(const Dialect& dialect, std::int64_t barriers) {
  const int bits = std::countr_zero(static_cast<std::uint64_t>(barriers));
  return {"await_boxes",
          fmt::format("{0} void await_boxes(unsigned long long* batches, bool is_first,\n"
                      "    unsigned int& begun, unsigned int& awaited, unsigned int left) {{\n"
                      "  if (is_first) {{\n"
                      "    asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" :: \"r\"(\n"
                      "        (unsigned int)__cvta_generic_to_shared(batches + (begun & {1}))) : "
                      "\"memory\");\n"
                      "  }}\n"
                      "  for (begun++; begun - awaited > left; awaited++) {{\n"
                      "    const unsigned int barrier =\n"
                      "        (unsigned int)__cvta_generic_to_shared(batches + (awaited & {1}));\n"
                      "    unsigned int has_come = 0;\n"
                      "    while (!has_come) {{\n"
                      "      asm volatile(\"{{ .reg .pred p;\"\n"
                      "          \" mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\"\n"
                      "          \" selp.b32 %0, 1, 0, p; }}\"\n"
                      "          : \"=r\"(has_come) : \"r\"(barrier), \"r\"(awaited >> {2} & 1) : "
                      "\"memory\");\n"
                      "    }}\n"
                      "  }}\n"
                      "}}\n",
                      dialect.function, barriers - 1, bits)};
}

}  // namespace croze::c_family
