// functions.cpp -- the C writer.
#include "croze/export/c/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "croze/base/error.h"
#include "croze/render/c_family/c_library.h"
#include "croze/render/c_family/vector_writer.h"
#include "croze/render/c_family/writer.h"

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

Function described(const LinearProgram& program) {
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

// The function, once its helpers are kept.
std::string taken(c_family::KernelText text, std::vector<c_family::Helper>& helpers) {
  for (c_family::Helper& helper : text.helpers) {
    const auto known = std::ranges::find(helpers, helper.name, &c_family::Helper::name);
    if (known == helpers.end()) helpers.push_back(std::move(helper));
  }
  return std::move(text.function);
}

}  // namespace

Function function_of(const LinearProgram& program, std::vector<c_family::Helper>& helpers) {
  Function f = described(program);
  const c_family::Dialect& dialect = c_family::c_library_dialect();
  f.text = taken(c_family::write_kernel(dialect, program), helpers);
  if (c_family::can_write_vectors(program)) {
    f.vector_text =
        taken(c_family::write_vector_kernel(dialect, c_family::gnu_vectors(), program), helpers);
  }
  return f;
}

}  // namespace croze::plain_c
