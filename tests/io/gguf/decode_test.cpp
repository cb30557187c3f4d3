// Blocks of every type, decoded as ggml's own package decodes them; make_gguf.py recorded both.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "croze/croze.h"
#include "croze/io/gguf/gguf.h"
#include "croze/run/statistics.h"

namespace croze {
namespace {

constexpr GgmlType block_types[] = {
    GgmlType::Q4_0,    GgmlType::Q4_1,   GgmlType::Q5_0,   GgmlType::Q5_1,    GgmlType::Q8_0,
    GgmlType::Q8_1,    GgmlType::Q2_K,   GgmlType::Q3_K,   GgmlType::Q4_K,    GgmlType::Q5_K,
    GgmlType::Q6_K,    GgmlType::Q8_K,   GgmlType::IQ4_NL, GgmlType::IQ4_XS,  GgmlType::MXFP4,
    GgmlType::NVFP4,   GgmlType::TQ1_0,  GgmlType::TQ2_0,  GgmlType::IQ1_S,   GgmlType::IQ1_M,
    GgmlType::IQ2_XXS, GgmlType::IQ2_XS, GgmlType::IQ2_S,  GgmlType::IQ3_XXS, GgmlType::IQ3_S};

// How many elements differ in a bit.
std::int64_t differences(const Tensor& found, const Tensor& wanted) {
  const std::vector<std::byte> a = found.to_bytes(), b = wanted.to_bytes();
  EXPECT_EQ(a.size(), b.size());
  std::int64_t count = 0;
  for (std::size_t i = 0; i + 4 <= a.size(); i += 4) {
    count += !std::equal(a.begin() + static_cast<long>(i), a.begin() + static_cast<long>(i) + 4,
                         b.begin() + static_cast<long>(i));
  }
  return count;
}

class Decoding : public testing::TestWithParam<GgmlType> {
 protected:
  static GgufFile golden(std::string_view device) {
    return load_gguf(GGUF_GOLDEN "/blocks.gguf", {.device = device});
  }
};

TEST_P(Decoding, AgreesWithGgmlToTheLastBit) {
  const std::string name(name_of(GetParam()));
  for (const char* device : {"CPU", "INTERP"}) {
    const GgufFile file = golden(device);
    const GgufTensor &blocks = file.tensor(name), &wanted = file.tensor(name + ".decoded");
    EXPECT_EQ(blocks.type, GetParam());
    EXPECT_EQ(blocks.stored.dtype(), DType::UInt8);
    const Tensor found = blocks.decoded();
    ASSERT_EQ(found.shape(), wanted.shape);
    EXPECT_EQ(found.device(), device);
    EXPECT_EQ(differences(found, wanted.stored), 0) << device;
  }
}

TEST_P(Decoding, AProductReadsTheBlocksInOneKernel) {
  const GgufFile file = golden("CPU");
  const GgufTensor& weight = file.tensor(name_of(GetParam()));
  const Tensor x = Tensor::ones({3, weight.shape[1]}, {.device = "CPU"}).realize();
  const std::int64_t before = run_statistics().kernels;
  matmul(x, weight.decoded().transpose()).realize();
  EXPECT_EQ(run_statistics().kernels - before, 1);
}

INSTANTIATE_TEST_SUITE_P(Types, Decoding, testing::ValuesIn(block_types),
                         [](const auto& param) { return std::string(name_of(param.param)); });

}  // namespace
}  // namespace croze
