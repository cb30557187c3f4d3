// check.cpp -- comparing tensors with the reference evaluator and with numbers.
#include "support/check.h"

#include <cmath>
#include <random>

#include "croze/graph/eval.h"
#include "croze/run/buffers.h"

namespace croze::test {
namespace {

std::vector<std::int64_t> contents(UOp buffer) {
  const std::size_t size = static_cast<std::size_t>(size_of(buffer.dtype()));
  std::vector<std::byte> bytes(static_cast<std::size_t>(buffer.elements()) * size);
  read_buffer(buffer, bytes);
  std::vector<std::int64_t> bits;
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    bits.push_back(load_bits(&bytes[i], buffer.dtype()));
  }
  return bits;
}

void expect_close(const std::vector<double>& got, const std::vector<double>& expected,
                  double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  int shown = 0;
  for (std::size_t i = 0; i < got.size() && shown < 5; i++) {
    const double a = got[i], b = expected[i];
    const bool same = std::isnan(b)
                          ? std::isnan(a)
                          : a == b || std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
    if (same) continue;
    shown++;
    ADD_FAILURE() << "element " << i << " is " << a << ", not " << b;
  }
}

}  // namespace

HostTensor reference_of(const Tensor& t) {
  Reference reference;
  reference.read = contents;
  return reference.evaluate(t.node());
}

void expect_reference(const Tensor& t, double tolerance) {
  const HostTensor expected = reference_of(t);
  const bool exact = !is_float(t.dtype());
  expect_close(t.to_vector<double>(), expected.numbers(), exact ? 0 : tolerance);
}

void expect_numbers(const Tensor& t, const std::vector<double>& expected, double tolerance) {
  expect_close(t.to_vector<double>(), expected, tolerance);
}

Tensor random_tensor(const Shape& shape, double low, double high, const TensorOptions& options,
                     std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values;
  for (std::int64_t i = 0; i < shape.numel(); i++) values.push_back(uniform(random));
  // Converted on the host, so that the tensor owns memory of its dtype.
  const DType dtype = options.dtype.value_or(DType::Float32);
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(size_of(dtype)));
  for (std::size_t i = 0; i < values.size(); i++) {
    store_bits(bits_of(values[i], dtype), dtype,
               &bytes[i * static_cast<std::size_t>(size_of(dtype))]);
  }
  return Tensor::from_bytes(bytes, dtype, shape, {.dtype = dtype, .device = options.device});
}

}  // namespace croze::test
