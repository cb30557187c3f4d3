// region.cpp -- regions as sums of strides.
//
// Two regions are apart if their intervals are, or if they are in one of two digits: an index is
// q * m + r, and where neither region carries from r to q, it is enough that they are apart in r,
// as two columns of a matrix are, or in q, as two blocks of rows.
#include "croze/schedule/memory/region.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "croze/graph/index/index_form.h"

namespace croze {
namespace {

// Beyond that the bounds of an index are no bounds.
constexpr std::int64_t most = std::int64_t{1} << 48;

Region whole(std::int64_t elements) {
  Region r{.is_exact = false};
  if (elements > 1) r.axes.push_back({1, elements});
  return r;
}

// Sorts the axes, and makes one of two where a step of the outer is a walk along the inner.
void normalise(Region& r) {
  std::ranges::sort(r.axes, std::ranges::greater(), &Region::Axis::stride);
  SmallVector<Region::Axis, 4> axes;
  for (const Region::Axis& a : r.axes) {
    if (!axes.empty() && axes.back().stride == a.stride * a.count) {
      axes.back() = {a.stride, a.count * axes.back().count};
    } else {
      axes.push_back(a);
    }
  }
  // Two places may be one element then, which changes no answer.
  r.axes = std::move(axes);
}

bool is_interval(const Region& r) {
  return r.axes.empty() || (r.axes.size() == 1 && r.axes[0].stride == 1);
}

// The quotients and the remainders of a region divided by m.
struct Digits {
  Region high, low;
};

// False if remainders carry.
bool divided(const Region& r, std::int64_t m, Digits& digits) {
  digits.high.first = r.first / m;
  digits.low.first = r.first % m;
  for (const Region::Axis& a : r.axes) {
    if (a.stride % m == 0) {
      digits.high.axes.push_back({a.stride / m, a.count});
    } else {
      digits.low.axes.push_back(a);
    }
  }
  return digits.low.last() < m;
}

bool are_apart_by(std::int64_t m, const Region& a, const Region& b) {
  Digits of_a, of_b;
  if (m <= 1 || !divided(a, m, of_a) || !divided(b, m, of_b)) return false;
  return are_disjoint(of_a.low, of_b.low) || are_disjoint(of_a.high, of_b.high);
}

}  // namespace

std::int64_t Region::last() const {
  std::int64_t last = first;
  for (const Axis& a : axes) last += a.stride * (a.count - 1);
  return last;
}

Region region_of(UOp place) {
  return region_of(place.src(1), place.src(0).buffer_elements(), place.num_src() > 2);
}

Region region_of(UOp flat, std::int64_t elements, bool is_gated) {
  if (flat.lo() < 0 || flat.hi() >= elements || elements > most) return whole(elements);
  const LinearForm form = LinearForm::of(flat);
  Region r{.first = form.constant, .is_exact = !is_gated};
  for (const Term& t : form.terms) {
    const std::int64_t lo = t.atom.lo(), hi = t.atom.hi();
    if (lo < -most || hi > most || std::abs(t.coefficient) > most) return whole(elements);
    std::int64_t from = 0, reach = 0;
    if (__builtin_mul_overflow(t.coefficient, t.coefficient > 0 ? lo : hi, &from) ||
        __builtin_mul_overflow(std::abs(t.coefficient), hi - lo, &reach)) {
      return whole(elements);
    }
    r.first += from;
    r.is_exact = r.is_exact && t.atom.is(Op::Range);
    if (hi > lo) r.axes.push_back({std::abs(t.coefficient), hi - lo + 1});
  }
  normalise(r);
  // The atoms are not independent: the bounds of the whole are closer.
  if (r.first < 0 || r.last() >= elements) return whole(elements);
  return r;
}

bool are_disjoint(const Region& a, const Region& b) {
  if (a.last() < b.first || b.last() < a.first) return true;
  if (is_interval(a) && is_interval(b)) return false;
  for (const Region* r : {&a, &b}) {
    for (const Region::Axis& axis : r->axes) {
      if (are_apart_by(axis.stride, a, b)) return true;
    }
  }
  return false;
}

bool covers(const Region& whole, const Region& part) {
  if (!whole.is_exact) return false;
  if (is_interval(whole)) return whole.first <= part.first && part.last() <= whole.last();
  return whole.first == part.first && whole.axes == part.axes;
}

}  // namespace croze
