// Nodes of com.microsoft, against what onnxruntime made of them, as make_onnx.py recorded it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "croze/io/onnx/model.h"
#include "croze/io/safetensors.h"
#include "io/onnx/messages.h"
#include "support/files.h"

namespace croze {
namespace {

namespace fs = std::filesystem;
using namespace croze::test;
using Tensors = std::map<std::string, onnx::Value>;

// The tensors whose names begin with a prefix, without it.
Tensors named(const SafeTensors& recorded, const std::string& prefix) {
  Tensors result;
  for (const auto& [name, tensor] : recorded.tensors) {
    if (name.starts_with(prefix)) result.emplace(name.substr(prefix.size()), tensor);
  }
  return result;
}

void expect_close(const Tensor& value, const Tensor& wanted) {
  ASSERT_EQ(value.shape(), wanted.shape());
  ASSERT_EQ(value.dtype(), wanted.dtype());
  const double tolerance = wanted.dtype() == DType::Float16 ? 2e-3 : 2e-5;
  const auto a = value.to_vector<double>(), b = wanted.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); i++) {
    ASSERT_LE(std::abs(a[i] - b[i]), tolerance * (1 + std::abs(b[i]))) << "element " << i;
  }
}

TEST(OnnxContribRecorded, NodesOfExportedTransformersGiveWhatOnnxruntimeGives) {
  int models = 0;
  for (const auto& entry : fs::directory_iterator(ONNX_GOLDEN)) {
    if (entry.path().extension() != ".onnx") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const SafeTensors recorded =
        load_safetensors(fs::path(entry.path()).replace_extension(".safetensors").string());
    const Tensors outputs = onnx::Model(entry.path().string()).run(named(recorded, "in."));
    for (const auto& [name, wanted] : named(recorded, "out.")) {
      SCOPED_TRACE(name);
      expect_close(outputs.at(name).tensor(), wanted.tensor());
    }
    models++;
  }
  EXPECT_GE(models, 50);
}

class OnnxContrib : public FilesTest {
 protected:
  // The Error of a com.microsoft node whose inputs are x0, x1, ..
  std::string refusal(Message made, const std::vector<onnx::Value>& values) const {
    GraphProto g{.nodes = {made.text(7, "com.microsoft")}, .outputs = {value_info("y", Float, {})}};
    Tensors inputs;
    for (std::size_t i = 0; i < values.size(); i++) {
      const std::string name = "x" + std::to_string(i);
      const Shape shape = values[i].shape();
      g.inputs.push_back(value_info(name, static_cast<std::int64_t>(values[i].element_type()),
                                    {shape.begin(), shape.end()}));
      inputs[name] = values[i];
    }
    const Message m = model(g).message(8, Message().text(1, "com.microsoft").integer(2, 1));
    const std::string path = file("model.onnx", m.bytes());
    return error_of([&] { onnx::Model(path).run(inputs); });
  }
};

TEST_F(OnnxContrib, WeightsInBlocksAreAsManyAsTheAttributesSay) {
  const std::int64_t huge = std::int64_t{1} << 62;
  const Tensor x = Tensor::zeros({1, 2, 6}), scale = Tensor::zeros({1});
  const Tensor bytes = Tensor::zeros({1, 1, 8}, DType::UInt8);
  const auto of = [&](std::int64_t rows, std::int64_t columns, std::int64_t block) {
    return refusal(
        node("MatMulNBits", {"x0", "x1", "x2"}, {"y"},
             {attribute("N", rows), attribute("K", columns), attribute("block_size", block)}),
        {x, bytes, scale});
  };
  EXPECT_NE(of(2, 6, 16).find("weights of shape (1, 1, 8)"), std::string::npos) << of(2, 6, 16);
  EXPECT_NE(of(1, 6, 0).find("in blocks of 0"), std::string::npos) << of(1, 6, 0);
  EXPECT_NE(of(huge, huge, 16), "");
}

TEST_F(OnnxContrib, ACacheIsNoLongerThanWhatIsThere) {
  const Tensor x = Tensor::zeros({1, 2, 6});
  const auto one = [](std::int64_t n) { return Tensor::from_data({n}, {1}).cast(DType::Int32); };
  const std::string error =
      refusal(node("GroupQueryAttention", {"x0", "x0", "x0", "", "", "x1", "x2"}, {"y"},
                   {attribute("num_heads", 2), attribute("kv_num_heads", 2)}),
              {x, one(1), one(1 << 30)});
  EXPECT_NE(error.find("keys in all, but only 2"), std::string::npos) << error;
}

}  // namespace
}  // namespace croze
