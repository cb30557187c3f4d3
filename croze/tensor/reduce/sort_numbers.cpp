// sort_numbers.cpp -- sorting networks in columns, and merges that are networks, too.
//
// Numbers stand in columns of 32 (rows, height, columns), so that a vector holds the same place of
// as many columns.  A comparator is a minimum and a maximum of two such vectors: all columns are
// sorted by one network (Batcher 1968), a kernel without a single decision.
//
// A run is some neighbouring columns, ascending down a column and on to the next.  Two runs are
// merged column by column: a binary search finds how many of the numbers before a column of the
// result come from the left run.  So the column holds the least of the next 32 of the left and the
// next 32 of the right run.  The one ascending beside the other descending, the minima of each pair
// are these, as a bitonic sequence, which the second half of the network sorts.  Every column is
// made on its own, so a merge is two parallel kernels, and gathers are all that it loads.
//
// The k least of many are found in two rounds.  Of blocks, the k with the least minima hold them:
// any other block's minimum is greater than k numbers.  Where runs are merged they never grow
// beyond k.
#include "croze/tensor/reduce/sort_numbers.h"

#include <algorithm>
#include <bit>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {
namespace {

// Of columns: 32 vectors are what machines with wide vectors have registers for.
constexpr std::int64_t most_height = 32;

// Greater than every number: fills up.
constexpr std::int64_t none = INT64_MAX;

std::int64_t power_of_two_from(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}

// The number of blocks is a multiple, so that vectors and threads share them evenly.
constexpr std::int64_t even_blocks = 64;

// ---- networks ---------------------------------------------------------------------------------

// x (rows, 2, .., 2, columns): where axis `first` is 0 the lesser of each number and its partner,
// where it is 1 the greater.  The partner stands at the other end of axes first..last.  (Halves are
// taken at places that are known, so that stages below them are made once for both.)
Tensor compared(const Tensor& x, int first, int last, Location at) {
  Shape others, line;
  for (int axis = first + 1; axis <= last; axis++) others.push_back(axis);
  for (int axis = 0; axis < x.ndim(); axis++) line.push_back(axis == first ? 2 : 1);
  const auto turned = [&](const Tensor& v) { return others.empty() ? v : flip(v, others, at); };
  const auto half = [&](int i) { return expand(narrow(x, first, i, 1, at), x.shape(), at); };
  const Tensor upper = half(0), lower = turned(half(1));
  const Tensor is_upper = reshape(Tensor::arange(2, {}, at), line, at) == 0;
  return where(is_upper, minimum(upper, lower), turned(maximum(upper, lower)));
}

// Bitonic sequences down axes first..last become ascending.
Tensor sorted_bitonic(Tensor x, int first, int last, Location at) {
  for (int axis = first; axis <= last; axis++) x = compared(x, axis, axis, at);
  return x;
}

// (rows, height, columns) with an axis for each bit of the place in a column.
Tensor in_bits(const Tensor& x, Location at) {
  Shape shape{x.size(0)};
  for (std::int64_t size = x.size(1); size > 1; size /= 2) shape.push_back(2);
  shape.push_back(x.size(2));
  return reshape(x, shape, at);
}

Tensor sorted_columns(const Tensor& x, Location at) {
  Tensor v = in_bits(x, at);
  const int last = v.ndim() - 2;
  for (int first = last; first >= 1; first--) {
    v = sorted_bitonic(compared(v, first, last, at), first + 1, last, at);
  }
  return reshape(v, x.shape(), at).contiguous(at);
}

// ---- runs -------------------------------------------------------------------------------------

// Columns (rows, height, columns) of which so many neighbours make a run.
struct Runs {
  Tensor columns;
  std::int64_t width;

  std::int64_t height() const { return columns.size(1); }
  std::int64_t count() const { return columns.size(2) / width; }
};

// Of run g of the first half and run g of the second half, for each g: (rows, g, columns).
class Merge {
 public:
  // Of each result the first `width` columns are made.
  Merge(const Runs& from, std::int64_t width, Location at)
      : from_(from), width_(width), at_(at), length_(from.width * from.height()) {
    const std::int64_t rows = from.columns.size(0), runs = from.count() / 2;
    shape_ = {rows, runs, width};
    flat_ = reshape(from.columns, {rows, -1}, at);
    run_ = reshape(numbers(runs), {1, runs, 1}, at) * from.width;
    before_ = expand(reshape(numbers(width), {1, 1, width}, at) * from.height(), shape_, at);
  }

