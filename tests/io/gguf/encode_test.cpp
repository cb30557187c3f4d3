// Blocks of numbers, compared with what ggml's own package and library make of them
// (tests/golden/make_gguf.py).
#include "croze/io/gguf/encode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "croze/croze.h"
#include "croze/io/gguf/decode.h"
#include "croze/io/gguf/gguf.h"
#include "support/errors.h"

namespace croze {
namespace {

using test::error_of;

std::vector<std::byte> encoded(const std::vector<float>& numbers, GgmlType type) {
  const GgmlTypeInfo& info = ggml_type_info(type);
  const auto blocks = std::ssize(numbers) / info.block_elements;
  std::vector<std::byte> bytes(static_cast<std::size_t>(blocks * info.block_bytes));
  encode_blocks(numbers, type, bytes);
  return bytes;
}

std::vector<float> decoded(const std::vector<std::byte>& bytes, GgmlType type) {
  const std::int64_t size = ggml_type_info(type).block_bytes;
  const Shape shape{std::ssize(bytes) / size, size};
  const Tensor blocks = Tensor::from_bytes(bytes, DType::UInt8, shape, {.device = "INTERP"});
  return decode_blocks(blocks, type).to_vector<float>();
}

std::vector<float> there_and_back(const std::vector<float>& numbers, GgmlType type) {
  return decoded(encoded(numbers, type), type);
}

GgufFile golden() { return load_gguf(GGUF_GOLDEN "/quantized.gguf", {.device = "CPU"}); }

std::vector<float> golden_numbers() { return golden().tensor("numbers").stored.to_vector<float>(); }

class Encoding : public testing::TestWithParam<GgmlType> {};

TEST_P(Encoding, AgreesWithGgmlsPackageToTheLastBit) {
  const auto wanted = golden().tensor(name_of(GetParam())).stored.to_bytes();
  EXPECT_TRUE(encoded(golden_numbers(), GetParam()) == wanted);
}

INSTANTIATE_TEST_SUITE_P(Types, Encoding,
                         testing::Values(GgmlType::Q4_0, GgmlType::Q4_1, GgmlType::Q5_0,
                                         GgmlType::Q5_1, GgmlType::Q8_0, GgmlType::MXFP4),
                         [](const auto& param) { return std::string(name_of(param.param)); });

class Searching : public testing::TestWithParam<GgmlType> {};

TEST_P(Searching, LeavesNoLargerErrorThanGgmlsLibrary) {
  const std::string name(name_of(GetParam()));
  const auto wanted = golden().tensor(name + ".errors").stored.to_vector<float>();
  const std::vector<float> numbers = golden_numbers();
  const std::vector<float> found = there_and_back(numbers, GetParam());
  const std::size_t row = numbers.size() / wanted.size();
  for (std::size_t r = 0; r < wanted.size(); r++) {
    double error = 0;
    for (std::size_t i = r * row; i < (r + 1) * row; i++) {
      error += std::pow(static_cast<double>(found[i]) - static_cast<double>(numbers[i]), 2);
    }
    EXPECT_LE(std::sqrt(error), 1.01 * std::sqrt(static_cast<double>(wanted[r]))) << "row " << r;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Searching,
                         testing::Values(GgmlType::Q4_K, GgmlType::Q5_K, GgmlType::Q6_K),
                         [](const auto& param) { return std::string(name_of(param.param)); });

class EveryEncoder : public testing::TestWithParam<GgmlType> {
 protected:
  static std::size_t elements() {
    return static_cast<std::size_t>(ggml_type_info(GetParam()).block_elements);
  }
};

TEST_P(EveryEncoder, KeepsZeros) {
  const auto bytes = encoded(std::vector<float>(2 * elements()), GetParam());
  if (!ggml_type_info(GetParam()).is_blocks()) {
    EXPECT_EQ(bytes, std::vector<std::byte>(bytes.size()));
    return;
  }
  for (float x : decoded(bytes, GetParam())) EXPECT_EQ(x, 0);
}

TEST_P(EveryEncoder, RefusesWhatIsNotFinite) {
  for (float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> numbers(elements(), 1);
    numbers.back() = bad;
    const std::string message = error_of([&] { encoded(numbers, GetParam()); });
    EXPECT_NE(message.find("cannot be made of"), std::string::npos) << message;
  }
}

TEST_P(EveryEncoder, KeepsNumbersOfAnyMagnitudeFiniteOrRefusesThem) {
  if (!ggml_type_info(GetParam()).is_blocks()) return;
  for (int exponent = -149; exponent < 128; exponent++) {
    std::vector<float> numbers(elements());
    for (std::size_t i = 0; i < numbers.size(); i++) {
      numbers[i] = std::ldexp(static_cast<float>(i % 7) - 3, exponent - 2);
    }
    std::vector<float> found;
    const std::string error =
        test::error_if_any([&] { found = there_and_back(numbers, GetParam()); });
    if (exponent < 15) {
      EXPECT_EQ(error, "");
    }
    for (float x : found) EXPECT_TRUE(std::isfinite(x)) << exponent;
  }
}

// The difference of two of them is no float.
TEST_P(EveryEncoder, KeepsTheGreatestFloatsFiniteOrRefusesThem) {
  if (!ggml_type_info(GetParam()).is_blocks()) return;
  std::vector<float> numbers(elements(), std::numeric_limits<float>::max());
  for (std::size_t i = 0; i < numbers.size(); i += 3) numbers[i] = -numbers[i];
  std::vector<float> found;
  test::error_if_any([&] { found = there_and_back(numbers, GetParam()); });
  for (float x : found) EXPECT_TRUE(std::isfinite(x)) << x;
}

INSTANTIATE_TEST_SUITE_P(Types, EveryEncoder, testing::ValuesIn(encodable_types()),
                         [](const auto& param) { return std::string(name_of(param.param)); });

TEST(EncodeBlocks, RefusesTypesWithoutEncoder) {
  const std::string message = error_of([] { encoded(std::vector<float>(256), GgmlType::IQ2_XS); });
  EXPECT_NE(message.find("cannot be encoded as IQ2_XS"), std::string::npos) << message;
}

}  // namespace
}  // namespace croze
