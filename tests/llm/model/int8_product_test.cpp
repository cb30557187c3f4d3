// Products in integers, against the same sums in double precision.
#include "croze/llm/model/int8_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "croze/graph/matrix_unit.h"
#include "croze/io/gguf/encode.h"
#include "croze/llm/generate/generator.h"
#include "croze/run/devices.h"

namespace croze::llm {
namespace {

constexpr std::int64_t in = 512, out = 48;
constexpr std::int64_t block = 32;  // numbers of x that share a scale

std::vector<float> random_numbers(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> draw(0, 1);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  std::ranges::generate(numbers, [&] { return draw(generator); });
  return numbers;
}

GgufTensor weight_of(GgmlType type, const TensorOptions& options = {}) {
  const GgmlTypeInfo& info = ggml_type_info(type);
  const std::int64_t blocks = in / info.block_elements;
  std::vector<std::byte> bytes(static_cast<std::size_t>(out * blocks * info.block_bytes));
  encode_blocks(random_numbers(out * in, 1), type, bytes);
  GgufTensor weight;
  weight.shape = {out, in};
  weight.type = type;
  weight.stored = Tensor::from_bytes(bytes, DType::UInt8, {out, blocks, info.block_bytes}, options);
  return weight;
}

// What becomes of numbers by blocks: codes of a scale that is the largest of them by 127.
std::vector<double> rounded(const std::vector<float>& x) {
  std::vector<double> result;
  for (std::size_t begin = 0; begin < x.size(); begin += block) {
    float largest = 0;
    for (std::size_t i = 0; i < block; i++) largest = std::max(largest, std::abs(x[begin + i]));
    const float scale = largest / 127, inverse = 1 / scale;
    for (std::size_t i = 0; i < block; i++) {
      const double code = scale > 0 ? std::nearbyint(x[begin + i] * inverse) : 0;
      result.push_back(code * static_cast<double>(scale));
    }
  }
  return result;
}

class Int8Products : public testing::TestWithParam<GgmlType> {};

TEST_P(Int8Products, AreThoseOfWhatTheInputsAreRoundedTo) {
  const GgufTensor weight = weight_of(GetParam());
  const std::vector<float> w = weight.decoded().to_vector<float>();
  ASSERT_TRUE(multiplies_in_int8(weight, 4));
  for (const std::int64_t n : {1, 2, 3, 4, 8, 13}) {
    std::vector<float> x = random_numbers(n * in, 2);
    std::fill_n(x.begin(), block, 0.0f);  // a block without a scale
    const std::vector<float> y =
        int8_product(Tensor::from_data(x, {n, in}), weight).to_vector<float>();
    const std::vector<double> q = rounded(x);
    for (std::int64_t i = 0; i < n * out; i++) {
      const auto at_x = static_cast<std::size_t>(i / out * in),
                 at_w = static_cast<std::size_t>(i % out * in);
      double sum = 0, size = 0;
      for (std::size_t k = 0; k < in; k++) {
        const double term = q[at_x + k] * static_cast<double>(w[at_w + k]);
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(y[static_cast<std::size_t>(i)], sum, 1e-6 * size) << n << " rows: " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Int8Products,
                         testing::Values(GgmlType::Q4_0, GgmlType::Q4_1, GgmlType::Q5_0,
                                         GgmlType::Q5_1, GgmlType::Q8_0, GgmlType::Q4_K,
                                         GgmlType::Q5_K, GgmlType::Q6_K),
                         [](const auto& param) { return std::string(name_of(param.param)); });

TEST(Int8Products, AreForIntegersWithScalesOnly) {
  GgufTensor weight;
  weight.shape = {out, in};
  for (const GgmlType type : {GgmlType::F16, GgmlType::MXFP4, GgmlType::IQ2_S}) {
    weight.type = type;
    EXPECT_FALSE(multiplies_in_int8(weight, 8)) << name_of(type);
  }
}

// Of codes that lie in long runs, with one scale for a vector of them, where the device adds up
// bytes; elsewhere where the scales of groups are packed.
TEST(Int8Products, OfFewRowsAreThoseThatAreReadFaster) {
  const TensorOptions interp{.device = "INTERP"};
  const std::string here(weight_of(GgmlType::Q8_0).stored.device());
  const bool adds_up_bytes =
      std::ranges::any_of(device(device_index(here)).caps().matrix_units,
                          [](const MatrixUnit* unit) { return has_row_for_each_column(*unit); });
  for (const GgmlType type : {GgmlType::Q4_K, GgmlType::Q5_K}) {
    EXPECT_TRUE(multiplies_in_int8(weight_of(type), 1)) << name_of(type);
    EXPECT_TRUE(multiplies_in_int8(weight_of(type, interp), 1)) << name_of(type);
  }
  for (const GgmlType type : {GgmlType::Q4_0, GgmlType::Q4_1, GgmlType::Q8_0}) {
    EXPECT_EQ(multiplies_in_int8(weight_of(type), 3), adds_up_bytes) << name_of(type);
    EXPECT_FALSE(multiplies_in_int8(weight_of(type, interp), 3)) << name_of(type);
  }
  for (const GgmlType type : {GgmlType::Q5_0, GgmlType::Q5_1, GgmlType::Q6_K})
    EXPECT_FALSE(multiplies_in_int8(weight_of(type), 3)) << name_of(type);
}

}  // namespace
}  // namespace croze::llm
