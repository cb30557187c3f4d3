// Models as a user runs them: names, shapes, control flow, and what running them costs.
#include "croze/io/onnx/model.h"

#include "croze/base/options.h"
#include "croze/jit/capture.h"
#include "croze/run/buffers.h"
#include "croze/run/execute.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "io/onnx/messages.h"
#include "support/files.h"

namespace croze {
namespace {

using namespace croze::test;
using onnx::Model;
using onnx::Value;
using Numbers = std::vector<float>;

class OnnxModel : public FilesTest {
 protected:
  Model load(const GraphProto& g, std::int64_t opset = 17) const { return load(model(g, opset)); }
  Model load(const Message& m) const { return Model(file("model.onnx", m.bytes())); }

  static Tensor vector(const Numbers& values) {
    return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
  }
  static Numbers numbers(const std::map<std::string, Value>& outputs, const std::string& name) {
    return outputs.at(name).tensor().to_vector<float>();
  }
};

// y = relu(x) + w, for x of any length.
GraphProto relu_plus() {
  return {.nodes = {node("Relu", {"x"}, {"h"}), node("Add", {"h", "w"}, {"y"})},
          .initializers = {floats("w", {1}, {10})},
          .inputs = {value_info("x", Float, {-1})},
          .outputs = {value_info("y", Float, {-1})}};
}

TEST_F(OnnxModel, InputsAndOutputsGoByName) {
  const Model m = load(relu_plus());
  ASSERT_EQ(m.inputs().size(), 1u);
  EXPECT_EQ(m.inputs()[0].name, "x");
  EXPECT_EQ(m.inputs()[0].type, "float32");
  EXPECT_EQ(m.inputs()[0].shape[0].name, "n");
  EXPECT_EQ(numbers(m.run({{"x", vector({-1, 2})}}), "y"), (Numbers{10, 12}));
}

TEST_F(OnnxModel, ADimensionMayDifferFromRunToRun) {
  const Model m = load(relu_plus());
  EXPECT_EQ(numbers(m.run({{"x", vector({1})}}), "y"), Numbers{11});
  EXPECT_EQ(numbers(m.run({{"x", vector({1, 2, 3})}}), "y"), (Numbers{11, 12, 13}));
}

TEST_F(OnnxModel, InputsThatDoNotFitAreRefused) {
  const Model m = load(relu_plus());
  EXPECT_NE(error_of([&] { m.run({}); }).find("\"x\" (float32) is missing"), std::string::npos);
  EXPECT_NE(error_of([&] {
              m.run({{"x", vector({1})}, {"z", vector({1})}});
            }).find("no input \"z\""),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              m.run({{"x", Tensor::zeros({2, 2})}});
            }).find("1 axes, not 2"),
            std::string::npos);
  const Tensor wrong = Tensor::zeros({2}, {.dtype = DType::Int64});
  EXPECT_NE(error_of([&] { m.run({{"x", wrong}}); }).find("float32, not int64"), std::string::npos);
}

TEST_F(OnnxModel, OneNameOfADimensionIsOneSize) {
  const Model m =
      load(GraphProto{.nodes = {node("Add", {"a", "b"}, {"y"})},
                      .inputs = {value_info("a", Float, {-1}), value_info("b", Float, {-1})},
                      .outputs = {value_info("y", Float, {-1})}});
  EXPECT_EQ(numbers(m.run({{"a", vector({1, 2})}, {"b", vector({3, 4})}}), "y"), (Numbers{4, 6}));
  EXPECT_NE(error_of([&] {
              m.run({{"a", vector({1, 2})}, {"b", vector({3})}});
            }).find("elsewhere"),
            std::string::npos);
}

TEST_F(OnnxModel, SizesCalledAQuestionMarkNeedNotBeEqual) {
  const Model m = load(GraphProto{.nodes = {node("Relu", {"x"}, {"y"})},
                                  .inputs = {value_info("x", Float, {-3, -3})},
                                  .outputs = {value_info("y", Float, {-3, -3})}});
  EXPECT_EQ(numbers(m.run({{"x", vector({-1, 2, 3}).reshape({1, 3})}}), "y"), (Numbers{0, 2, 3}));
  EXPECT_EQ(shape_of(m.inputs()[0], {{"x.0", 2}, {"x.1", 5}}), (Shape{2, 5}));
}

