// Operators whose corner cases no recorded test of ONNX has, against numbers worked out by hand.
#include "croze/base/options.h"
#include "croze/io/onnx/model.h"
#include "io/onnx/messages.h"
#include "io/onnx/replayed.h"
#include "support/files.h"

namespace croze {
namespace {

using namespace croze::test;
using Numbers = std::vector<float>;

class OnnxOperator : public FilesTest {
 protected:
  // The output y of a graph, which gives what it must when it runs again.
  onnx::Value run(const GraphProto& g, const Inputs& inputs, std::int64_t opset = 17) const {
    const std::string path = file("model.onnx", model(g, opset).bytes());
    const onnx::Value y = onnx::Model(path).run(inputs).at("y");
    expect_replays_like_recordings(path, inputs);
    return y;
  }
};

Message ints(std::string_view name, const std::vector<std::int64_t>& values) {
  return attribute(name, values);
}

TEST_F(OnnxOperator, ATransposedConvolutionIsFilledUpAtTheEnd) {
  const GraphProto g{
      .nodes = {node("ConvTranspose", {"x", "w"}, {"y"}, {ints("output_shape", {5})})},
      .initializers = {floats("w", {1, 1, 2}, {1, 10})},
      .inputs = {value_info("x", Float, {1, 1, 2})},
      .outputs = {value_info("y", Float, {1, 1, 5})}};
  const Tensor y = run(g, {{"x", Tensor::from_data(Numbers{1, 2}, {1, 1, 2})}}).tensor();
  EXPECT_EQ(y.to_vector<float>(), (Numbers{1, 12, 20, 0, 0}));
}

// Regions: the whole image, one place for all four bins, and one beyond the image.
TEST_F(OnnxOperator, MaxRoiPoolTakesTheLargestOfEachBin) {
  const GraphProto g{
      .nodes = {node("MaxRoiPool", {"x", "rois"}, {"y"}, {ints("pooled_shape", {2, 2})})},
      .initializers = {floats("rois", {3, 5}, {0, 0, 0, 3, 3, 0, 1, 1, 1, 1, 0, 6, 6, 7, 7})},
      .inputs = {value_info("x", Float, {1, 1, 4, 4})},
      .outputs = {value_info("y", Float, {3, 1, 2, 2})}};
  const Tensor x = Tensor::arange(16).cast(DType::Float32).reshape({1, 1, 4, 4});
  const Tensor y = run(g, {{"x", x}}).tensor();
  EXPECT_EQ(y.shape(), (Shape{3, 1, 2, 2}));
  EXPECT_EQ(y.to_vector<float>(), (Numbers{5, 7, 13, 15, 5, 5, 5, 5, 0, 0, 0, 0}));
}

// A small file asks for lists of gigabytes.
TEST_F(OnnxOperator, RegionsHaveNoMoreBinsThanAnybodyWants) {
  const auto refusal = [&](const Message& pool, const std::vector<float>& roi) {
    const auto columns = static_cast<std::int64_t>(roi.size());
    const GraphProto g{.nodes = {pool},
                       .initializers = {floats("rois", {1, columns}, roi), int64s("i", {1}, {0})},
                       .inputs = {value_info("x", Float, {1, 1, 4, 4})},
                       .outputs = {value_info("y", Float, {-1, -1, -1, -1})}};
    return error_of([&] { run(g, {{"x", Tensor::zeros({1, 1, 4, 4})}}); });
  };
  const auto said = [](const std::string& error, std::string_view text) {
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  const std::vector<float> region{0, 0, 3, 3}, numbered{0, 0, 0, 3, 3};
  for (std::int64_t huge : {std::int64_t{1} << 30, std::int64_t{1} << 62}) {
    const Message bins = ints("pooled_shape", {1, huge});
    said(refusal(node("MaxRoiPool", {"x", "rois"}, {"y"}, {bins}), numbered), "bins");
  }
  const std::vector<Message> samples{attribute("output_height", std::int64_t{1} << 14),
                                     attribute("sampling_ratio", std::int64_t{1} << 14)};
  said(refusal(node("RoiAlign", {"x", "rois", "i"}, {"y"}, samples), region), "samples");
}

// Both differ by one beyond what float64 tells apart.
TEST_F(OnnxOperator, UniqueTellsLargeIntegersApart) {
  const std::int64_t large = std::int64_t{1} << 60;
  const GraphProto g{.nodes = {node("Unique", {"x"}, {"y"})},
                     .initializers = {int64s("x", {4}, {large + 1, large, large + 1, -large})},
                     .outputs = {value_info("y", Int64, {-1})}};
  EXPECT_EQ(run(g, {}).tensor().to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{-large, large, large + 1}));
}

TEST_F(OnnxOperator, TopKTakesTheFirstOfEqualOnes) {
  const GraphProto g{.nodes = {node("TopK", {"x", "k"}, {"v", "y"})},
                     .initializers = {int64s("k", {1}, {3}), floats("x", {5}, {1, 2, 0, 2, 2})},
                     .outputs = {value_info("y", Int64, {3})}};
  EXPECT_EQ(run(g, {}).tensor().to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 3, 4}));
}

TEST_F(OnnxOperator, WhatIsNotThereSaysSo) {
  const GraphProto g{.nodes = {node("Teleport", {"x"}, {"y"})},
                     .inputs = {value_info("x", UInt8, {3})},
                     .outputs = {value_info("y", UInt8, {-1, -1, 3})}};
  const Tensor x = Tensor::zeros({3}, {.dtype = DType::UInt8});
  const std::string error = error_of([&] { run(g, {{"x", x}}, 20); });
  EXPECT_NE(error.find("Teleport: croze has no such operator in opset 20"), std::string::npos)
      << error;
}

