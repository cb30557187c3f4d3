// cast.cpp -- chains of casts.  Each rule removes a cast or moves it into constants.
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

using namespace captures;

// Bits of significand: integers up to 2^bits are exact.
int significand_bits(DType t) {
  switch (t) {
    case DType::Float8E4M3:
    case DType::Float8E4M3FNUZ: return 4;
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ: return 3;
    case DType::Float16: return 11;
    case DType::BFloat16: return 8;
    case DType::Float32: return 24;
    default: return 53;
  }
}

// Whether every finite and special value of float type `from` is one of `to`.
bool widens(DType from, DType to) {
  if (to == DType::Float64) return true;
  if (to == DType::Float32) return from != DType::Float64;
  return false;
}

bool fits_integer(UOp v, DType to) {
  if (to == DType::UInt64) return v.lo() >= 0;
  if (v.dtype() == DType::UInt64 && v.hi() == INT64_MAX) return false;
  return min_value(to) <= v.lo() && v.hi() <= max_value(to);
}

// Whether the cast of `v` to `to` keeps its value.
bool is_exact(UOp v, DType to) {
  if (is_float(v.dtype())) return is_float(to) && widens(v.dtype(), to);
  if (!is_float(to)) return fits_integer(v, to);
  const std::int64_t limit = std::int64_t{1} << significand_bits(to);
  return -limit <= v.lo() && v.hi() <= limit;
}

// cast(cast(x)) is cast(x) if the inner cast loses nothing that the outer one would keep.
UOp merge_casts(const Match& m) {
  const UOp v = m[x];
  const DType outer = m.root.dtype(), inner = m[n].dtype(), own = v.dtype();
  // Of integers, the low bits are the same either way.
  const bool sized = !is_float(own) && !is_float(inner) && !is_float(outer) &&
                     outer != DType::Index && outer != DType::Bool && inner != DType::Bool &&
                     (inner == DType::Index || size_of(outer) <= size_of(inner));
  // An integer that went through a float saturates, and would wrap without it.
  const bool detour = is_float(inner) && !is_float(own) && !is_float(outer) && outer != DType::Bool;
  const bool exact = is_exact(v, inner) && (!detour || fits_integer(v, outer));
  return sized || exact ? m.graph.cast(v, outer) : UOp();
}

// A widening through which a comparison or an integer op could be done narrower is left alone: that
// is a choice of codegen.
// clang-format off
constexpr Pattern bitcast(const Pattern& p) { return {Op::Bitcast, {p}}; }
constexpr Types not_bool = any_type & ~bools;  // of a byte, Bool keeps only whether it is 0

constexpr Rule casts[] = {
    rule(cast(n(cast(x))),                      merge_casts),
    rule(cast(where(a, k, l)),                  where(a, cast(k), cast(l))),
    rule(bitcast(bitcast(x).of(not_bool)),      bitcast(x)),
};

constexpr Rule integer_casts[] = {
    rule(n(cast(a)) * x.of(ints),               where(a, x, 0)),
};
// clang-format on

}  // namespace

const RuleList& cast_list() {
  static constexpr RuleList list{"cast", Numbers::All, casts};
  return list;
}

const RuleList& integer_cast_list() {
  static constexpr RuleList list{"integer cast", Numbers::Wrapping, integer_casts};
  return list;
}

const RuleSet& cast_rules() {
  static const RuleSet& set = *new RuleSet("cast", {cast_list(), integer_cast_list()});
  return set;
}

}  // namespace croze