TEST_F(OnnxModel, AnInitializerIsTheDefaultOfItsInput) {
  GraphProto g = relu_plus();
  g.inputs.push_back(value_info("w", Float, {1}));
  const Model m = load(g);
  EXPECT_TRUE(m.inputs()[1].has_default);
  EXPECT_EQ(numbers(m.run({{"x", vector({1})}}), "y"), Numbers{11});
  EXPECT_EQ(numbers(m.run({{"x", vector({1})}, {"w", vector({5})}}), "y"), Numbers{6});
}

TEST_F(OnnxModel, ErrorsNameTheNode) {
  GraphProto g = relu_plus();
  g.nodes[1] = node("Concat", {"h", "w"}, {"y"}, {attribute("axis", 3)}).text(3, "the join");
  const Model m = load(g);
  const std::string error = error_of([&] { m.run({{"x", vector({1})}}); });
  EXPECT_NE(error.find("Concat (node \"the join\")"), std::string::npos) << error;
}

TEST_F(OnnxModel, ErrorsNameTheLineOfTheRunAndNoneOfTheLibrary) {
  GraphProto g = relu_plus();
  g.nodes[1] = node("Concat", {"h", "w"}, {"y"}, {attribute("axis", 3)}).text(3, "the join");
  const Model m = load(g);
  const Tensor x = vector({1});
  const int line = __LINE__ + 1;
  const std::string error = error_of([&] { m.run({{"x", x}}); });
  EXPECT_NE(error.find("model_test.cpp:" + std::to_string(line)), std::string::npos) << error;
  EXPECT_EQ(error.find("croze/io"), std::string::npos) << error;
  EXPECT_EQ(error.find("croze/tensor"), std::string::npos) << error;
}

TEST_F(OnnxModel, AWrongNameOfAnInputListsTheInputs) {
  const Model m = load(relu_plus());
  const std::string error = error_of([&] { m.run({{"image", vector({1})}}); });
  EXPECT_NE(error.find("no input \"image\""), std::string::npos) << error;
  EXPECT_NE(error.find("its inputs are \"x\" (float32)"), std::string::npos) << error;
}

TEST_F(OnnxModel, AFileThatIsCutOffIsCalledThat) {
  const std::string whole = model(relu_plus(), 17).bytes();
  int named = 0;
  for (std::size_t size = 1; size < whole.size(); size++) {
    const std::string error = error_if_any([&] { Model(file("cut.onnx", whole.substr(0, size))); });
    named += error.find("cut off") != std::string::npos;
    if (error.empty()) continue;
    EXPECT_NE(error.find("cut.onnx"), std::string::npos) << error;
  }
  EXPECT_GT(named, static_cast<int>(whole.size() / 2));
}

// The checks name the node, the line of the run, and what the index was.
TEST_F(OnnxModel, IndicesOutOfRangeAreFoundWithTheirNode) {
  const Options::Scope scope{{Option::CheckIndices, true}};
  const Model m =
      load(GraphProto{.nodes = {node("GatherElements", {"x", "i"}, {"y"}).text(3, "the choice")},
                      .inputs = {value_info("x", Float, {-1}), value_info("i", Int64, {-1})},
                      .outputs = {value_info("y", Float, {-1})}});
  const Tensor x = vector({1, 2, 3}), index = Tensor::from_data<std::int64_t>({2, 3, 0}, {3});
  const int line = __LINE__ + 1;
  const std::string error = error_of([&] { m.run({{"x", x}, {"i", index * 1}}); });
  EXPECT_NE(error.find("GatherElements (node \"the choice\")"), std::string::npos) << error;
  EXPECT_NE(error.find("index 3 is out of range"), std::string::npos) << error;
  EXPECT_NE(error.find("model_test.cpp:" + std::to_string(line)), std::string::npos) << error;
}

// ---- what it costs ----------------------------------------------------------------------------

TEST_F(OnnxModel, WeightsAreNotCopied) {
  const std::int64_t count = 1 << 20;
  GraphProto g = relu_plus();
  // A few bytes more or less in front of the weights, until they stand aligned in the file.
  for (std::size_t shift = 0; shift < 4; shift++) {
    Message weights = tensor("w", Float, {count}).text(12, std::string(shift, '.'));
    g.initializers = {weights.text(9, std::string(count * 4, '\0'))};
    const std::int64_t before = memory_use().bytes;
    const Model m = load(g);
    if (memory_use().bytes - before < count) return;
  }
  FAIL() << "the weights were copied wherever they stood";
}

