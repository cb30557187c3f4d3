// functions.cpp -- codegen and the C writer, for the machine of the export.
#include "croze/export/functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/observer.h"
#include "croze/render/c_family/c_library.h"
#include "croze/render/c_family/vector_writer.h"
#include "croze/render/c_family/writer.h"
#include "croze/run/given_edits.h"

namespace croze::plain_c {
namespace {

// The buffer as the function sees it.
Function::Parameter parameter_of(const LinearProgram& program, int slot) {
  Function::Parameter result;
  DType dtype = DType::Void;
  std::int64_t elements = 0;
  bool is_open = false;
  bool has_views = false;  // of several types
  for (UOp u : program.instructions) {
    if (!u.is(Op::Param) || u.slot() != slot) continue;
    has_views = has_views || (dtype != DType::Void && dtype != u.dtype());
    dtype = u.dtype();
    elements = u.buffer_elements();
    is_open = is_open || u.element_count().is_open();
    result.is_written = result.is_written || c_family::is_written(program, u);
  }
  if (dtype == DType::Void) {
    result.comment = "not touched";
    return result;
  }
  if (!has_views) result.type = c_type(dtype);
  result.comment =
      fmt::format("{}: {}, {}{} element{}", result.is_written ? "written" : "read", name_of(dtype),
                  is_open ? "up to " : "", elements, elements == 1 ? "" : "s");
  return result;
}

Function function_of(const LinearProgram& program) {
  const ProgramInfo& info = program.info;
  ensure(info.launch.tasks == 1, "kernel {} of an export has {} tasks", info.name,
         info.launch.tasks.text());
  Function f;
  f.name = c_family::entry_name(info.name);
  f.comment =
      fmt::format("{} operations on elements, {} bytes of memory touched", info.flops, info.bytes);
  for (int i = 0; i < info.num_buffers; i++) f.parameters.push_back(parameter_of(program, i));
  f.variables = info.num_variables;
  if (c_family::takes_scratch(program)) f.scratch_bytes = info.launch.scratch_bytes;
  return f;
}

}  // namespace

int FunctionTable::add(const Kernel& kernel) {
  const auto [at, is_new] = numbers_.try_emplace(kernel.key, static_cast<int>(functions_.size()));
  if (!is_new) return at->second;
  const std::string label =
      is_watched() ? fmt::format("export {} {}", kernel_name(kernel), kernel_key(kernel)) : "";
  const CompileScope scope(CompilePart::Kernel, label);
  LinearProgram program = make_program(kernel.sink, machine_);
  program.info.name = fmt::format("k{}_{}", at->second, program.info.name);
  functions_.push_back(function_of(program));
  const c_family::Dialect& dialect = c_family::c_library_dialect();
  functions_.back().text = taken(c_family::write_kernel(dialect, program));
  if (c_family::can_write_vectors(program)) {
    functions_.back().vector_text =
        taken(c_family::write_vector_kernel(dialect, c_family::gnu_vectors(), program));
  }
  return at->second;
}

std::string FunctionTable::taken(c_family::KernelText text) {
  for (c_family::Helper& helper : text.helpers) {
    const auto known = std::ranges::find(helpers_, helper.name, &c_family::Helper::name);
    if (known == helpers_.end()) helpers_.push_back(std::move(helper));
  }
  return std::move(text.function);
}

}  // namespace croze::plain_c
