// c.cpp -- the words of C.
#include "croze/render/c_family/c.h"

#include <fmt/format.h>

#include "croze/base/error.h"
#include "croze/render/c_family/writer.h"

namespace croze {
namespace {

using c_family::Dialect;

std::string signature(const LinearProgram& program) {
  return fmt::format(
      "void {}(void* const* buffers, const int64_t* variables, int64_t task, void* scratch) {{",
      c_family::entry_name(program.info.name));
}

std::string declare_param(const Dialect& dialect, UOp param, std::string_view name, bool is_written,
                          bool is_alone) {
  return fmt::format("{0}{1}* {2}{3} = ({0}{1}*)buffers[{4}];", is_written ? "" : "const ",
                     dialect.type(param.dtype()), is_alone ? "restrict " : "", name, param.slot());
}

std::string declare_variable(const Dialect& dialect, UOp variable, std::string_view name) {
  const std::string_view type = dialect.type(variable.dtype());
  return fmt::format("const {0} {1} = ({0})variables[{2}];", type, name, variable.arg().ints[0]);
}

std::string declare_local(const Dialect& dialect, UOp local, std::string_view name,
                          std::int64_t scratch_offset) {
  ensure(static_cast<Space>(local.arg().ints[2]) == Space::Thread,
         "the c renderer has no memory shared by a group");
  return fmt::format("{0}* {1} = ({0}*)((char*)scratch + {2});", dialect.type(local.dtype()), name,
                     scratch_offset);
}

// The parameter is called task already.
std::string declare_special(const Dialect&, const LinearProgram&, UOp special, std::string_view) {
  ensure(special.loop_kind() == LoopKind::Thread, "the c renderer has no groups");
  return "(void)task;";
}

constexpr Dialect make_dialect() {
  Dialect d{};
  d.name = "c";
  auto set = [&](DType t, std::string_view text) { d.types[static_cast<std::size_t>(t)] = text; };
  set(DType::Bool, "uint8_t");
  set(DType::Int8, "int8_t");
  set(DType::UInt8, "uint8_t");
  set(DType::Int16, "int16_t");
  set(DType::UInt16, "uint16_t");
  set(DType::Int32, "int32_t");
  set(DType::UInt32, "uint32_t");
  set(DType::Int64, "int64_t");
  set(DType::Index, "int64_t");
  set(DType::UInt64, "uint64_t");
  set(DType::Float32, "float");
  set(DType::Float64, "double");
  d.preamble = "#include <math.h>\n#include <stdint.h>\n";
  d.float32_suffix = "f";
  d.bitcast = "((union {{S} from; {T} to;}){.from = {0}}).to";
  d.signature = signature;
  d.declare_param = declare_param;
  d.declare_variable = declare_variable;
  d.declare_local = declare_local;
  d.declare_special = declare_special;
  return d;
}

constexpr Dialect dialect = make_dialect();

}  // namespace

const Dialect& c_family::c_dialect() { return dialect; }

std::string CRenderer::entry(std::string_view kernel) { return c_family::entry_name(kernel); }
OpSet CRenderer::ops() { return c_family::supported_ops(); }
std::uint32_t CRenderer::dtypes() { return c_family::supported_dtypes(dialect); }

std::string CRenderer::render(const LinearProgram& program) const {
  return c_family::write_program(dialect, program);
}

}  // namespace croze