// A model that flattens its input by computing the shape: Shape, Gather, Mul, Concat, Reshape.  The
// one kernel gives the output memory of its own.
TEST_F(OnnxModel, ComputingAShapeTakesNoKernel) {
  const GraphProto g{.nodes = {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"a"}),
                               node("Gather", {"s", "one"}, {"b"}), node("Mul", {"a", "b"}, {"n"}),
                               node("Unsqueeze", {"n", "axis"}, {"u"}),
                               node("Concat", {"u", "rest"}, {"to"}, {attribute("axis", 0)}),
                               node("Reshape", {"x", "to"}, {"y"})},
                     .initializers = {int64s("zero", {}, {0}), int64s("one", {}, {1}),
                                      int64s("axis", {1}, {0}), int64s("rest", {1}, {-1})},
                     .inputs = {value_info("x", Float, {-1, -1, 2})},
                     .outputs = {value_info("y", Float, {-1, -1})}};
  // Both axes are called n.
  const Model m = load(g);
  const Tensor x = Tensor::from_data(Numbers{1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}).realize();
  const std::int64_t before = run_statistics().kernels;
  const Value y = m.run({{"x", x}}).at("y");
  EXPECT_EQ(run_statistics().kernels, before + 1);
  EXPECT_EQ(y.shape(), (Shape{4, 2}));
}

TEST_F(OnnxModel, RunningAgainSchedulesNothing) {
  const Model m = load(relu_plus());
  m.run({{"x", vector({1, 2})}});
  const std::int64_t before = run_statistics().schedules_built;
  EXPECT_EQ(numbers(m.run({{"x", vector({-5, 5})}}), "y"), (Numbers{10, 15}));
  EXPECT_EQ(run_statistics().schedules_built, before);
}

TEST_F(OnnxModel, ACapturedStepMayRunAModel) {
  const Model m = load(relu_plus());
  auto step = capture([&](const Tensor& x) { return m.run({{"x", x}}).at("y").tensor() * 2; });
  for (float v : {1.f, 2.f, 3.f}) {
    EXPECT_EQ(step(vector({-1, v})).to_vector<float>(), (Numbers{20, 2 * v + 20}));
  }
}

// A few bytes of pads ask for four terabytes; what is asked for within the limit is given.
TEST_F(OnnxModel, MemoryBeyondTheLimitIsRefusedBeforeItIsAllocated) {
  const Model m = load({.nodes = {node("Pad", {"x", "pads"}, {"y"})},
                        .inputs = {value_info("x", Float, {1, 1}), value_info("pads", Int64, {4})},
                        .outputs = {value_info("y", Float, {-1, -1})}});
  const Options::Scope scope{{Option::MemoryLimit, 64}};
  const auto padded_by = [&](std::int64_t n) {
    const Tensor pads = Tensor::from_data<std::int64_t>({n, n, 0, 0}, {4});
    return m.run({{"x", Tensor::zeros({1, 1}).realize()}, {"pads", pads}}).at("y").shape();
  };
  EXPECT_EQ(padded_by(1000), (Shape{1001, 1001}));
  const std::int64_t before = memory_use().peak_bytes;
  const std::string error = error_of([&] { padded_by(1'000'000); });
  EXPECT_NE(error.find("float32 of 1000002000001 elements"), std::string::npos) << error;
  EXPECT_NE(error.find("more than the limit of 64.0 MiB"), std::string::npos) << error;
  EXPECT_LT(memory_use().peak_bytes, before + (64 << 20));
}

// ---- control flow -----------------------------------------------------------------------------

// if sum(x) > 0 then x + w else x * w, where w is a name of the graph around.
TEST_F(OnnxModel, BranchesSeeTheNamesAround) {
  const auto branch = [](std::string_view op) {
    return GraphProto{.nodes = {node(op, {"x", "w"}, {"r"})},
                      .outputs = {value_info("r", Float, {-1})}}
        .message();
  };
  const GraphProto g{.nodes = {node("ReduceSum", {"x"}, {"s"}, {attribute("keepdims", 0)}),
                               node("Greater", {"s", "zero"}, {"c"}),
                               node("If", {"c"}, {"y"},
                                    {graph_attribute("then_branch", branch("Add")),
                                     graph_attribute("else_branch", branch("Mul"))})},
                     .initializers = {floats("w", {1}, {3}), floats("zero", {}, {0})},
                     .inputs = {value_info("x", Float, {-1})},
                     .outputs = {value_info("y", Float, {-1})}};
  const Model m = load(g);
  EXPECT_EQ(numbers(m.run({{"x", vector({1, 2})}}), "y"), (Numbers{4, 5}));
  EXPECT_EQ(numbers(m.run({{"x", vector({-1, -2})}}), "y"), (Numbers{-3, -6}));

  auto step = capture([&](const Tensor& x) { return m.run({{"x", x}}).at("y").tensor(); });
  const std::string error = error_of([&] { step(vector({1, 2})); });
  EXPECT_NE(error.find("outside of captured functions"), std::string::npos) << error;
}

