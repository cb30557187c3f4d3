// text.cpp -- operators on texts, on the host.  Texts pass through models beside the numbers.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "croze/base/checked.h"
#include "croze/io/onnx/ops/ops.h"
#include "croze/io/onnx/ops/re2_pattern.h"
#include "croze/io/onnx/ops/texts.h"
#include "croze/run/buffers.h"
#include "croze/run/memory_limit.h"

namespace croze::onnx {
namespace {

// The shape that two shapes broadcast to.
Shape broadcast(const Shape& a, const Shape& b) {
  Shape shape = a.size() >= b.size() ? a : b;
  const Shape& other = a.size() >= b.size() ? b : a;
  for (int i = 1; i <= other.size(); i++) {
    std::int64_t& size = shape[shape.size() - i];
    const std::int64_t given = other[other.size() - i];
    check(size == given || size == 1 || given == 1, "shapes {} and {} do not broadcast", to_text(a),
          to_text(b));
    if (size == 1) size = given;
  }
  return shape;
}

// The element of `x` that stands at flat position i of `shape`.
const std::string& broadcast_element(const TextArray& x, const Shape& shape, std::int64_t i) {
  std::int64_t place = 0, stride = 1;
  for (int k = 1; k <= shape.size(); k++) {
    const std::int64_t position = i % shape[shape.size() - k];
    i /= shape[shape.size() - k];
    if (k > x.shape.size()) continue;
    const std::int64_t size = x.shape[x.shape.size() - k];
    place += size == 1 ? 0 : position * stride;
    stride *= size;
  }
  return x.elements[static_cast<std::size_t>(place)];
}

// What texts of so many elements, with so many bytes in them, may take beside the tensors.
void check_texts(std::int64_t elements, std::int64_t bytes) {
  const std::int64_t all = checked_add(checked_mul(elements, sizeof(std::string)), bytes);
  check_memory(all, memory_use().bytes, fmt::format("{} texts", elements));
}

std::int64_t bytes_of(const TextArray& x) {
  std::int64_t bytes = 0;
  for (const std::string& text : x.elements) bytes += std::ssize(text);
  return bytes;
}

Results concat(const NodeCall& call) {
  const TextArray &a = call.value(0).texts(), &b = call.value(1).texts();
  TextArray result{broadcast(a.shape, b.shape), {}};
  const std::int64_t elements = result.shape.numel();
  std::int64_t bytes = 0;
  for (const TextArray* x : {&a, &b}) {
    const std::int64_t repeats = elements / std::max<std::int64_t>(std::ssize(x->elements), 1);
    bytes = checked_add(bytes, checked_mul(bytes_of(*x), repeats));
  }
  check_texts(elements, bytes);
  for (std::int64_t i = 0; i < elements; i++) {
    result.elements.push_back(broadcast_element(a, result.shape, i) +
                              broadcast_element(b, result.shape, i));
  }
  return {std::move(result)};
}

Results full_match(const NodeCall& call) {
  const TextArray& x = call.value(0).texts();
  check(call.has_attribute("pattern"), "a node without a pattern");
  const TextPattern pattern = re2_pattern(call.text("pattern", ""));
  if (x.elements.empty()) return {Tensor::zeros(x.shape, {.dtype = DType::Bool})};
  std::vector<std::uint8_t> values;
  for (const std::string& text : x.elements) {
    values.push_back(TextMatcher(pattern, text).is_all() ? 1 : 0);
  }
  return {Tensor::from_data(values, x.shape).cast(DType::Bool)};
}

// ---- splitting --------------------------------------------------------------------------------

constexpr std::string_view white_space = " \t\n\v\f\r";

// At white space, of which any amount separates, or at each delimiter; at most `limit` times.
std::vector<std::string> parts_of(std::string_view text, std::string_view delimiter,
                                  std::int64_t limit) {
  std::vector<std::string> parts;
  const bool at_white_space = delimiter.empty();
  if (at_white_space)
    text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
  while (!text.empty() || !at_white_space) {
    const bool more = static_cast<std::int64_t>(parts.size()) < limit;
    const std::size_t end = !more            ? text.npos
                            : at_white_space ? text.find_first_of(white_space)
                                             : text.find(delimiter);
    parts.emplace_back(text.substr(0, end));
    if (end == text.npos) break;
    text.remove_prefix(end + (at_white_space ? 1 : delimiter.size()));
    if (at_white_space) {
      text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
    }
  }
  if (at_white_space && !parts.empty()) {
    std::string& last = parts.back();
    last.erase(last.find_last_not_of(white_space) + 1);
  }
  return parts;
}

Results split_texts(const NodeCall& call) {
  const TextArray& x = call.value(0).texts();
  const std::int64_t limit = call.integer("maxsplit", std::numeric_limits<std::int64_t>::max());
  std::vector<std::vector<std::string>> all;
  std::size_t most = 0;
  for (const std::string& text : x.elements) {
    all.push_back(text.empty() ? std::vector<std::string>()
                               : parts_of(text, call.text("delimiter", ""), limit));
    most = std::max(most, all.back().size());
  }
  check_texts(checked_mul(std::ssize(all), static_cast<std::int64_t>(most)), bytes_of(x));
  TextArray parts{x.shape, {}};
  parts.shape.push_back(static_cast<std::int64_t>(most));
  Ints counts;
  for (std::vector<std::string>& row : all) {
    counts.push_back(static_cast<std::int64_t>(row.size()));
    row.resize(most);
    parts.elements.insert(parts.elements.end(), row.begin(), row.end());
  }
  return {std::move(parts), Tensor::from_data(counts, x.shape)};
}

// ---- StringNormalizer -------------------------------------------------------------------------

// ASCII letters; others stay, as in the C locale.
std::string with_case(std::string text, std::string_view action) {
  for (char& c : text) {
    if (action == "LOWER" && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (action == "UPPER" && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

// Removes stop words and changes the case.
Results normalize(const NodeCall& call) {
  const TextArray& x = call.value(0).texts();
  const bool exact = call.flag("is_case_sensitive");
  const std::string_view action = call.text("case_change_action", "NONE");
  const auto comparable = [&](std::string_view text) {
    return exact ? std::string(text) : with_case(std::string(text), "LOWER");
  };
  std::vector<std::string> stops;
  for (std::string_view word : call.texts("stopwords")) stops.push_back(comparable(word));
  TextArray result;
  for (const std::string& text : x.elements) {
    const bool is_stop = std::ranges::find(stops, comparable(text)) != stops.end();
    if (!is_stop) result.elements.push_back(with_case(text, action));
  }
  if (result.elements.empty()) result.elements.emplace_back();
  const auto count = static_cast<std::int64_t>(result.elements.size());
  result.shape = x.shape.size() == 2 ? Shape{1, count} : Shape{count};
  return {std::move(result)};
}

// ---- TfIdfVectorizer --------------------------------------------------------------------------

// One entry of the vocabulary: n items and where its count goes.
struct Pool {
  std::map<std::vector<std::string>, std::int64_t> columns;
  std::int64_t width = 0;
};

// ngram_counts[k] says where in the pool the (k+1)-grams begin.
Pool pool_of(const NodeCall& call) {
  std::vector<std::string> items;
  for (std::string_view text : call.texts("pool_strings")) items.emplace_back(text);
  for (std::int64_t number : call.integers("pool_int64s")) items.push_back(std::to_string(number));
  const Ints begins = call.integers("ngram_counts"), columns = call.integers("ngram_indexes");
  Pool pool;
  std::size_t entry = 0;
  const auto total = static_cast<std::int64_t>(items.size());
  for (std::size_t k = 0; k < begins.size(); k++) {
    const std::int64_t end = k + 1 < begins.size() ? begins[k + 1] : total;
    const auto n = static_cast<std::int64_t>(k + 1);
    for (std::int64_t i = begins[k]; i >= 0 && i + n <= std::min(end, total); i += n) {
      check(entry < columns.size() && columns[entry] >= 0, "{} columns for the vocabulary",
            columns.size());
      const auto begin = items.begin() + i;
      pool.columns[std::vector<std::string>(begin, begin + n)] = columns[entry++];
    }
  }
  for (std::int64_t column : columns) pool.width = std::max(pool.width, checked_add(column, 1));
  return pool;
}

// Counts of n-grams whose items may stand up to 1 + max_skip_count apart.
std::vector<double> counts_of(const NodeCall& call, const Pool& pool,
                              std::span<const std::string> row) {
  const std::int64_t shortest = call.integer("min_gram_length", 1);
  const std::int64_t longest = call.integer("max_gram_length", 1);
  const std::int64_t skips = call.integer("max_skip_count", 0);
  std::vector<double> counts(static_cast<std::size_t>(pool.width), 0.0);
  const auto size = static_cast<std::int64_t>(row.size());
  for (std::int64_t n = std::max<std::int64_t>(shortest, 1); n <= std::min(longest, size); n++) {
    for (std::int64_t step = 1; step <= (n == 1 ? 1 : std::min(skips, size) + 1); step++) {
      for (std::int64_t begin = 0; begin + (n - 1) * step < size; begin++) {
        std::vector<std::string> gram;
        for (std::int64_t k = 0; k < n; k++) {
          gram.push_back(row[static_cast<std::size_t>(begin + k * step)]);
        }
        const auto found = pool.columns.find(gram);
        if (found != pool.columns.end()) counts[static_cast<std::size_t>(found->second)] += 1;
      }
    }
  }
  return counts;
}

std::vector<std::string> items_of(const Value& value) {
  if (value.kind() == Value::Kind::Texts) return value.texts().elements;
  std::vector<std::string> items;
  for (std::int64_t n : value.tensor().to_vector<std::int64_t>()) {
    items.push_back(std::to_string(n));
  }
  return items;
}

Results tf_idf(const NodeCall& call) {
  const Pool pool = pool_of(call);
  const std::vector<std::string> items = items_of(call.value(0));
  const Shape shape = call.value(0).shape();
  check(shape.size() == 1 || shape.size() == 2, "an input of {} axes", shape.size());
  const std::string_view mode = call.text("mode", "TF");
  const std::int64_t rows = shape.size() == 2 ? shape[0] : 1;
  check_memory(checked_mul(rows + 2, checked_mul(pool.width, sizeof(double))), memory_use().bytes,
               fmt::format("{} rows of {} counts", rows, pool.width));
  const auto width = static_cast<std::size_t>(shape.size() == 2 ? shape[1] : shape[0]);
  std::vector<double> weights = call.reals("weights");
  weights.resize(static_cast<std::size_t>(pool.width), 1.0);
  std::vector<double> result;
  for (std::int64_t r = 0; r < rows; r++) {
    const std::span row = std::span(items).subspan(static_cast<std::size_t>(r) * width, width);
    const std::vector<double> counts = counts_of(call, pool, row);
    for (std::size_t i = 0; i < counts.size(); i++) {
      const double found = mode == "TF" ? counts[i] : counts[i] > 0 ? 1.0 : 0.0;
      result.push_back(mode == "TF"    ? found
                       : mode == "IDF" ? found * weights[i]
                                       : counts[i] * weights[i]);
    }
  }
  const Shape out = shape.size() == 2 ? Shape{rows, pool.width} : Shape{pool.width};
  return {Tensor::from_data(result, out, {.dtype = DType::Float32})};
}

// clang-format off
constexpr Operator table[] = {
  {"RegexFullMatch", 20, full_match},
  {"StringConcat", 20, concat},
  {"StringNormalizer", 10, normalize},
  {"StringSplit", 20, split_texts},
  {"TfIdfVectorizer", 9, tf_idf},
};
// clang-format on

}  // namespace

std::span<const Operator> text_operators() { return table; }

// ---- for operators of numbers -----------------------------------------------------------------

Tensor texts_equal(const TextArray& a, const TextArray& b) {
  const Shape shape = broadcast(a.shape, b.shape);
  check_texts(shape.numel(), 0);
  std::vector<std::uint8_t> equal;
  for (std::int64_t i = 0; i < shape.numel(); i++) {
    equal.push_back(broadcast_element(a, shape, i) == broadcast_element(b, shape, i));
  }
  return Tensor::from_data(equal, shape).cast(DType::Bool);
}

TextArray texts_of_numbers(const Tensor& numbers) {
  check_texts(numbers.numel(), 0);
  TextArray result{numbers.shape(), {}};
  const DType dtype = numbers.dtype();
  if (!is_float(dtype)) {
    for (std::int64_t n : numbers.to_vector<std::int64_t>()) {
      result.elements.push_back(dtype == DType::Bool ? (n ? "True" : "False") : std::to_string(n));
    }
    return result;
  }
  // The shortest digits that name the number among those of its type.
  for (double v : numbers.to_vector<double>()) {
    std::string text =
        dtype == DType::Float64 ? fmt::format("{}", v) : fmt::format("{}", static_cast<float>(v));
    if (std::isfinite(v) && text.find_first_of(".e") == text.npos) text += ".0";
    result.elements.push_back(std::isinf(v)   ? (v < 0 ? "-INF" : "INF")
                              : std::isnan(v) ? "NaN"
                                              : text);
  }
  return result;
}

Tensor numbers_of_texts(const TextArray& texts, DType dtype) {
  std::vector<double> numbers;
  for (const std::string& text : texts.elements) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + text.starts_with('+'), end, value);
    const bool in_range = error == std::errc() || error == std::errc::result_out_of_range;
    check(in_range && stop == end && !text.empty(), "\"{}\" is not a number", text.substr(0, 40));
    numbers.push_back(value);
  }
  return Tensor::from_data(numbers, texts.shape).cast(dtype);
}

}  // namespace croze::onnx