// ---- texts ------------------------------------------------------------------------------------

Message text_attribute(std::string_view name, std::string_view value) {
  return Message().text(1, name).text(4, value).integer(20, 3);
}

Message texts(std::string_view name, const std::vector<std::int64_t>& dims,
              const std::vector<std::string>& values) {
  Message t = tensor(name, String, dims);
  for (const std::string& value : values) t.text(6, value);
  return t;
}

TEST_F(OnnxOperator, PatternsMatchWholeTexts) {
  const auto matches = [&](std::string_view pattern, const std::vector<std::string>& values) {
    const GraphProto g{
        .nodes = {node("RegexFullMatch", {"x"}, {"y"}, {text_attribute("pattern", pattern)})},
        .initializers = {texts("x", {std::ssize(values)}, values)},
        .outputs = {value_info("y", Bool, {-1})}};
    return run(g, {}, 20).tensor().to_vector<std::uint8_t>();
  };
  using Bits = std::vector<std::uint8_t>;
  EXPECT_EQ(matches("a+|b", {"aaa", "b", "ab", "", "a\n"}), (Bits{1, 1, 0, 0, 0}));
  EXPECT_EQ(matches("", {"", "a"}), (Bits{1, 0}));
  EXPECT_EQ(matches(R"(www\.[\w.-]+\.\bcom\b)", {"www.google.com", "www.bbc.co.uk"}), (Bits{1, 0}));
  const std::string refused = error_of([&] { matches("(a)\\1", {"aa"}); });
  EXPECT_NE(refused.find("RegexFullMatch"), std::string::npos) << refused;
  EXPECT_NE(refused.find("not of RE2's syntax"), std::string::npos) << refused;
  std::string long_one(40, 'a');
  long_one.append("bc");
  const std::string slow = error_of([&] { matches("(a*)*b", {long_one}); });
  EXPECT_NE(slow.find("matching the pattern (a*)*b failed"), std::string::npos) << slow;
}

TEST_F(OnnxOperator, TextsAreBoundedByTheLimitOfMemory) {
  const Options::Scope scope{{Option::MemoryLimit, 64}};
  const auto refusal = [&](const Message& n, const std::vector<Message>& initializers) {
    const GraphProto g{
        .nodes = {n}, .initializers = initializers, .outputs = {value_info("y", Float, {-1})}};
    return error_of([&] { run(g, {}, 20); });
  };
  const std::vector<std::string> many(1 << 12, "word");
  const std::vector<Message> across{texts("a", {1 << 12, 1}, many), texts("b", {1, 1 << 12}, many)};
  const std::vector<Message> one{texts("a", {1}, {"word"})};
  const Message far[] = {attribute("max_gram_length", 1), attribute("min_gram_length", 1),
                         attribute("max_skip_count", 0), ints("ngram_counts", {0}),
                         ints("ngram_indexes", {std::int64_t{1} << 40})};
  Message vectorizer = node("TfIdfVectorizer", {"a"}, {"y"}, {std::begin(far), std::end(far)});
  vectorizer.message(5, Message().text(1, "pool_strings").text(9, "word").integer(20, 8));
  for (const std::string& error :
       {refusal(node("StringConcat", {"a", "b"}, {"y"}), across),
        refusal(node("Equal", {"a", "b"}, {"y"}), across), refusal(vectorizer, one)}) {
    EXPECT_NE(error.find("more than the limit of 64.0 MiB"), std::string::npos) << error;
  }
}

// Two convolutions of one image side by side, then one over both, as in SqueezeNet.  All numbers
// are ones, so an output counts the places of its windows that lie inside the image.
TEST_F(OnnxOperator, PaddedWindowsOverJoinedImagesCountWhatLiesInside) {
  constexpr std::int64_t size = 55, channels = 16;
  const auto ones = [](std::string_view name, const std::vector<std::int64_t>& dims) {
    std::int64_t count = 1;
    for (std::int64_t d : dims) count *= d;
    return floats(name, dims, Numbers(static_cast<std::size_t>(count), 1));
  };
  const Message padded = ints("pads", {1, 1, 1, 1});
  const GraphProto g{
      .nodes = {node("Relu", {"x"}, {"r"}), node("Conv", {"r", "w1"}, {"a"}),
                node("Conv", {"r", "w3"}, {"b"}, {padded}),
                node("Concat", {"a", "b"}, {"joined"}, {attribute("axis", 1)}),
                node("Conv", {"joined", "w"}, {"y"}, {padded})},
      .initializers = {ones("w1", {8, channels, 1, 1}), ones("w3", {8, channels, 3, 3}),
                       ones("w", {1, channels, 3, 3})},
      .inputs = {value_info("x", Float, {1, channels, size, size})},
      .outputs = {value_info("y", Float, {1, 1, size, size})}};
  const Tensor y = run(g, {{"x", Tensor::ones({1, channels, size, size})}}).tensor();

  const auto inside = [](std::int64_t i) { return i >= 0 && i < size; };
  const auto neighbours = [&](std::int64_t i) { return inside(i - 1) + 1 + inside(i + 1); };
  Numbers wanted;
  for (std::int64_t i = 0; i < size; i++) {
    for (std::int64_t j = 0; j < size; j++) {
      int sum = 0;
      for (std::int64_t p = i - 1; p <= i + 1; p++) {
        for (std::int64_t q = j - 1; q <= j + 1; q++) {
          if (inside(p) && inside(q)) sum += 8 * 16 * (1 + neighbours(p) * neighbours(q));
        }
      }
      wanted.push_back(static_cast<float>(sum));
    }
  }
  EXPECT_EQ(y.to_vector<float>(), wanted);
}

}  // namespace
}  // namespace croze
