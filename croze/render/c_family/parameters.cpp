#include "croze/render/c_family/parameters.h"

#include <fmt/format.h>

#include <algorithm>

namespace croze::c_family {
namespace {

std::string pointer(const Dialect& dialect, UOp param, bool is_written) {
  return fmt::format("{}{}*", is_written ? "" : "const ", dialect.type(param.dtype()));
}

}  // namespace

std::vector<UOp> params_of(const LinearProgram& program, int slot) {
  std::vector<UOp> params;
  for (UOp u : program.instructions) {
    const bool is_new = std::ranges::find(params, u) == params.end();
    if (u.is(Op::Param) && u.slot() == slot && is_new) params.push_back(u);
  }
  return params;
}

std::string buffer_parameter(const Dialect& dialect, const LinearProgram& program, int slot,
                             std::string_view restricted) {
  const std::vector<UOp> params = params_of(program, slot);
  if (params.size() == 1) {
    return fmt::format("{} {} b{}", pointer(dialect, params[0], is_written(program, params[0])),
                       restricted, slot);
  }
  const bool written =
      std::ranges::any_of(params, [&](UOp param) { return is_written(program, param); });
  return fmt::format("{}void* b{}", written ? "" : "const ", slot);
}

bool has_variable(const LinearProgram& program, int number) {
  return std::ranges::any_of(
      program.instructions, [=](UOp u) { return u.is(Op::Variable) && u.arg().ints[0] == number; });
}

std::string declare_typed_param(const Dialect& dialect, UOp param, std::string_view name,
                                bool is_written, bool is_alone) {
  if (is_alone) return {};
  const std::string type = pointer(dialect, param, is_written);
  return fmt::format("{0} {1} = ({0})b{2};", type, name, param.slot());
}

std::string declare_number(const Dialect& dialect, UOp variable, std::string_view name) {
  return fmt::format("const {0} {1} = ({0})a{2};", dialect.type(variable.dtype()), name,
                     variable.arg().ints[0]);
}

}  // namespace croze::c_family
