// summary.cpp -- a model as a table.
#include "croze/nn/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <set>

namespace croze::nn {
namespace {

// 1234567 as 1,234,567.
std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto i = std::ssize(text) - 3; i > 0; i -= 3) text.insert(static_cast<std::size_t>(i), ",");
  return text;
}

constexpr std::size_t columns = 6;
using Row = std::array<std::string, columns>;

Row row_of(const TensorSummary& t) {
  return {t.name,
          croze::to_text(t.shape),
          std::string(name_of(t.dtype)),
          grouped(t.elements),
          grouped(t.bytes),
          t.trained ? "" : "not trained"};
}

}  // namespace

std::string to_text(const ModelSummary& summary) {
  std::vector<Row> rows{{"name", "shape", "dtype", "elements", "bytes", ""}};
  for (const TensorSummary& t : summary.tensors) rows.push_back(row_of(t));
  std::array<std::size_t, columns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < columns; i++) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line =
        fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>{}}  {:>{}}  {}", row[0], widths[0], row[1],
                    widths[1], row[2], widths[2], row[3], widths[3], row[4], widths[4], row[5]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text + fmt::format("{} parameters, {} bytes\n", grouped(summary.parameters),
                            grouped(summary.bytes));
}

std::ostream& operator<<(std::ostream& out, const ModelSummary& summary) {
  return out << to_text(summary);
}

namespace detail {

ModelSummary summary_of(const std::vector<StateEntry>& entries) {
  std::set<std::string> trained;
  for (const NamedTensor& p : named(entries, true)) trained.insert(p.name);
  ModelSummary summary;
  for (const NamedTensor& t : named(entries, false)) {
    const std::int64_t elements = t.tensor.numel(), bytes = elements * size_of(t.tensor.dtype());
    const bool is_trained = trained.contains(t.name);
    summary.tensors.push_back(
        {t.name, t.tensor.shape(), t.tensor.dtype(), elements, bytes, is_trained});
    summary.parameters += is_trained ? elements : 0;
    summary.bytes += bytes;
  }
  return summary;
}

}  // namespace detail
}  // namespace croze::nn
