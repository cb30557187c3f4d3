// sorting.cpp -- rows of the op table: scans, sorting, selection by rank, searching, counting.
#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"
#include "croze/tensor/reduce/sort.h"

namespace croze {

template <>
struct EnumNames<QuantileOptions::Interpolation> {
  static constexpr std::array<std::string_view, 5> names = {"linear", "lower", "higher", "midpoint",
                                                            "nearest"};
};

namespace {

using enum ResultType;
using Interpolation = QuantileOptions::Interpolation;

Tensor as_dtype(const Tensor& x, const std::optional<DType>& dtype) {
  return dtype ? x.cast(*dtype) : x;
}

constexpr auto running_sum = [](const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  return as_dtype(cumsum(as_dtype(x, dtype), dim), dtype);
};
constexpr auto running_product = [](const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  return as_dtype(cumprod(as_dtype(x, dtype), dim), dtype);
};
constexpr auto area = [](const Tensor& y, const Tensor& x, double dx, std::int64_t dim) {
  return x.defined() ? trapezoid(y, x, dim) : trapezoid(y, dx, dim);
};
constexpr auto running_area = [](const Tensor& y, double dx, std::int64_t dim) {
  return cumulative_trapezoid(y, dx, dim);
};
constexpr auto sorted = [](const Tensor& x, std::int64_t dim, bool descending, bool) {
  return sort(x, dim, descending);
};
constexpr auto sorting_order = [](const Tensor& x, std::int64_t dim, bool descending, bool) {
  return argsort(x, dim, descending);
};
constexpr auto top = [](const Tensor& x, std::int64_t k, std::int64_t dim, bool largest, bool) {
  return topk(x, k, dim, largest);
};
std::vector<Tensor> both(const ValuesAndIndices& found) { return {found.values, found.indices}; }
constexpr auto greatest = [](const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) {
  return dim ? both(max_with_indices(x, *dim, keepdim)) : std::vector<Tensor>{max(x)};
};
constexpr auto least = [](const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) {
  return dim ? both(min_with_indices(x, *dim, keepdim)) : std::vector<Tensor>{min(x)};
};
constexpr auto middle = [](const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) {
  return dim ? both(median(x, *dim, keepdim)) : std::vector<Tensor>{median(x)};
};
constexpr auto middle_of_numbers = [](const Tensor& x, std::optional<std::int64_t> dim,
                                      bool keepdim) {
  return dim ? both(nanmedian(x, *dim, keepdim)) : std::vector<Tensor>{nanmedian(x)};
};
constexpr auto at_rank = [](const Tensor& x, const Operand& q, std::optional<std::int64_t> dim,
                            bool keepdim, Interpolation interpolation) {
  return quantile(x, q, {.axis = dim, .keepdim = keepdim, .interpolation = interpolation});
};
constexpr auto at_rank_of_numbers = [](const Tensor& x, const Operand& q,
                                       std::optional<std::int64_t> dim, bool keepdim,
                                       Interpolation interpolation) {
  return nanquantile(x, q, {.axis = dim, .keepdim = keepdim, .interpolation = interpolation});
};
constexpr auto searched = [](const Tensor& sequence, const Operand& values, bool right) {
  return searchsorted(sequence, values, right);
};
constexpr auto bucket = [](const Tensor& values, const Tensor& boundaries, bool right) {
  return bucketize(values, boundaries, right);
};
constexpr auto is_in = [](const Tensor& elements, const Tensor& tested, bool, bool invert) {
  return isin(elements, tested, invert);
};

std::vector<Tensor> wanted(const UniqueResult& result, bool inverse, bool counts) {
  std::vector<Tensor> list{result.values};
  if (inverse) list.push_back(result.inverse);
  if (counts) list.push_back(result.counts);
  return list;
}
constexpr auto different = [](const Tensor& x, bool, bool return_inverse, bool return_counts,
                              std::optional<std::int64_t> dim) {
  return wanted(unique(x, dim), return_inverse, return_counts);
};
constexpr auto different_neighbours = [](const Tensor& x, bool return_inverse, bool return_counts,
                                         std::optional<std::int64_t> dim) {
  return wanted(unique_consecutive(x, dim), return_inverse, return_counts);
};

constexpr std::string_view one_axis = "t(2,3), 1 | t(2,3), 0 | t(), 0";

constexpr OpEntry ops[] = {
    {"cumsum", "input, dim, dtype=none", bind<running_sum>, anything, Sum, 2,
     "Sums of the first 1, 2, ... elements.", one_axis},
    {"cumprod", "input, dim, dtype=none", bind<running_product>, anything, Sum, 2,
     "Products of the first 1, 2, ... elements.", one_axis},
    {"logcumsumexp", "input, dim", bind<logcumsumexp>, anything, Float, 2,
     "log of the running sums of exp(input).", one_axis},
    {"cummax", "input, dim", bind<cummax>, anything, Same, 2,
     "Running maximum and its last position.", one_axis},
    {"cummin", "input, dim", bind<cummin>, anything, Same, 2,
     "Running minimum and its last position.", one_axis},
    {"diff", "input, n=1, dim=-1", bind<diff>, anything, Same, 2, "Differences of neighbours.",
     "t(2,4) | t(4,2), 2, 0"},
    {"trapezoid", "y, x=none, dx=1, dim=-1", bind<area>, anything, Float, 2,
     "Area under y by the trapezoidal rule.", "t(2,4) | t(2,4), none, 0.5, 0 | t(2,4), t(4)"},
    {"trapz", "y, x=none, dx=1, dim=-1", bind<area>, anything, Float, 2, "trapezoid.", "t(2,4)"},
    {"cumulative_trapezoid", "y, dx=1, dim=-1", bind<running_area>, anything, Float, 2,
     "Running area under y.", "t(2,4) | t(2,4), 0.5, 0"},

    {"sort", "input, dim=-1, descending=false, stable=false", bind<sorted>, anything, Same, 2,
     "Sorted, stable, NaN last; and the positions.", "t(2,5) | t(3,2), 0, true | t()"},
    {"argsort", "input, dim=-1, descending=false, stable=false", bind<sorting_order>, anything,
     Int64, 0, "Positions that sort.", "t(2,5) | t(3,2), 0, true"},
    {"msort", "input", bind<msort>, anything, Same, 2, "Sorted along axis 0.", "t(3,2)"},
    {"topk", "input, k, dim=-1, largest=true, sorted=true", bind<top>, anything, Same, 2,
     "The k greatest elements; and their positions.", "t(2,5), 2 | t(4,2), 3, 0, false"},
    {"kthvalue", "input, k, dim=-1, keepdim=false", bind<kthvalue>, anything, Same, 2,
     "The k-th least element; and its position.", "t(2,5), 2 | t(4,2), 3, 0, true"},
    {"max", "input, dim=none, keepdim=false", bind<greatest>, anything, Same, 2,
     "Greatest element; along an axis, with its position.", "t(2,3) | t(2,3), 1 | t(2,3), 0, true"},
    {"min", "input, dim=none, keepdim=false", bind<least>, anything, Same, 2,
     "Least element; along an axis, with its position.", "t(2,3) | t(2,3), 1 | t(2,3), 0, true"},
    {"median", "input, dim=none, keepdim=false", bind<middle>, anything, Same, 2,
     "The middle element; along an axis, with its position.",
     "t(2,5) | t(2,5), 1 | t(3,2), 0, true"},
    {"nanmedian", "input, dim=none, keepdim=false", bind<middle_of_numbers>, anything, Same, 2,
     "median of what is not NaN.", "t(2,5) | t(2,5), 1 | t(3,2), 0, true"},
    {"mode", "input, dim=-1, keepdim=false", bind<mode>, anything, Same, 2,
     "The most frequent element; and its position.", "t(2,5) | t(3,2), 0, true"},
    {"quantile", "input, q, dim=none, keepdim=false, interpolation='linear'", bind<at_rank>,
     floats64, Same, 2, "The number below which the part q lies.",
     "t(2,5), 0.3 | t(2,5), 0.6, 1, true, 'nearest' | t(5), t(2)@0..1, 0"},
    {"nanquantile", "input, q, dim=none, keepdim=false, interpolation='linear'",
     bind<at_rank_of_numbers>, floats64, Same, 2, "quantile of what is not NaN.",
     "t(2,5), 0.3 | t(2,5), 0.6, 1, true, 'nearest'"},
    {"searchsorted", "sorted_sequence, input, right=false", bind<searched>, anything, Int64, 0,
     "Where values stand in a sequence.", "t(5), t(2,3) | t(5), t(3), true"},
    {"bucketize", "input, boundaries, right=false", bind<bucket>, anything, Int64, 0,
     "Where values stand between boundaries.", "t(2,3), t(4)"},
    {"isin", "elements, test_elements, assume_unique=false, invert=false", bind<is_in>, anything,
     Bool, 0, "Whether elements are among others.", "t(2,3), t(4) | t(2,3), t(2), false, true"},
    {"unique", "input, sorted=true, return_inverse=false, return_counts=false, dim=none",
     bind<different>, anything, Same, 0, "The different elements.",
     "t(6) | t(6), true, true, true | t(3,2), dim=0"},
    {"unique_consecutive", "input, return_inverse=false, return_counts=false, dim=none",
     bind<different_neighbours>, anything, Same, 0, "Without repetitions of neighbours.",
     "t(6) | t(6), true, true"},
    {"bincount", "input, weights=none, minlength=0", bind<bincount>, integers, Given, 0,
     "How often 0, 1, 2, ... occur.", "t(6)@0..4 | t(6)@0..4, none, 8"},
    {"histc", "input, bins=100, min=0, max=0", bind<histc>, anything, Same, 0,
     "How many elements lie in equal parts.", "t(9), 4 | t(9), 3, -1, 1"},
};

}  // namespace

std::span<const OpEntry> sorting_ops() { return ops; }

}  // namespace croze
