// vector_operands.cpp -- names of vectors, and of what becomes one where it is used.
#include "croze/render/c_family/vector_operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/render/c_family/vector_instructions.h"

namespace croze::c_family {

DType signed_of(std::int64_t bytes) {
  switch (bytes) {
    case 1: return DType::Int8;
    case 2: return DType::Int16;
    case 4: return DType::Int32;
    default: return DType::Int64;
  }
}
DType unsigned_of(std::int64_t bytes) { return bytes == 8 ? DType::UInt64 : DType::UInt32; }

std::string VectorOperands::vector(DType t, std::int64_t lanes) {
  const std::string name = fmt::format("{}x{}", name_of(t), lanes);
  if (std::ranges::find(types_, name, &Helper::name) == types_.end()) {
    const std::string text = fmt::format(
        "typedef {0} {1} __attribute__((vector_size({2})));\n"
        "typedef {0} {1}_at __attribute__((vector_size({2}), aligned({3}), may_alias));\n",
        words_.type(t), name, lanes * size_of(t), size_of(t));
    types_.push_back({name, "#if CROZE_VECTORS\n" + text + "#endif\n"});
  }
  return name;
}

std::string VectorOperands::mask_type(std::int64_t bytes, std::int64_t lanes) {
  return vector(signed_of(bytes), lanes);
}

std::int64_t VectorOperands::lanes_of(UOp u) const {
  const LaneForm form = forms_.of(u);
  return form.affine ? 1 : form.lanes;
}

std::string VectorOperands::type_of(UOp u) {
  const std::int64_t lanes = u.is(Op::Register) ? forms_.of(u).lanes : lanes_of(u);
  if (lanes == 1) return std::string(words_.type(u.dtype()));
  if (u.dtype() == DType::Bool) return mask_type(mask_bytes(u), lanes);
  return vector(u.dtype(), lanes);
}

std::int64_t VectorOperands::mask_bytes(UOp u) const {
  while (u.is(Op::After)) u = u.src(0);
  const std::int64_t* bytes = mask_bytes_.find(u.node());
  return bytes ? *bytes : 1;
}

std::string VectorOperands::first(UOp u) const { return is_lane(u) ? "0" : body_.name(u); }

std::string VectorOperands::lane(UOp u) const {
  const LaneForm form = forms_.of(u);
  if (!form.affine) {
    const std::string text = body_.name(u) + "[k]";
    return u.dtype() == DType::Bool ? "(" + text + " != 0)" : text;
  }
  if (form.step == 0) return first(u);
  const std::string_view type = words_.type(u.dtype());
  if (is_lane(u)) return fmt::format("({})k", type);
  if (cannot_wrap(u)) return fmt::format("({} + k * ({}){})", first(u), type, form.step);
  const std::string_view wraps = words_.type(wrapping_type(u.dtype()));
  return fmt::format("({0})(({1}){2} + ({1})k * ({1}){3})", type, wraps, first(u), form.step);
}

std::string VectorOperands::all(UOp u, std::int64_t lanes) {
  if (lanes_of(u) > 1) return body_.name(u);
  const LaneForm form = forms_.of(u);
  const std::string type = vector(u.dtype(), lanes);
  // The difference to zero is the number itself, -0 and all.
  if (form.step == 0) return fmt::format("({} - ({}){{0}})", first(u), type);
  const DType wraps = is_unsigned(u.dtype()) ? u.dtype() : unsigned_of(size_of(u.dtype()));
  std::string steps;
  for (std::int64_t k = 0; k < lanes; k++) {
    const std::uint64_t step =
        static_cast<std::uint64_t>(form.step) * static_cast<std::uint64_t>(k);
    const std::uint64_t kept = size_of(wraps) == 8 ? step : step & UINT32_MAX;
    steps += fmt::format("{}{}u", k ? ", " : "", kept);
  }
  return fmt::format("({})(({}){} + ({}){{{}}})", type, words_.type(wraps), first(u),
                     vector(wraps, lanes), steps);
}

std::string VectorOperands::side(UOp u, std::int64_t lanes) {
  return forms_.of(u).affine && forms_.of(u).step == 0 ? first(u) : all(u, lanes);
}

std::string VectorOperands::mask(UOp u, std::int64_t bytes, std::int64_t lanes) {
  const std::string type = mask_type(bytes, lanes);
  if (lanes_of(u) == 1) {
    return fmt::format("(({}){{0}} - ({}){})", type, words_.type(signed_of(bytes)), first(u));
  }
  return mask_bytes(u) == bytes
             ? body_.name(u)
             : fmt::format("__builtin_convertvector({}, {})", body_.name(u), type);
}

void VectorOperands::use(const Helper& macro) {
  for (const Helper& h : {instructions_header(), macro}) {
    if (std::ranges::find(types_, h.name, &Helper::name) == types_.end()) types_.push_back(h);
  }
}

}  // namespace croze::c_family
