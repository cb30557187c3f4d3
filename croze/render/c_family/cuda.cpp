// cuda.cpp -- the words of CUDA C.
#include "croze/render/c_family/cuda.h"

#include <fmt/format.h>

#include "croze/base/error.h"
#include "croze/render/c_family/parameters.h"
#include "croze/render/c_family/writer.h"
#include "croze/render/scratch.h"

namespace croze {
namespace {

using c_family::Dialect;

constexpr std::string_view axes[] = {"x", "y", "z"};

const Dialect& cuda_dialect();

// Memory of a group is one array whose size is that of the launch: arrays of a fixed size end at
// 48 KiB, whatever the device has.
std::string signature(const LinearProgram& program) {
  const ProgramInfo& info = program.info;
  std::string parameters;
  for (int i = 0; i < info.num_buffers; i++) {
    if (i > 0) parameters += ", ";
    parameters += c_family::buffer_parameter(cuda_dialect(), program, i, "__restrict__");
  }
  for (int i = 0; i < info.num_variables; i++) {
    parameters += fmt::format("{}long long a{}", parameters.empty() ? "" : ", ", i);
  }
  const auto& items = info.launch.items;
  std::string text =
      fmt::format("extern \"C\" __global__ void __launch_bounds__({})\n{}({}) {{",
                  items[0] * items[1] * items[2], c_family::entry_name(info.name), parameters);
  if (group_layout(program).bytes > 0) text += "\n  extern __shared__ uint4 group_memory[];";
  return text;
}

std::string declare_local(const Dialect& words, UOp local, std::string_view name,
                          std::int64_t offset) {
  const std::string_view type = words.type(local.dtype());
  const bool shared = static_cast<Space>(local.arg().ints[2]) == Space::Group;
  return shared
             ? fmt::format("{0}* const {1} = ({0}*)(group_memory + {2});", type, name, offset / 16)
             : fmt::format("{}{} {}[{}];", words.array, type, name, local.buffer_elements());
}

std::string declare_special(const Dialect& words, UOp special, std::string_view name) {
  ensure(special.loop_kind() != LoopKind::Thread, "the cuda renderer has no tasks");
  const bool is_group = special.loop_kind() == LoopKind::Group;
  return fmt::format("const {0} {1} = ({0}){2}Idx.{3};", words.type(special.dtype()), name,
                     is_group ? "block" : "thread", axes[special.arg().ints[0]]);
}

constexpr Dialect make_dialect() {
  Dialect d{};
  d.name = "cuda";
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
  d.preamble =
      "#define NAN __int_as_float(0x7fc00000)\n"
      "#define INFINITY __int_as_float(0x7f800000)\n"
      "\n"
      "template <typename To, typename From>\n"
      "static __device__ inline To bits_as(From from) {\n"
      "  To to;\n"
      "  memcpy(&to, &from, sizeof to);\n"
      "  return to;\n"
      "}\n";
  d.float32_suffix = "f";
  d.bitcast = "bits_as<{T}>({0})";
  d.barrier = "__syncthreads();";
  d.function = "static __device__ inline";
  d.unroll = "#pragma unroll";
  d.array = "__align__(16) ";
  d.wide_accesses = true;
  d.signature = signature;
  d.declare_param = c_family::declare_typed_param;
  d.declare_variable = c_family::declare_number;
  d.declare_local = declare_local;
  d.declare_special = declare_special;
  return d;
}

constexpr Dialect dialect = make_dialect();
const Dialect& cuda_dialect() { return dialect; }

}  // namespace

std::string CudaRenderer::entry(std::string_view kernel) { return c_family::entry_name(kernel); }
std::uint64_t CudaRenderer::ops() { return c_family::supported_ops(); }
std::uint32_t CudaRenderer::dtypes() { return c_family::supported_dtypes(dialect); }

std::string CudaRenderer::render(const LinearProgram& program) const {
  return fmt::format("// group memory: {}\n", group_layout(program).bytes) +
         c_family::write_program(dialect, program);
}

}  // namespace croze
