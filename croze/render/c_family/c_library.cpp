// c_library.cpp -- the heads of kernels that a C library calls.
#include "croze/render/c_family/c_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "croze/base/error.h"
#include "croze/render/c_family/c.h"
#include "croze/render/c_family/parameters.h"

namespace croze::c_family {
namespace {

std::string signature(const LinearProgram& program) {
  std::string parameters, unused;
  const auto add = [&](const std::string& text) {
    parameters += (parameters.empty() ? "" : ", ") + text;
  };
  for (int i = 0; i < program.info.num_buffers; i++) {
    add(buffer_parameter(c_dialect(), program, i, "restrict"));
    if (params_of(program, i).empty()) unused += fmt::format("\n  (void)b{};", i);
  }
  for (int i = 0; i < program.info.num_variables; i++) {
    add(fmt::format("int64_t a{}", i));
    if (!has_variable(program, i)) unused += fmt::format("\n  (void)a{};", i);
  }
  if (takes_scratch(program)) add("void* scratch");
  return fmt::format("static void {}({}) {{{}", entry_name(program.info.name), parameters, unused);
}

std::string declare_special(const Dialect&, const LinearProgram&, UOp, std::string_view) {
  fail_internal({"c library", {}}, "a kernel of a library has one thread");
}

Dialect make_dialect() {
  Dialect d = c_dialect();
  d.name = "c library";
  d.signature = signature;
  d.declare_param = declare_typed_param;
  d.declare_variable = declare_number;
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
