// box_fill.cpp -- the axes of a buffer, found in an index and its gate.
//
//     a[line * 1000 + turn * 64 + term]   if turn * 64 + term < 1000 and line < 70
// is an element of 70 rows of 1000.  Each part of the gate says how long an axis is, and the
// coordinate on it; how far a step goes says the index.  What is left of the index has no end of
// its own: shorter steps than that of a row belong to the place in the row, others to the number of
// the row, and if the gate has said what these are, to a third axis.
#include "croze/codegen/edits/warps/box_fill.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "croze/codegen/edits/tile_axes.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr std::size_t most_axes = 5;
constexpr std::int64_t most_elements = std::numeric_limits<std::int32_t>::max(), stride_bytes = 16,
                       most_stride_bytes = std::int64_t{1} << 40;

auto has(UOp range) {
  return [range](const BoxAxis& a) { return a.coordinate.coefficient(range) != 0; };
}

class BoxAxes {
 public:
  BoxAxes(UOp place, UOp along, UOp across)
      : place_(place), along_(along), across_(across), rest_(LinearForm::of(place.src(1))) {}

  std::optional<std::vector<BoxAxis>> run() {
    if (!is_plain() || !take_gate() || !take_rest()) return {};
    const auto first = std::ranges::find(axes_, true, has(along_));
    if (first == axes_.end()) return {};
    std::rotate(axes_.begin(), first, first + 1);
    std::ranges::stable_sort(axes_.begin() + 1, axes_.end(), {}, &BoxAxis::stride);
    if (!are_possible()) return {};
    return std::move(axes_);
  }

 private:
  // Where it is follows from loops and numbers of the launch; the buffer has a size.
  bool is_plain() const {
    const UOp buffer = place_.src(0);
    if (!buffer.is(Op::Param) || buffer.num_src() > 0) return false;
    const std::vector<UOp> nodes = toposort(place_);
    return std::ranges::none_of(nodes, [](UOp u) { return u.is(Op::Load) || u.is_open(); });
  }

  // ---- what the gate says ----

  bool take_gate() {
    std::vector<UOp> parts;
    if (gate_of(place_)) parts.push_back(gate_of(place_));
    for (std::size_t i = 0; i < parts.size(); i++) {
      const UOp part = parts[i];
      if (part.is(Op::And)) {
        parts.insert(parts.end(), {part.src(0), part.src(1)});
      } else if (!take_comparison(part)) {
        return false;
      }
    }
    return true;
  }

  bool take_comparison(UOp part) {
    const bool is_end =
        part.is(Op::Lt) && part.src(0).dtype() == DType::Index && part.src(1).is_const();
    if (!is_end) return false;
    LinearForm coordinate = LinearForm::of(part.src(0));
    const std::int64_t size = part.src(1).const_int() - std::exchange(coordinate.constant, 0);
    if (coordinate.terms.empty()) return false;
    const Term& term = coordinate.terms[0];
    const std::int64_t stride = rest_.coefficient(term.atom) / term.coefficient;
    for (const Term& t : coordinate.terms) {
      if (rest_.coefficient(t.atom) != stride * t.coefficient) return false;
    }
    if (stride < 1) return false;
    rest_.add(coordinate, -stride);
    axes_.push_back({std::move(coordinate), stride, size});
    return true;
  }

  // ---- what is left ----

  bool take_rest() {
    const auto is_row = std::ranges::find(axes_, true, has(across_)),
               in_row = std::ranges::find(axes_, true, has(along_));
    const bool has_rows = is_row != axes_.end(), has_places = in_row != axes_.end();
    const std::int64_t row = has_rows ? is_row->stride : rest_.coefficient(across_);
    if (row < 1) return false;
    LinearForm place, number, others;
    for (const Term& t : rest_.terms) {
      const bool is_whole = t.coefficient % row == 0, is_short = t.coefficient < row;
      if (!has_rows && is_whole) {
        number.add(t.atom, t.coefficient / row);
      } else if (!has_places && is_short) {
        place.add(t.atom, t.coefficient);
      } else {
        others.add(t.atom, t.coefficient);
      }
    }
    if (!has_places) add_axis(std::move(place), 1);
    if (!has_rows) add_axis(std::move(number), row);
    add_others(std::move(others));
    add_constant(row);
    return true;
  }

  void add_axis(LinearForm coordinate, std::int64_t stride) {
    const std::int64_t size = coordinate.bounds().hi + 1;
    axes_.push_back({std::move(coordinate), stride, size});
  }

  void add_others(LinearForm others) {
    if (others.terms.empty()) return;
    std::int64_t stride = 0;
    for (const Term& t : others.terms) stride = std::gcd(stride, t.coefficient);
    for (Term& t : others.terms) t.coefficient /= stride;
    add_axis(std::move(others), stride);
  }

  // A view that begins inside of a buffer.
  void add_constant(std::int64_t row) {
    for (BoxAxis& a : axes_) {
      const bool is_row = has(across_)(a);
      if (!is_row && !has(along_)(a)) continue;
      const std::int64_t before = is_row ? rest_.constant / row : rest_.constant % row;
      a.coordinate.constant += before;
      a.size += before;
    }
  }

  // ---- what the device can do ----

  bool are_possible() const {
    const std::int64_t element = size_of(place_.dtype());
    const auto is_possible = [&](const BoxAxis& a) {
      const bool is_along = has(along_)(a), is_across = has(across_)(a);
      const std::int64_t bytes = a.stride * element;
      return a.size > 0 && a.size <= most_elements && a.coordinate.bounds().lo >= 0 &&
             (is_along ? a.stride == 1 && !is_across
                       : bytes % stride_bytes == 0 && bytes < most_stride_bytes) &&
             steps_by_one(a, along_, is_along) && steps_by_one(a, across_, is_across);
    };
    return axes_.size() <= most_axes && rest_.constant >= 0 &&
           std::ranges::all_of(axes_, is_possible);
  }

  // Or does not vary over the range at all.
  static bool steps_by_one(const BoxAxis& a, UOp range, bool does) {
    return std::ranges::all_of(a.coordinate.terms, [&](const Term& t) {
      return t.atom == range ? does && t.coefficient == 1 : !t.atom.varies_over(range);
    });
  }

  UOp place_, along_, across_;
  LinearForm rest_;  // of the index, that is on no axis
  std::vector<BoxAxis> axes_;
};

}  // namespace

std::optional<std::vector<BoxAxis>> box_axes(UOp place, UOp along, UOp across) {
  return BoxAxes(place, along, across).run();
}

}  // namespace croze
