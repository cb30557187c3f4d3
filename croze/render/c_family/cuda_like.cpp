#include "croze/render/c_family/cuda_like.h"

#include <fmt/format.h>

#include "croze/base/error.h"
#include "croze/render/c_family/parameters.h"
#include "croze/render/scratch.h"

namespace croze::c_family {
namespace {

constexpr std::string_view axes[] = {"x", "y", "z"};

std::string declare_local(const Dialect& words, UOp local, std::string_view name,
                          std::int64_t offset) {
  const std::string_view type = words.type(local.dtype());
  const bool shared = is_group_tile(local);
  return shared
             ? fmt::format("{0}* const {1} = ({0}*)(group_memory + {2});", type, name, offset / 16)
             : fmt::format("{}{} {}[{}];", words.array, type, name, local.buffer_elements());
}

std::string declare_special(const Dialect& words, const LinearProgram&, UOp special,
                            std::string_view name) {
  ensure(special.loop_kind() != LoopKind::Thread,
         "the renderers of CUDA C and HIP C have no tasks");
  const bool is_group = special.loop_kind() == LoopKind::Group;
  return fmt::format("const {0} {1} = ({0}){2}Idx.{3};", words.type(special.dtype()), name,
                     is_group ? "block" : "thread", axes[special.arg().ints[0]]);
}

}  // namespace

Dialect cuda_like() {
  Dialect d{};
  auto set = [&](DType t, std::string_view text) { d.types[static_cast<std::size_t>(t)] = text; };
  set(DType::Bool, "unsigned char");
  set(DType::Int8, "signed char");
  set(DType::UInt8, "unsigned char");
  set(DType::Int16, "short");
  set(DType::UInt16, "unsigned short");
  set(DType::Int32, "int");
  set(DType::UInt32, "unsigned int");
  set(DType::Int64, "long long");
  set(DType::Index, "long long");
  set(DType::UInt64, "unsigned long long");
  set(DType::Float32, "float");
  set(DType::Float64, "double");
  d.float32_suffix = "f";
  d.bitcast = "bits_as<{T}>({0})";
  d.barrier = "__syncthreads();";
  d.function = "static __device__ inline";
  d.unroll = "#pragma unroll";
  d.keep_loop = "#pragma unroll 1";
  d.array = "__align__(16) ";
  d.wide_accesses = true;
  d.declare_param = declare_typed_param;
  d.declare_variable = declare_number;
  d.declare_local = declare_local;
  d.declare_special = declare_special;
  return d;
}

// Memory of a group is one array whose size is that of the launch: arrays of a fixed size end at
// 48 KiB, whatever the device has.
std::string cuda_like_signature(const Dialect& dialect, const LinearProgram& program,
                                std::string_view bounds, std::string_view more) {
  const ProgramInfo& info = program.info;
  std::string parameters;
  for (int i = 0; i < info.num_buffers; i++) {
    if (i > 0) parameters += ", ";
    parameters += buffer_parameter(dialect, program, i, "__restrict__");
  }
  for (int i = 0; i < info.num_variables; i++) {
    parameters += fmt::format("{}long long a{}", parameters.empty() ? "" : ", ", i);
  }
  std::string text = fmt::format("extern \"C\" __global__ void {}\n{}({}{}) {{", bounds,
                                 entry_name(info.name), parameters, more);
  if (group_layout(program).bytes > 0) {
    const std::int64_t alignment = group_alignment(program);
    text += fmt::format("\n  extern __shared__ {}uint4 group_memory[];",
                        alignment > 16 ? fmt::format("__align__({}) ", alignment) : "");
  }
  return text;
}

std::int64_t items_of(const LinearProgram& program) {
  const auto& [width, height, depth] = program.info.launch.items;
  return width * height * depth;
}

std::string group_memory_line(const LinearProgram& program, std::int64_t more) {
  return fmt::format("// group memory: {}\n", group_layout(program).bytes + more);
}

}  // namespace croze::c_family
