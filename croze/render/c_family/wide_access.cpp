#include "croze/render/c_family/wide_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "croze/render/lane_form.h"

namespace croze::c_family {
namespace {

std::int64_t bytes_at_once(DType t, std::int64_t lanes) {
  return std::min(wide_bytes, lanes * size_of(t));
}

bool is_wide(UOp u, const LaneForms& forms) {
  if (!u.is(Op::Load) && !u.is(Op::Store)) return false;
  const UOp place = u.src(0), buffer = buffer_of(place);
  if (buffer.is(Op::Register)) return false;
  const LaneForm at = forms.of(place.src(1));
  if (at.lanes < 2 || !at.affine || at.step != 1) return false;
  if (!std::has_single_bit(static_cast<std::uint64_t>(at.lanes))) return false;
  if (place.num_src() > 2 && forms.of(place.src(2)).lanes > 1) return false;
  if (u.is(Op::Store) && (forms.of(u.src(1)).lanes != at.lanes || is_lane(u.src(1)))) return false;
  const DType t = buffer.dtype();
  return multiple_in_first_lane(place.src(1)) * size_of(t) % bytes_at_once(t, at.lanes) == 0;
}

}  // namespace

WideAccesses::WideAccesses(const Dialect& dialect, const LinearProgram& program) {
  if (!dialect.wide_accesses || program.lanes.empty()) return;
  const LaneForms forms(program);
  for (UOp u : program.instructions) {
    if (!is_wide(u, forms)) continue;
    accesses_.insert(u.node());
    const UOp buffer = buffer_of(u.src(0));
    if (buffer.is(Op::Param)) params_.insert(buffer.node());
    if (u.is(Op::Store) && is_copy(u)) params_.insert(buffer_of(u.src(1)).node());
  }
}

Helper move_helper(const Dialect& dialect, DType t, std::int64_t lanes) {
  Helper helper;
  const std::string vector = fmt::format("{}x{}", croze::name_of(t), lanes);
  helper.name = "move_" + vector;
  helper.text = fmt::format(
      "struct __align__({0}) {1} {{ {2} lanes[{3}]; }};\n"
      "{4} void {5}({2}* to, const {2}* from, bool whole) {{\n"
      "  if (whole) {{\n"
      "    *({1}*)to = *(const {1}*)from;\n"
      "  }} else {{\n"
      "    {6}\n"
      "    for (int k = 0; k < {3}; k++) to[k] = from[k];\n"
      "  }}\n"
      "}}\n",
      bytes_at_once(t, lanes), vector, dialect.type(t), lanes, dialect.function, helper.name,
      dialect.unroll);
  return helper;
}

}  // namespace croze::c_family