  Runs result() const {
    const std::int64_t height = from_.height();
    const Tensor left = unsqueeze(taken_from_left(), 1, at_);
    const Tensor place = reshape(numbers(height), {1, height, 1, 1}, at_);
    const Tensor i = left + place;
    const Tensor j = unsqueeze(before_, 1, at_) - left + (height - 1 - place);
    const Tensor least = minimum(element_or_none(i, false), element_or_none(j, true));
    const Tensor bits = in_bits(flatten(least, 2, 3, at_), at_);
    const Tensor sorted = sorted_bitonic(bits, 1, bits.ndim() - 2, at_);
    return {reshape(sorted, {shape_[0], height, shape_[1] * width_}, at_).contiguous(at_), width_};
  }

 private:
  Tensor numbers(std::int64_t n) const { return Tensor::arange(n, {.dtype = DType::Int32}, at_); }

  // Number i of each left, or right, run; i (rows, .., g, columns).
  Tensor element(const Tensor& i, bool right) const {
    const std::int64_t columns = from_.columns.size(2), height = from_.height();
    const std::int64_t first = right ? columns / 2 : 0;
    const Tensor column =
        run_ + first + (i >> std::countr_zero(static_cast<std::uint64_t>(height)));
    const Tensor place = (i & (height - 1)) * columns + column;
    return reshape(gather(flat_, -1, reshape(place, {shape_[0], -1}, at_), at_), i.shape(), at_);
  }

  Tensor element_or_none(const Tensor& i, bool right) const {
    return where(i < length_, element(i, right), none);
  }

  // How many of the numbers before each column come from the left run: they are its first ones, so
  // their number grows by powers of two as long as the last of them belongs to these.
  Tensor taken_from_left() const {
    Tensor left = Tensor::zeros_like(before_);
    if (width_ == 1) return left;
    for (std::int64_t step = length_; step > 0; step /= 2) {
      const Tensor more = left + step, right = before_ - more;
      const Tensor fits = (more <= before_) & (more <= length_);
      const Tensor precedes =
          (right >= length_) | (element(more - 1, false) < element(right, true));
      left = where(fits & precedes, more, left);
    }
    return left.contiguous(at_);
  }

  Runs from_;
  std::int64_t width_;  // of the results
  Location at_;
  std::int64_t length_;  // of the runs
  Shape shape_;
  Tensor flat_;
  Tensor run_;     // the column that a left run begins in
  Tensor before_;  // how many numbers of the result come before each column
};

// The least numbers, ascending, in at least k of one run.
Tensor least_in_order(const Tensor& x, std::int64_t k, Location at) {
  const std::int64_t n = x.size(1), height = std::min(most_height, power_of_two_from(n));
  const std::int64_t size = std::max(height, power_of_two_from(n));
  const Tensor filled = pad(x, {0, size - n}, none, at);
  const std::int64_t most_width = power_of_two_from((k + height - 1) / height);
  Runs runs{sorted_columns(unflatten(filled, 1, {height, size / height}, at), at), 1};
  while (runs.count() > 1) {
    runs = Merge(runs, std::min(2 * runs.width, most_width), at).result();
  }
  return flatten(transpose(runs.columns, 1, 2, at), 1, 2, at);
}

// How many numbers to a block, so that there are few minima and few numbers in k blocks.
std::int64_t block_size(std::int64_t n, std::int64_t k) {
  std::int64_t size = 1;
  while (4 * size * size * k <= 2 * n) size *= 2;
  return size;
}

}  // namespace

Tensor sorted_numbers(const Tensor& x, Location at) {
  return narrow(least_in_order(x, x.size(1), at), 1, 0, x.size(1), at);
}

Tensor least_numbers(const Tensor& x, std::int64_t k, NumberOf number_of, Location at) {
  const std::int64_t n = x.size(1), size = block_size(n, k);
  const Tensor numbers = number_of(x, Tensor::arange(n, {}, at));
  if (size < 4) return narrow(least_in_order(numbers, k, at), 1, 0, k, at);
  const std::int64_t blocks = (n + size * even_blocks - 1) / (size * even_blocks) * even_blocks;
  const Tensor filled = pad(numbers, {0, blocks * size - n}, none, at);
  const Tensor minima = min(unflatten(filled, 1, {size, blocks}, at), 1, false, at).contiguous(at);
  const Tensor best = narrow(least_in_order(minima, k, at), 1, 0, k, at);
  const Tensor block = ((best & 0xffff'ffff) % blocks).contiguous(at);
  const Tensor member = reshape(Tensor::arange(size, {}, at) * blocks, {1, size, 1}, at);
  const Tensor place = flatten(unsqueeze(block, 1, at) + member, 1, 2, at);
  const Tensor candidates = where(place < n, number_of(gather(x, 1, place, at), place), none);
  return narrow(least_in_order(candidates.contiguous(at), k, at), 1, 0, k, at);
}

}  // namespace croze
