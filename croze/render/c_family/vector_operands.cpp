// vector_operands.cpp -- names of vectors, and of what becomes one where it is used.
#include "croze/render/c_family/vector_operands.h"

#include <fmt/format.h>

#include <algorithm>

namespace croze::c_family {

VectorType VectorOperands::vector(DType t, std::int64_t lanes) {
  const VectorType type = vectors_.type(t, words_.type(t), lanes);
  for (const Helper& h : vectors_.declarations(type)) use(h);
  return type;
}

VectorType VectorOperands::mask_type(std::int64_t bytes, std::int64_t lanes) {
  return vector(signed_of(bytes), lanes);
}

std::int64_t VectorOperands::lanes_of(UOp u) const {
  const LaneForm form = forms_.of(u);
  return form.affine ? 1 : form.lanes;
}

std::string VectorOperands::type_of(UOp u) {
  const std::int64_t lanes = u.is(Op::Register) ? forms_.of(u).lanes : lanes_of(u);
  return lanes == 1 ? std::string(words_.type(u.dtype())) : vector_of(u, lanes).name;
}

VectorType VectorOperands::vector_of(UOp u, std::int64_t lanes) {
  return u.dtype() == DType::Bool ? mask_type(mask_bytes(u), lanes) : vector(u.dtype(), lanes);
}

std::int64_t VectorOperands::mask_bytes(UOp u) const {
  while (u.is(Op::After)) u = u.src(0);
  const std::int64_t* bytes = mask_bytes_.find(u.node());
  return bytes ? *bytes : 1;
}

std::string VectorOperands::first(UOp u) const { return is_lane(u) ? "0" : body_.name(u); }

std::string VectorOperands::lane(UOp u, const std::string& k) const {
  const LaneForm form = forms_.of(u);
  if (!form.affine) {
    const std::string text = vectors_.lane(body_.name(u), k);
    return u.dtype() == DType::Bool ? "(" + text + " != 0)" : text;
  }
  if (form.step == 0) return first(u);
  const std::string_view type = words_.type(u.dtype());
  if (is_lane(u)) return fmt::format("({}){}", type, k);
  if (cannot_wrap(u)) return fmt::format("({} + {} * ({}){})", first(u), k, type, form.step);
  const std::string_view wraps = words_.type(wrapping_type(u.dtype()));
  return fmt::format("({0})(({1}){2} + ({1}){4} * ({1}){3})", type, wraps, first(u), form.step, k);
}

std::string VectorOperands::all(UOp u, std::int64_t lanes) {
  if (lanes_of(u) > 1) return body_.name(u);
  const LaneForm form = forms_.of(u);
  const VectorType type = vector(u.dtype(), lanes);
  if (form.step == 0) return vectors_.of_one(type, first(u));
  const DType wraps = is_unsigned(u.dtype()) ? u.dtype() : unsigned_of(size_of(u.dtype()));
  std::string steps;
  for (std::int64_t k = 0; k < lanes; k++) {
    const std::uint64_t step =
        static_cast<std::uint64_t>(form.step) * static_cast<std::uint64_t>(k);
    const std::uint64_t kept = size_of(wraps) == 8 ? step : step & UINT32_MAX;
    steps += fmt::format("{}{}u", k ? ", " : "", kept);
  }
  const std::string sum = fmt::format("(({}){} + {})", words_.type(wraps), first(u),
                                      vectors_.of_all(vector(wraps, lanes), steps));
  return vectors_.of_same_bits(type, sum);
}

std::string VectorOperands::side(UOp u, std::int64_t lanes) {
  const LaneForm form = forms_.of(u);
  return form.affine && form.step == 0 && !is_narrow(u.dtype()) ? first(u) : all(u, lanes);
}

std::string VectorOperands::mask(UOp u, std::int64_t bytes, std::int64_t lanes) {
  const VectorType type = mask_type(bytes, lanes);
  if (lanes_of(u) == 1)
    return vectors_.of_one(type, fmt::format("(-({}){})", type.element, first(u)));
  return mask_bytes(u) == bytes ? body_.name(u) : vectors_.converted(type, body_.name(u));
}

void VectorOperands::use(const Helper& helper) {
  if (std::ranges::find(types_, helper.name, &Helper::name) == types_.end()) {
    types_.push_back(helper);
  }
}

void VectorOperands::use_macro(const Helper& macro) {
  for (const Helper& h : vectors_.before_macros()) use(h);
  use(macro);
}

}  // namespace croze::c_family
