// peek.cpp -- small tensors read on the host.
#include "croze/tensor/peek.h"

#include <optional>

#include "croze/graph/eval.h"
#include "croze/run/host_evaluate.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"

namespace croze {
namespace {

constexpr std::int64_t max_elements = 1024;
constexpr std::int64_t max_nodes = 1024;

// The elements converted to `dtype`, as the bits of its constants.
std::optional<std::vector<std::int64_t>> peek_as(const Tensor& x, DType dtype) {
  GraphLock lock;
  std::optional<HostArray> value = evaluate_on_host(x.node(), max_elements, max_nodes);
  // While a step is captured its inputs have memory, whose contents are not those of later runs.
  if (!value || Capturing::reads_input(x)) return {};
  for (std::int64_t& bits : value->bits) bits = convert(bits, value->dtype, dtype);
  return std::move(value->bits);
}

}  // namespace

std::optional<std::vector<std::int64_t>> peek_integers(const Tensor& x) {
  return peek_as(x, DType::Int64);
}

std::optional<std::vector<double>> peek_numbers(const Tensor& x) {
  const auto bits = peek_as(x, DType::Float64);
  if (!bits) return {};
  std::vector<double> numbers;
  for (std::int64_t b : *bits) numbers.push_back(std::bit_cast<double>(b));
  return numbers;
}

}  // namespace croze
