// functions.cpp -- codegen and the C writer, for the portable machine.
#include "croze/export/functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"
#include "croze/codegen/pipeline.h"
#include "croze/export/machine.h"
#include "croze/graph/observer.h"
#include "croze/render/c_family/c_library.h"
#include "croze/render/c_family/writer.h"

namespace croze::plain_c {
namespace {

// The buffer as the function sees it.
Function::Parameter parameter_of(const LinearProgram& program, int slot,
                                 const ScheduleBuffer& buffer) {
  Function::Parameter result;
  int views = 0;
  for (UOp u : program.instructions) {
    if (!u.is(Op::Param) || u.slot() != slot) continue;
    const std::string_view type = c_type(u.dtype());
    if (views == 0 || result.type != type) views++;
    result.type = type;
    result.is_written = result.is_written || c_family::is_written(program, u);
  }
  if (views != 1) result.type.clear();
  result.comment = fmt::format("{}, {}", name_of(buffer.dtype),
                               views == 0          ? "not touched"
                               : result.is_written ? "written"
                                                   : "read");
  return result;
}

Function function_of(const LinearProgram& program, const Schedule& schedule,
                     const ScheduleStep& step) {
  const ProgramInfo& info = program.info;
  ensure(info.launch.tasks == 1, "kernel {} of an export has {} tasks", info.name,
         info.launch.tasks);
  Function f;
  f.name = c_family::entry_name(info.name);
  f.comment =
      fmt::format("{} operations on elements, {} bytes of memory touched", info.flops, info.bytes);
  for (int i = 0; i < info.num_buffers; i++) {
    const auto buffer = static_cast<std::size_t>(step.buffers[static_cast<std::size_t>(i)]);
    f.parameters.push_back(parameter_of(program, i, schedule.buffers[buffer]));
  }
  f.variables = info.num_variables;
  if (c_family::takes_scratch(program)) f.scratch_bytes = info.launch.scratch_bytes;
  return f;
}

}  // namespace

int FunctionTable::add(const Schedule& schedule, const ScheduleStep& step) {
  const auto [at, is_new] =
      numbers_.try_emplace(step.kernel->key, static_cast<int>(functions_.size()));
  if (!is_new) return at->second;
  const CompileScope scope(CompilePart::Kernel, step.kernel->key);
  LinearProgram program = make_program(step.kernel->sink, portable_machine());
  program.info.name = fmt::format("k{}_{}", at->second, program.info.name);
  c_family::KernelText text = c_family::write_kernel(c_family::c_library_dialect(), program);
  for (c_family::Helper& helper : text.helpers) {
    const auto known = std::ranges::find(helpers_, helper.name, &c_family::Helper::name);
    if (known == helpers_.end()) helpers_.push_back(std::move(helper));
  }
  functions_.push_back(function_of(program, schedule, step));
  functions_.back().text = std::move(text.function);
  return at->second;
}

}  // namespace croze::plain_c
