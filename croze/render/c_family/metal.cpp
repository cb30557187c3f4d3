// metal.cpp -- the words of Metal's shading language, a C++14 with address spaces.
#include "croze/render/c_family/metal.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"
#include "croze/render/c_family/parameters.h"
#include "croze/render/c_family/writer.h"
#include "croze/render/scratch.h"

namespace croze {
namespace {

using c_family::Dialect;

constexpr std::string_view axes[] = {"x", "y", "z"};

const Dialect& metal_dialect();

// "device const float* b1"; what the kernel sees under several types, or does not touch, is a
// void*.
std::string buffer(const LinearProgram& program, int slot) {
  const std::vector<UOp> params = c_family::params_of(program, slot);
  const bool written =
      std::ranges::any_of(params, [&](UOp param) { return c_family::is_written(program, param); });
  const std::string_view type =
      params.size() == 1 ? metal_dialect().type(params[0].dtype()) : "void";
  return fmt::format("device {}{}* b{} [[buffer({})]]", written ? "" : "const ", type, slot, slot);
}

std::string signature(const LinearProgram& program) {
  const ProgramInfo& info = program.info;
  std::string parameters;
  for (int i = 0; i < info.num_buffers; i++) parameters += buffer(program, i) + ",\n    ";
  if (info.num_variables > 0) {
    parameters += fmt::format("constant long* variables [[buffer({})]],\n    ", info.num_buffers);
  }
  const auto& [width, height, depth] = info.launch.items;
  return fmt::format(
      "[[kernel, max_total_threads_per_threadgroup({})]]\n"
      "void {}(\n    {}uint3 group [[threadgroup_position_in_grid]],\n"
      "    uint3 item [[thread_position_in_threadgroup]]) {{",
      width * height * depth, c_family::entry_name(info.name), parameters);
}

std::string declare_param(const Dialect& dialect, UOp param, std::string_view name, bool is_written,
                          bool is_alone) {
  if (is_alone) return {};
  const std::string type =
      fmt::format("device {}{}*", is_written ? "" : "const ", dialect.type(param.dtype()));
  return fmt::format("{0} {1} = ({0})b{2};", type, name, param.slot());
}

std::string declare_variable(const Dialect& dialect, UOp variable, std::string_view name) {
  return fmt::format("const {0} {1} = ({0})variables[{2}];", dialect.type(variable.dtype()), name,
                     variable.arg().ints[0]);
}

std::string declare_local(const Dialect& dialect, UOp local, std::string_view name, std::int64_t) {
  const bool shared = is_group_tile(local);
  return fmt::format("{}{} {}[{}];", shared ? "threadgroup " : "", dialect.type(local.dtype()),
                     name, local.buffer_elements());
}

std::string declare_special(const Dialect& dialect, const LinearProgram&, UOp special,
                            std::string_view name) {
  ensure(special.loop_kind() != LoopKind::Thread, "the metal renderer has no tasks");
  const bool is_group = special.loop_kind() == LoopKind::Group;
  return fmt::format("const {0} {1} = ({0}){2}.{3};", dialect.type(special.dtype()), name,
                     is_group ? "group" : "item", axes[special.arg().ints[0]]);
}

// What has 8 bytes goes as two words.
c_family::Helper shuffle(const Dialect& dialect, DType t) {
  const bool is_wide = size_of(t) == 8;
  return c_family::shuffle_helper(
      dialect, t,
      is_wide ? fmt::format("  return as_type<{}>(simd_shuffle_xor(as_type<uint2>(value), "
                            "ushort(bit)));\n",
                            dialect.type(t))
              : "  return simd_shuffle_xor(value, ushort(bit));\n");
}

Dialect make_dialect() {
  Dialect d{};
  d.name = "metal";
  auto set = [&](DType t, std::string_view text) { d.types[static_cast<std::size_t>(t)] = text; };
  set(DType::Bool, "uchar");
  set(DType::Int8, "char");
  set(DType::UInt8, "uchar");
  set(DType::Int16, "short");
  set(DType::UInt16, "ushort");
  set(DType::Int32, "int");
  set(DType::UInt32, "uint");
  set(DType::Int64, "long");
  set(DType::Index, "long");
  set(DType::UInt64, "ulong");
  set(DType::Float32, "float");
  d.preamble =
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "#pragma clang fp contract(off)\n";
  d.bitcast = "as_type<{T}>({0})";
  d.barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);";
  d.signature = signature;
  d.shuffle = shuffle;
  d.ballot = "uint((simd_vote::vote_t)simd_ballot({0}))";
  d.declare_param = declare_param;
  d.declare_variable = declare_variable;
  d.declare_local = declare_local;
  d.declare_special = declare_special;
  return d;
}

const Dialect& metal_dialect() {
  static const Dialect dialect = make_dialect();
  return dialect;
}

}  // namespace

OpSet MetalRenderer::ops() { return c_family::supported_ops(); }
std::uint32_t MetalRenderer::dtypes() { return c_family::supported_dtypes(metal_dialect()); }

std::string MetalRenderer::render(const LinearProgram& program) const {
  return c_family::write_program(metal_dialect(), program);
}

}  // namespace croze
