// cuda.cpp -- the words of CUDA C.
#include "croze/render/c_family/cuda.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/render/c_family/cuda/boxes.h"
#include "croze/render/c_family/cuda/mma.h"
#include "croze/render/c_family/cuda_like.h"
#include "croze/render/c_family/writer.h"

namespace croze {
namespace {

using c_family::Dialect;

const Dialect& cuda_dialect();

// Groups that are to be at work on a multiprocessor at once.  The assembler shares out registers by
// it: left alone it fills a multiprocessor, and puts values into memory for that.  So many items
// may have all registers that there are for one.
std::int64_t resident_groups(std::int64_t items) {
  constexpr std::int64_t enough_items = 256, most_groups = 16;
  return std::clamp<std::int64_t>(enough_items / items, 1, most_groups);
}

std::string signature(const LinearProgram& program) {
  const std::int64_t items = c_family::items_of(program);
  return c_family::tensor_map_type(program) +
         c_family::cuda_like_signature(
             cuda_dialect(), program,
             fmt::format("__launch_bounds__({}, {})", items, resident_groups(items)),
             c_family::box_parameters(program)) +
         c_family::box_prologue(program);
}

c_family::Helper shuffle(const Dialect& dialect, DType t) {
  return c_family::shuffle_helper(dialect, t,
                                  "  return __shfl_xor_sync(0xffffffffu, value, bit);\n");
}

// One instruction, which older processors have not.
c_family::Helper extremum(const Dialect& dialect, Op op, DType t) {
  c_family::Helper helper = c_family::extremum_helper(dialect, op, t);
  if (t != DType::Float32) return helper;
  const std::size_t body = helper.text.find("{\n") + 2;
  const std::string_view name = op == Op::Max ? "max" : "min";
  helper.text.insert(body,
                     fmt::format("#if __CUDA_ARCH__ >= 800\n"
                                 "  float result;\n"
                                 "  asm(\"{}.NaN.f32 %0, %1, %2;\" : \"=f\"(result) : \"f\"(a), "
                                 "\"f\"(b));\n"
                                 "  return result;\n"
                                 "#else\n",
                                 name));
  helper.text.insert(helper.text.rfind("}\n"), "#endif\n");
  return helper;
}

c_family::Helper unit_helper(const Dialect& dialect, const MatrixUnit& unit) {
  return unit.reads_group_memory ? c_family::wgmma_helper(dialect, unit)
                                 : c_family::mma_helper(dialect, unit);
}

c_family::Helper begin_copy(const Dialect& dialect, DType t, std::int64_t elements) {
  const std::int64_t bytes = elements * size_of(t);
  c_family::Helper helper;
  helper.name = fmt::format("begin_copy_{}x{}", croze::name_of(t), elements);
  // 16 bytes go past the first cache, which less than that go through.
  helper.text = fmt::format(
      "{0} void {1}({2}* to, const {2}* from, bool whole, bool wanted) {{\n"
      "  if (whole) {{\n"
      "    asm volatile(\"cp.async.{3}.shared.global [%0], [%1], {4}, %2;\"\n"
      "        :: \"r\"((unsigned int)__cvta_generic_to_shared(to)),\n"
      "           \"l\"(__cvta_generic_to_global(from)), \"r\"(wanted ? {4} : 0) : \"memory\");\n"
      "  }} else {{\n"
      "    {5}\n"
      "    for (int k = 0; k < {6}; k++) to[k] = wanted ? from[k] : ({2})0;\n"
      "  }}\n"
      "}}\n",
      dialect.function, helper.name, dialect.type(t), bytes == 16 ? "cg" : "ca", bytes,
      dialect.unroll, elements);
  return helper;
}

constexpr std::string_view preamble =
    "#define NAN __int_as_float(0x7fc00000)\n"
    "#define INFINITY __int_as_float(0x7f800000)\n"
    "\n"
    "template <typename To, typename From>\n"
    "static __device__ inline To bits_as(From from) {\n"
    "  To to;\n"
    "  memcpy(&to, &from, sizeof to);\n"
    "  return to;\n"
    "}\n"
    "\n"
    "// What a float is rounded to, for memory: computed with is the float.  Two are rounded at "
    "once:\n"
    "// the instruction for one makes the assembler wait for each product of four warps by "
    "itself.\n"
    "struct float16 {\n"
    "  unsigned short bits;\n"
    "  float16() = default;\n"
    "  __device__ explicit float16(float x) {\n"
    "#if __CUDA_ARCH__ >= 800\n"
    "    unsigned int two;\n"
    "    asm(\"cvt.rn.f16x2.f32 %0, %1, %1;\" : \"=r\"(two) : \"f\"(x));\n"
    "    bits = (unsigned short)two;\n"
    "#else\n"
    "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(x));\n"
    "#endif\n"
    "  }\n"
    "  __device__ explicit operator float() const {\n"
    "    float x;\n"
    "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(bits));\n"
    "    return x;\n"
    "  }\n"
    "};\n"
    "struct bfloat16 {\n"
    "  unsigned short bits;\n"
    "  bfloat16() = default;\n"
    "  __device__ explicit bfloat16(float x) {\n"
    "#if __CUDA_ARCH__ >= 800\n"
    "    unsigned int two;\n"
    "    asm(\"cvt.rn.bf16x2.f32 %0, %1, %1;\" : \"=r\"(two) : \"f\"(x));\n"
    "    bits = (unsigned short)two;\n"
    "#else\n"
    "    const unsigned int u = __float_as_uint(x);\n"
    "    bits = x != x ? 0x7fffu : (u + 0x7fffu + (u >> 16 & 1)) >> 16;\n"
    "#endif\n"
    "  }\n"
    "  __device__ explicit operator float() const {\n"
    "    return __uint_as_float((unsigned int)bits << 16);\n"
    "  }\n"
    "};\n";

Dialect make_dialect() {
  Dialect d = c_family::cuda_like();
  d.name = "cuda";
  d.preamble = preamble;
  d.types[static_cast<std::size_t>(DType::Float16)] = "float16";
  d.types[static_cast<std::size_t>(DType::BFloat16)] = "bfloat16";
  d.extremum = extremum;
  d.signature = signature;
  d.contract = unit_helper;
  d.show_to_units = "asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");";
  d.await_products = "asm volatile(\"wgmma.wait_group.sync.aligned {0};\" ::: \"memory\");";
  d.keep_sum = "asm volatile(\"\" : \"+{1}\"({0}) :: \"memory\");";
  d.shuffle = shuffle;
  d.ballot = "__ballot_sync(0xffffffffu, {0})";
  d.load_matrix = c_family::ldmatrix_helper;
  d.begin_copy = begin_copy;
  d.copy_box = c_family::copy_box_helper;
  d.await_boxes = c_family::await_boxes_helper;
  d.await_copies =
      "asm volatile(\"cp.async.commit_group; cp.async.wait_group {0};\" ::: \"memory\");";
  return d;
}

const Dialect& cuda_dialect() {
  static const Dialect dialect = make_dialect();
  return dialect;
}

}  // namespace

std::string CudaRenderer::entry(std::string_view kernel) { return c_family::entry_name(kernel); }
OpSet CudaRenderer::ops() { return c_family::supported_ops(); }
std::uint32_t CudaRenderer::storage() {
  return 1u << static_cast<int>(DType::Float16) | 1u << static_cast<int>(DType::BFloat16);
}
std::uint32_t CudaRenderer::dtypes() {
  return c_family::supported_dtypes(cuda_dialect()) & ~storage();
}

std::string CudaRenderer::render(const LinearProgram& program) const {
  return c_family::group_memory_line(program, c_family::bytes_of_barriers(program)) +
         c_family::write_program(cuda_dialect(), program);
}

}  // namespace croze
