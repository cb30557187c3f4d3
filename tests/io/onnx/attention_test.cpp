// Attention and caches, against numbers worked out by hand.
#include <limits>

#include "croze/io/onnx/model.h"
#include "io/onnx/messages.h"
#include "support/files.h"

namespace croze {
namespace {

using namespace croze::test;
using Numbers = std::vector<float>;

class OnnxAttention : public FilesTest {
 protected:
  // The first output of a node whose inputs are x0, x1, ..
  Tensor run(const Message& made, const std::vector<onnx::Value>& values) const {
    GraphProto g{.nodes = {made}, .outputs = {value_info("y", Float, {})}};
    std::map<std::string, onnx::Value> inputs;
    for (std::size_t i = 0; i < values.size(); i++) {
      const std::string name = "x" + std::to_string(i);
      const auto type = static_cast<std::int64_t>(values[i].element_type());
      const auto shape = values[i].shape();
      g.inputs.push_back(value_info(name, type, {shape.begin(), shape.end()}));
      inputs[name] = values[i];
    }
    return onnx::Model(file("model.onnx", model(g, 24).bytes())).run(inputs).at("y").tensor();
  }
  static Tensor row(const Numbers& numbers) {
    return Tensor::from_data(numbers, {1, 1, static_cast<std::int64_t>(numbers.size()), 1});
  }
  static Tensor counts(std::int64_t count) { return Tensor::from_data({count}, {1}); }
};

// Both keys score alike, so the output is the mean of the values seen.
TEST_F(OnnxAttention, AQuerySeesTheKeysThatAreNoPaddingUpToItself) {
  const Message causal =
      node("Attention", {"x0", "x1", "x2", "", "", "", "x3"}, {"y"}, {attribute("is_causal", 1)});
  const Tensor y = run(causal, {row({0, 0}), row({0, 0, 0, 0}), row({1, 3, 5, 100}), counts(3)});
  EXPECT_EQ(y.to_vector<float>(), (Numbers{2, 3}));
}

// With a softcap after the mask, a key that is hidden would get a finite score.
TEST_F(OnnxAttention, WhatAMaskHidesStaysHiddenUnderASoftcap) {
  const Message capped =
      node("Attention", {"x0", "x1", "x2", "x3"}, {"y"}, {real_attribute("softcap", 1)});
  const float never = -std::numeric_limits<float>::infinity();
  const Tensor mask = Tensor::from_data(Numbers{0, never}, {1, 2});
  EXPECT_EQ(run(capped, {row({1}), row({1, 5}), row({7, 9}), mask}).to_vector<float>(),
            (Numbers{7}));
}

TEST_F(OnnxAttention, AQueryThatMayLookAtNothingGetsZeros) {
  const Tensor mask = Tensor::zeros({1, 2}, DType::Bool);
  EXPECT_EQ(run(node("Attention", {"x0", "x1", "x2", "x3"}, {"y"}),
                {row({1}), row({1, 5}), row({7, 9}), mask})
                .to_vector<float>(),
            (Numbers{0}));
}

TEST_F(OnnxAttention, ACircularCacheBeginsAnewAtItsEnd) {
  const Message circular = Message().text(1, "mode").text(4, "circular").integer(20, 3);
  const std::vector<onnx::Value> inputs{row({1, 2, 3, 4}), row({8, 9}), counts(3)};
  const std::vector<std::string_view> names{"x0", "x1", "x2"};
  EXPECT_EQ(run(node("TensorScatter", names, {"y"}, {circular}), inputs).to_vector<float>(),
            (Numbers{9, 2, 3, 8}));
}

TEST_F(OnnxAttention, SizesThatDoNotFitAreRefused) {
  const auto refusal = [&](const Message& made, const std::vector<onnx::Value>& inputs) {
    return error_of([&] { run(made, inputs); });
  };
  const auto said = [](const std::string& error, std::string_view text) {
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  const Message attention = node("Attention", {"x0", "x1", "x2"}, {"y"});
  said(refusal(attention, {row({1}), row({1, 5}), row({7})}), "values of (1, 1, 1, 1)");
  const Tensor joined = Tensor::zeros({1, 2, 6});
  said(refusal(attention, {joined, joined, joined}), "q_num_heads is missing");
}

}  // namespace
}  // namespace croze
