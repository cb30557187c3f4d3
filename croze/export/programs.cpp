// programs.cpp -- codegen, for the machine of the export.
#include "croze/export/programs.h"

#include <fmt/format.h>

#include "croze/codegen/pipeline.h"
#include "croze/graph/observer.h"
#include "croze/run/given_edits.h"

namespace croze::exporting {

int ProgramTable::add(const Kernel& kernel) {
  const auto [at, is_new] = numbers_.try_emplace(kernel.key, static_cast<int>(programs_.size()));
  if (!is_new) return at->second;
  const std::string label =
      is_watched() ? fmt::format("export {} {}", kernel_name(kernel), kernel_key(kernel)) : "";
  const CompileScope scope(CompilePart::Kernel, label);
  LinearProgram program = make_program(kernel.sink, machine_);
  program.info.name = fmt::format("k{}_{}", at->second, program.info.name);
  programs_.push_back(std::move(program));
  return at->second;
}

}  // namespace croze::exporting