// Powers of two until they pass 100: the number of rounds is not known before.
TEST_F(OnnxModel, ALoopEndsWhenItsConditionFails) {
  const GraphProto body{
      .nodes = {node("Add", {"v", "v"}, {"w"}), node("Less", {"w", "limit"}, {"go"}),
                node("Identity", {"w"}, {"scan"})},
      .inputs = {value_info("i", Int64, {}), value_info("c", Bool, {}), value_info("v", Float, {})},
      .outputs = {value_info("go", Bool, {}), value_info("w", Float, {}),
                  value_info("scan", Float, {})}};
  const GraphProto g{
      .nodes = {node("Loop", {"", "yes", "x"}, {"last", "all"},
                     {graph_attribute("body", body.message())})},
      .initializers = {tensor("yes", Bool, {}).integers(5, {1}), floats("limit", {}, {100})},
      .inputs = {value_info("x", Float, {})},
      .outputs = {value_info("last", Float, {}), value_info("all", Float, {-1})}};
  const auto outputs = load(g).run({{"x", Tensor::scalar(3.0f)}});
  EXPECT_EQ(numbers(outputs, "last"), Numbers{192});
  EXPECT_EQ(numbers(outputs, "all"), (Numbers{6, 12, 24, 48, 96, 192}));
}

// ---- functions --------------------------------------------------------------------------------

TEST_F(OnnxModel, AFunctionTakesAttributesOfItsCaller) {
  const Message reference =
      Message().text(1, "axis").text(21, "along").integer(20, 2);  // axis = @along
  const Message function = Message()
                               .text(1, "Pick")
                               .text(4, "data")
                               .text(5, "result")
                               .text(6, "along")
                               .message(7, node("ArgMax", {"data"}, {"result"}, {reference}))
                               .message(9, Message().integer(2, 17))
                               .text(10, "own");
  const GraphProto g{.nodes = {node("Pick", {"x"}, {"y"}, {attribute("along", 1)}).text(7, "own")},
                     .inputs = {value_info("x", Float, {2, 3})},
                     .outputs = {value_info("y", Int64, {2, 1})}};
  const Model m =
      load(model(g).message(8, Message().text(1, "own").integer(2, 1)).message(25, function));
  EXPECT_TRUE(m.summary().missing.empty());
  const Tensor x = Tensor::from_data(Numbers{1, 9, 2, 7, 3, 4}, {2, 3});
  EXPECT_EQ(numbers(m.run({{"x", x}}), "y"), (Numbers{1, 0}));
}

// ---- opsets -----------------------------------------------------------------------------------

// Before opset 13 softmax took all axes from the given one on as one.
TEST_F(OnnxModel, AnOperatorMeansWhatItsOpsetSays) {
  const GraphProto g{.nodes = {node("Softmax", {"x"}, {"y"}, {attribute("axis", 1)})},
                     .inputs = {value_info("x", Float, {1, 2, 2})},
                     .outputs = {value_info("y", Float, {1, 2, 2})}};
  const Tensor x = Tensor::zeros({1, 2, 2});
  EXPECT_EQ(numbers(load(g, 12).run({{"x", x}}), "y"), Numbers(4, 0.25f));
  EXPECT_EQ(numbers(load(g, 13).run({{"x", x}}), "y"), Numbers(4, 0.5f));
}

TEST_F(OnnxModel, SmallIntegersAreUnpacked) {
  const GraphProto g{.nodes = {node("Cast", {"w"}, {"y"}, {attribute("to", Int32)})},
                     .initializers = {tensor("w", Int4, {3}).text(9, "\x8f\x07")},
                     .outputs = {value_info("y", Int32, {3})}};
  EXPECT_EQ(numbers(load(g, 21).run({}), "y"), (Numbers{-1, -8, 7}));
}

TEST_F(OnnxModel, SummaryCountsNodesAndParameters) {
  const onnx::Summary s = load(relu_plus()).summary();
  EXPECT_EQ(s.nodes, 2);
  EXPECT_EQ(s.operators.at("Relu"), 1);
  EXPECT_EQ(s.parameters, 1);
  EXPECT_EQ(s.opsets.at(""), 17);
  EXPECT_TRUE(s.missing.empty());
}

}  // namespace
}  // namespace croze
