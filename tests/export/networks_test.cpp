// Networks that leave as C compute what they compute here: to the bit what the interpreter makes of
// the same schedule, and up to roundings what CPU makes of its own.
#include <croze/croze.h>
#include <croze/nn/nn.h>

#include <limits>

#include "examples/data/fashion_net.h"
#include "exported.h"

namespace croze {
namespace {

using namespace croze::test;

class Networks : public ExportTest {};
INSTANTIATE_TEST_SUITE_P(Compilers, Networks, testing::Values("gcc", "clang"), compiler_name);

struct Mlp {
  nn::Linear hidden{20, 32}, output{32, 5};
  Tensor operator()(const Tensor& x) const { return softmax(output(relu(hidden(x))), 1); }
};

TEST_P(Networks, AnMlpGivesTheSameBits) {
  const Mlp net;
  auto step = capture([&](const Tensor& x) { return net(x); });
  const Tensor x = Tensor::uniform({7, 20}, -1, 1).realize();
  const Tensor expected = step(x);
  export_c(step, out(), {.name = "mlp", .tensors = nn::state_dict(net)});
  const std::string y = results("mlp", {{"float", 140}}, {{"float", 35}}, bytes_of(x));
  expect_same_bits(y, Reference(step.step()).run({&x, 1}));
  EXPECT_LE(distance_in_ulps(floats_of(y), expected.to_vector<float>()), 4);
}

TEST_P(Networks, AConvolutionalNetworkGivesTheSameBits) {
  const FashionNet net;
  auto step = capture([&](const Tensor& images) { return net(images); });
  const Tensor images = Tensor::randint(0, 256, {2, 1, 28, 28}).cast(DType::UInt8).realize();
  const Tensor expected = step(images);
  export_c(step, out(),
           {.name = "fashion",
            .inputs = {"images"},
            .outputs = {"scores"},
            .tensors = nn::state_dict(net)});
  const std::string y =
      results("fashion", {{"uint8_t", 2 * 28 * 28}}, {{"float", 20}}, bytes_of(images));
  expect_same_bits(y, Reference(step.step()).run({&images, 1}));
  EXPECT_LE(distance_in_ulps(floats_of(y), expected.to_vector<float>()), 16);
}

// Heads of rows: what runs block by block here does so in C.
TEST_P(Networks, AttentionRunsByBlocks) {
  auto step = capture([](const Tensor& q, const Tensor& k, const Tensor& v) {
    return scaled_dot_product_attention(q, k, v);
  });
  std::vector<Tensor> inputs;
  for (int i = 0; i < 3; i++) inputs.push_back(Tensor::randn({4, 64, 16}).realize());
  const Tensor expected = step(inputs[0], inputs[1], inputs[2]);
  export_c(step, out(), {.name = "attention", .inputs = {"q", "k", "v"}});
  EXPECT_NE(content(out() + "/attention.c").find("block0++"), std::string::npos);
  const CPort port{"float", 4 * 64 * 16};
  const std::string y = results("attention", {port, port, port}, {port},
                                bytes_of(inputs[0]) + bytes_of(inputs[1]) + bytes_of(inputs[2]));
  expect_same_bits(y, Reference(step.step()).run(inputs));
  EXPECT_LE(distance_in_ulps(floats_of(y), expected.to_vector<float>()), 16);
}

// Float16 has no type in C: its bits stand in integers.
TEST_P(Networks, HalvesTravelAsTheirBits) {
  const Tensor w = Tensor::randn({16, 8}).cast(DType::Float16).realize();
  auto step = capture([&](const Tensor& x) { return matmul(x, w); });
  const Tensor x = Tensor::randn({3, 16}).cast(DType::Float16).realize();
  step(x);
  export_c(step, out(), {.name = "halves"});
  const std::string y = results("halves", {{"uint16_t", 48}}, {{"uint16_t", 24}}, bytes_of(x));
  expect_same_bits(y, Reference(step.step()).run({&x, 1}));
}

// Functions made of integer arithmetic, comparisons and choices, on edge values.
TEST_P(Networks, ElementaryFunctionsAndCastsGiveTheSameBits) {
  auto step = capture([](const Tensor& x) {
    std::vector<Tensor> results{exp(x),  log(x),
                                sin(x),  tanh(x),
                                sqrt(x), pow(x.abs(), 0.3),
                                erf(x),  maximum(x, x.flip({0}))};
    // The sign of a NaN is nobody's business.
    for (Tensor& y : results) y = where(y == y, y, 12345.);
    results.push_back(x.cast(DType::Int8));
    results.push_back(x.cast(DType::UInt64));
    return results;
  });
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = Tensor::from_data(
      std::vector<float>{0, -0.f, 1, -1, inf, -inf, std::numeric_limits<float>::quiet_NaN(), 1e-40f,
                         3.4e38f, -50.5f, 1e20f, 0.1f, 100, -1e10f},
      {14});
  step(x);
  export_c(step, out(), {.name = "functions"});
  const CPort f{"float", 14};
  const std::string y = results(
      "functions", {f}, {f, f, f, f, f, f, f, f, {"int8_t", 14}, {"uint64_t", 14}}, bytes_of(x));
  expect_same_bits(y, Reference(step.step()).run({&x, 1}));
}

}  // namespace
}  // namespace croze
