// opencl.cpp -- the words of OpenCL C.
#include "croze/render/c_family/opencl.h"

#include <fmt/format.h>

#include "croze/base/error.h"
#include "croze/render/c_family/vector_writer.h"
#include "croze/render/c_family/writer.h"
#include "croze/render/scratch.h"

namespace croze {
namespace {

using c_family::Dialect;

// Compilers may specialise for the size of the group when they know it.
std::string signature(const LinearProgram& program) {
  const ProgramInfo& info = program.info;
  std::string arguments;
  for (int i = 0; i < info.num_buffers; i++) {
    arguments += fmt::format("{}__global uchar* p{}, const long o{}", i ? ", " : "", i, i);
  }
  for (int i = 0; i < info.num_variables; i++) {
    arguments += fmt::format("{}const long a{}", arguments.empty() ? "" : ", ", i);
  }
  const auto& items = info.launch.items;
  return fmt::format(
      "__kernel __attribute__((reqd_work_group_size({}, {}, {})))\n"
      "void {}({}) {{",
      items[0], items[1], items[2], c_family::entry_name(info.name), arguments);
}

std::string declare_param(const Dialect& dialect, UOp param, std::string_view name, bool is_written,
                          bool is_alone) {
  return fmt::format("__global {0}{1}* {2}{3} = (__global {0}{1}*)(p{4} + o{4});",
                     is_written ? "" : "const ", dialect.type(param.dtype()),
                     is_alone ? "restrict " : "", name, param.slot());
}

std::string declare_variable(const Dialect& dialect, UOp variable, std::string_view name) {
  const std::string_view type = dialect.type(variable.dtype());
  return fmt::format("const {0} {1} = ({0})a{2};", type, name, variable.arg().ints[0]);
}

// Of items that are alone in their groups a large tile is that of the group, which has more room.
std::string declare_local(const Dialect& dialect, UOp local, std::string_view name, std::int64_t) {
  const std::int64_t bytes = local.buffer_elements() * size_of(local.dtype());
  const bool shared =
      static_cast<Space>(local.arg().ints[2]) == Space::Group || bytes > most_private_bytes;
  return fmt::format("{}{} {}[{}];", shared ? "__local " : "", dialect.type(local.dtype()), name,
                     local.buffer_elements());
}

std::string declare_special(const Dialect& dialect, UOp special, std::string_view name) {
  ensure(special.loop_kind() != LoopKind::Thread, "the opencl renderer has no tasks");
  const std::string_view type = dialect.type(special.dtype());
  const bool is_group = special.loop_kind() == LoopKind::Group;
  return fmt::format("const {0} {1} = ({0})get_{2}_id({3});", type, name,
                     is_group ? "group" : "local", special.arg().ints[0]);
}

// Halves are loaded, stored and converted; what is computed of them is Float32.
constexpr std::string_view preamble = "#pragma OPENCL FP_CONTRACT OFF\n";
constexpr std::string_view preamble_of_halves =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL FP_CONTRACT OFF\n";

constexpr Dialect make_dialect(bool has_halves) {
  Dialect d{};
  d.name = "opencl";
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
  set(DType::Float64, "double");
  if (has_halves) set(DType::Float16, "half");
  d.preamble = has_halves ? preamble_of_halves : preamble;
  d.hides_bytes = true;
  d.bitcast = "as_{T}({0})";
  d.barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
  d.signature = signature;
  d.declare_param = declare_param;
  d.declare_variable = declare_variable;
  d.declare_local = declare_local;
  d.declare_special = declare_special;
  return d;
}

constexpr Dialect dialect = make_dialect(false), dialect_with_halves = make_dialect(true);

}  // namespace

std::string OpenClRenderer::entry(std::string_view kernel) { return c_family::entry_name(kernel); }
std::uint64_t OpenClRenderer::ops() { return c_family::supported_ops(); }
std::uint32_t OpenClRenderer::dtypes() { return c_family::supported_dtypes(dialect); }

std::string OpenClRenderer::render(const LinearProgram& program) const {
  const Dialect& words = has_halves_ ? dialect_with_halves : dialect;
  if (!c_family::can_write_vectors(program, most_lanes)) {
    return c_family::write_program(words, program);
  }
  return c_family::text_of(
      words, c_family::write_vector_kernel(words, c_family::opencl_vectors(), program));
}

}  // namespace croze
