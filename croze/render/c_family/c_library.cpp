// c_library.cpp -- the heads of kernels that a C library calls.
#include "croze/render/c_family/c_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "croze/base/error.h"
#include "croze/render/c_family/c.h"

namespace croze::c_family {
namespace {

// The parameters that stand for a buffer.
std::vector<UOp> params_of(const LinearProgram& program, int slot) {
  std::vector<UOp> params;
  for (UOp u : program.instructions) {
    const bool is_new = std::ranges::find(params, u) == params.end();
    if (u.is(Op::Param) && u.slot() == slot && is_new) params.push_back(u);
  }
  return params;
}

std::string pointer(UOp param, bool is_written) {
  return fmt::format("{}{}*", is_written ? "" : "const ", c_dialect().type(param.dtype()));
}

std::string buffer_text(const LinearProgram& program, int slot) {
  const std::vector<UOp> params = params_of(program, slot);
  if (params.size() == 1) {
    return fmt::format("{} restrict b{}", pointer(params[0], is_written(program, params[0])), slot);
  }
  const bool written =
      std::ranges::any_of(params, [&](UOp param) { return is_written(program, param); });
  return fmt::format("{}void* b{}", written ? "" : "const ", slot);
}

bool has_variable(const LinearProgram& program, int number) {
  return std::ranges::any_of(
      program.instructions, [=](UOp u) { return u.is(Op::Variable) && u.arg().ints[0] == number; });
}

std::string signature(const LinearProgram& program) {
  std::string parameters, unused;
  const auto add = [&](const std::string& text) {
    parameters += (parameters.empty() ? "" : ", ") + text;
  };
  for (int i = 0; i < program.info.num_buffers; i++) {
    add(buffer_text(program, i));
    if (params_of(program, i).empty()) unused += fmt::format("\n  (void)b{};", i);
  }
  for (int i = 0; i < program.info.num_variables; i++) {
    add(fmt::format("int64_t a{}", i));
    if (!has_variable(program, i)) unused += fmt::format("\n  (void)a{};", i);
  }
  if (takes_scratch(program)) add("void* scratch");
  return fmt::format("static void {}({}) {{{}", entry_name(program.info.name), parameters, unused);
}

std::string declare_param(const Dialect&, UOp param, std::string_view name, bool is_written,
                          bool is_alone) {
  if (is_alone) return {};
  const std::string type = pointer(param, is_written);
  return fmt::format("{0} {1} = ({0})b{2};", type, name, param.slot());
}

std::string declare_variable(const Dialect& dialect, UOp variable, std::string_view name) {
  return fmt::format("const {0} {1} = ({0})a{2};", dialect.type(variable.dtype()), name,
                     variable.arg().ints[0]);
}

std::string declare_special(const Dialect&, UOp, std::string_view) {
  fail_internal({"c library", {}}, "a kernel of a library has one thread");
}

Dialect make_dialect() {
  Dialect d = c_dialect();
  d.name = "c library";
  d.signature = signature;
  d.declare_param = declare_param;
  d.declare_variable = declare_variable;
  d.declare_special = declare_special;
  return d;
}

}  // namespace

const Dialect& c_library_dialect() {
  static const Dialect dialect = make_dialect();
  return dialect;
}

bool takes_scratch(const LinearProgram& program) {
  return std::ranges::any_of(program.instructions, [](UOp u) { return u.is(Op::Local); });
}

}  // namespace croze::c_family
