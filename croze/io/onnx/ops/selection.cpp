// selection.cpp -- operators whose result is a choice of elements.  Where its size depends on the
// values they are read and the choice is made on the host.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "croze/io/onnx/ops/ops.h"
#include "croze/tensor/reduce/sort.h"

namespace croze::onnx {
namespace {

// One row of positions per axis.
Results non_zero(const NodeCall& call) { return {nonzero(call[0]).transpose(0, 1)}; }

Results compress(const NodeCall& call) {
  const bool flat = !call.has_attribute("axis");
  const Tensor x = flat ? call[0].flatten() : call[0];
  const std::int64_t axis = flat ? 0 : checked_axis(call.integer("axis", 0), x.ndim());
  const Ints flags = call.integers(1);
  Ints places;
  for (std::size_t i = 0; i < flags.size(); i++) {
    if (flags[i] != 0) places.push_back(static_cast<std::int64_t>(i));
  }
  check(places.empty() || places.back() < x.size(axis), "{} flags for {} elements", flags.size(),
        x.size(axis));
  return {take_positions(x, axis, places)};
}

// ---- TopK -------------------------------------------------------------------------------------

Results top_k(const NodeCall& call) {
  const Tensor& x = call[0];
  const std::int64_t axis = checked_axis(call.integer("axis", -1), x.ndim());
  const std::int64_t k = call.version() < 10 ? call.required_integer("k") : call.integer(1);
  const auto [values, index] = topk(x, k, axis, call.flag("largest", true));
  return {call.like(0, values), index};
}

// ---- Unique -----------------------------------------------------------------------------------

// Integers in the order of the elements: NaN is equal to itself and comes last, zeros are equal.
Ints keys_of(const Tensor& x) {
  if (x.dtype() == DType::UInt64) return keys_of(x.bitcast(DType::Int64) ^ min_value(DType::Int64));
  if (!is_float(x.dtype())) return x.to_vector<std::int64_t>();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  Ints keys;
  for (double v : x.to_vector<double>()) {
    const auto bits = std::bit_cast<std::int64_t>(v + 0.0);
    keys.push_back(std::isnan(v) ? most : bits < 0 ? bits ^ most : bits);
  }
  return keys;
}

// Slices along the axis (or all elements) without repetitions.
Results unique(const NodeCall& call) {
  const bool flat = !call.has_attribute("axis");
  const Tensor x = flat ? call[0].flatten() : call[0];
  const std::int64_t axis = flat ? 0 : checked_axis(call.integer("axis", 0), x.ndim());
  const std::int64_t count = x.size(axis);
  const Ints values = keys_of(movedim(x, axis, 0));
  const std::size_t width = count == 0 ? 0 : values.size() / static_cast<std::size_t>(count);
  std::map<Ints, std::size_t> seen;  // slice -> number in order of appearance
  Ints firsts, inverse, counts;
  for (std::int64_t i = 0; i < count; i++) {
    const auto begin = values.begin() + i * static_cast<std::ptrdiff_t>(width);
    const Ints slice(begin, begin + static_cast<std::ptrdiff_t>(width));
    const auto [it, is_new] = seen.emplace(slice, firsts.size());
    if (is_new) {
      firsts.push_back(i);
      counts.push_back(0);
    }
    counts[it->second]++;
    inverse.push_back(static_cast<std::int64_t>(it->second));
  }
  if (call.flag("sorted", true)) {
    Ints sorted_firsts, sorted_counts, rank(firsts.size());
    for (const auto& [slice, number] : seen) {
      rank[number] = static_cast<std::int64_t>(sorted_firsts.size());
      sorted_firsts.push_back(firsts[number]);
      sorted_counts.push_back(counts[number]);
    }
    for (std::int64_t& number : inverse) number = rank[static_cast<std::size_t>(number)];
    firsts = std::move(sorted_firsts);
    counts = std::move(sorted_counts);
  }
  return {take_positions(x, axis, firsts), vector_of(firsts), vector_of(inverse),
          vector_of(counts)};
}

// ---- NonMaxSuppression ------------------------------------------------------------------------

struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

// Two corners in any order, or center and size.
Box box_from(const double* b, bool center) {
  if (center) return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

struct Limits {
  std::int64_t count;
  double overlap, score;
  bool has_score;
};

// The best boxes of one class that overlap no better one, best first.
Ints chosen_boxes(std::span<const Box> boxes, std::span<const double> scores,
                  const Limits& limits) {
  Ints order;
  for (std::size_t i = 0; i < boxes.size(); i++) {
    if (!limits.has_score || scores[i] > limits.score)
      order.push_back(static_cast<std::int64_t>(i));
  }
  const auto score = [&](std::int64_t i) { return scores[static_cast<std::size_t>(i)]; };
  std::ranges::stable_sort(order, [&](auto a, auto b) { return score(a) > score(b); });
  Ints chosen;
  for (std::int64_t i : order) {
    if (static_cast<std::int64_t>(chosen.size()) >= limits.count) break;
    const bool hidden = std::ranges::any_of(chosen, [&](std::int64_t better) {
      const Box &a = boxes[static_cast<std::size_t>(i)],
                &b = boxes[static_cast<std::size_t>(better)];
      return overlap(a, b) > limits.overlap;
    });
    if (!hidden) chosen.push_back(i);
  }
  return chosen;
}

Results non_max_suppression(const NodeCall& call) {
  const Tensor &boxes = call[0], &scores = call[1];
  check(boxes.ndim() == 3 && boxes.size(2) == 4 && scores.ndim() == 3 &&
            scores.size(0) == boxes.size(0) && scores.size(2) == boxes.size(1),
        "boxes of shape {} and scores of shape {}", to_text(boxes.shape()),
        to_text(scores.shape()));
  const Limits limits{.count = call.integer_or(2, 0),
                      .overlap = call.has(3) ? call.number(3) : 0,
                      .score = call.has(4) ? call.number(4) : 0,
                      .has_score = call.has(4)};
  const bool center = call.flag("center_point_box");
  const std::vector<double> corners = call.numbers(0), values = call.numbers(1);
  const auto count = static_cast<std::size_t>(boxes.size(1));
  Ints rows;
  for (std::int64_t batch = 0; batch < boxes.size(0); batch++) {
    std::vector<Box> all;
    for (std::size_t i = 0; i < count; i++) {
      all.push_back(box_from(&corners[(static_cast<std::size_t>(batch) * count + i) * 4], center));
    }
    for (std::int64_t c = 0; c < scores.size(1); c++) {
      const auto begin = static_cast<std::size_t>(batch * scores.size(1) + c) * count;
      for (std::int64_t i : chosen_boxes(all, std::span(values).subspan(begin, count), limits)) {
        rows.insert(rows.end(), {batch, c, i});
      }
    }
  }
  return {Tensor::from_data(rows, {static_cast<std::int64_t>(rows.size()) / 3, 3})};
}

// clang-format off
constexpr Operator table[] = {
  {"Compress", 9, compress},
  {"NonMaxSuppression", 10, non_max_suppression},
  {"NonZero", 9, non_zero},
  {"TopK", 1, top_k},
  {"Unique", 11, unique},
};
// clang-format on

}  // namespace

std::span<const Operator> selection_operators() { return table; }

}  // namespace croze::onnx
