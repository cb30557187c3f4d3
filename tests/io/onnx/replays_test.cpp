// Models that run again: what is launched anew, what must be recorded anew, and who may see what.
#include <thread>

#include "croze/base/options.h"
#include "croze/io/onnx/model.h"
#include "croze/run/buffers.h"
#include "croze/run/execute.h"
#include "croze/run/statistics.h"
#include "io/onnx/messages.h"
#include "io/onnx/replayed.h"
#include "support/errors.h"
#include "support/files.h"

namespace croze {
namespace {

using namespace croze::test;
using onnx::Model;
using Numbers = std::vector<float>;

Tensor vector(const Numbers& values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}

// y = relu(x) + w, for x of any length.
GraphProto relu_plus() {
  return {.nodes = {node("Relu", {"x"}, {"h"}), node("Add", {"h", "w"}, {"y"})},
          .initializers = {floats("w", {1}, {10})},
          .inputs = {value_info("x", Float, {-1})},
          .outputs = {value_info("y", Float, {-1})}};
}

class OnnxReplays : public FilesTest {
 protected:
  std::string saved(const GraphProto& g) const { return file("model.onnx", model(g).bytes()); }
  Model load(const GraphProto& g) const { return Model(saved(g)); }

  static Numbers y(const Model& m, const Inputs& inputs) {
    return m.run(inputs).at("y").tensor().to_vector<float>();
  }
};

TEST_F(OnnxReplays, AnyLayoutOfAnInputIsTaken) {
  const Model m = load(relu_plus());
  const Tensor x = Tensor::from_data(Numbers{1, -2, 3, -4, 5, -6}, {2, 3}).realize();
  const Numbers first = {11, 10};
  EXPECT_EQ(y(m, {{"x", vector({1, -2})}}), first);
  EXPECT_EQ(y(m, {{"x", x.narrow(1, 0, 2)[0]}}), first);              // a part of memory
  EXPECT_EQ(y(m, {{"x", x.transpose(0, 1)[2]}}), (Numbers{13, 10}));  // a column
  EXPECT_EQ(y(m, {{"x", flip(vector({-2, 1}), 0)}}), first);          // backwards
  EXPECT_EQ(y(m, {{"x", Tensor::scalar(1.0f).expand({2})}}), (Numbers{11, 11}));
  EXPECT_EQ(y(m, {{"x", vector({2, -4}) / 2}}), first);  // not computed yet
}

TEST_F(OnnxReplays, ResultsAreTensorsOfTheirOwn) {
  const Model m = load(relu_plus());
  const Tensor x = vector({1, 2});
  Tensor before = m.run({{"x", x}}).at("y").tensor();
  Tensor after = m.run({{"x", vector({3, 4})}}).at("y").tensor();
  EXPECT_EQ(before.to_vector<float>(), (Numbers{11, 12}));
  after += 1;
  before.zero_();
  EXPECT_EQ(after.to_vector<float>(), (Numbers{14, 15}));
  EXPECT_EQ(y(m, {{"x", x}}), (Numbers{11, 12}));
}

// A value of the model, an input, and one value under two names.
TEST_F(OnnxReplays, OutputsThatAreInputsOrConstantsCanBeAssignedTo) {
  GraphProto g = relu_plus();
  g.nodes.push_back(node("Identity", {"x"}, {"same"}));
  g.nodes.push_back(node("Identity", {"w"}, {"weight"}));
  g.nodes.push_back(node("Identity", {"y"}, {"again"}));
  for (std::string_view name : {"same", "weight", "again"}) {
    g.outputs.push_back(value_info(name, Float, {-1}));
  }
  const Model m = load(g);
  Tensor x = vector({1, 2});
  for (int run = 0; run < 3; run++) {
    auto outputs = m.run({{"x", x}});
    for (const auto& [name, wanted] : std::map<std::string, Numbers>{
             {"same", {1, 2}}, {"weight", {10}}, {"y", {11, 12}}, {"again", {11, 12}}}) {
      Tensor t = outputs.at(name).tensor();
      EXPECT_EQ(t.to_vector<float>(), wanted) << name;
      t.fill_(-1);
      t.realize();
    }
    EXPECT_EQ(x.to_vector<float>(), (Numbers{1, 2}));
  }
}

TEST_F(OnnxReplays, AnInputThatIsAssignedToIsReadAnew) {
  const Model m = load(relu_plus());
  Tensor x = vector({1, 2}).realize();
  EXPECT_EQ(y(m, {{"x", x}}), (Numbers{11, 12}));
  const Tensor kept = m.run({{"x", x}}).at("y").tensor();
  x.assign(vector({5, 6}));
  EXPECT_EQ(y(m, {{"x", x}}), (Numbers{15, 16}));
  EXPECT_EQ(kept.to_vector<float>(), (Numbers{11, 12}));
}

TEST_F(OnnxReplays, SizesMayChangeForthAndBack) {
  const Model m = load(relu_plus());
  for (int round = 0; round < 2; round++) {
    for (std::size_t size = 1; size < 50; size++) {  // more kinds than are kept
      const auto value = static_cast<float>(round + 1);
      EXPECT_EQ(y(m, {{"x", vector(Numbers(size, value))}}), Numbers(size, value + 10));
    }
  }
  EXPECT_EQ(y(m, {{"x", Tensor::zeros({0})}}), Numbers{});
}

// y = softmax(x x^T) of the heads of x, which the model counts: (n, m, 6) as 2 heads of 3.
GraphProto attention_of_open_sizes() {
  return {.nodes = {node("Reshape", {"x", "split"}, {"s"}),
                    node("Transpose", {"s"}, {"h"},
                         {attribute("perm", std::vector<std::int64_t>{0, 2, 1, 3})}),
                    node("Transpose", {"s"}, {"t"},
                         {attribute("perm", std::vector<std::int64_t>{0, 2, 3, 1})}),
                    node("MatMul", {"h", "t"}, {"scores"}), node("Softmax", {"scores"}, {"p"}),
                    node("MatMul", {"p", "h"}, {"mixed"}),
                    node("ReduceMean", {"mixed"}, {"y"},
                         {attribute("axes", std::vector<std::int64_t>{2})})},
          .initializers = {int64s("split", {4}, {0, 0, 2, 3})},
          .inputs = {value_info("x", Float, {-1, -2, 6})},
          .outputs = {value_info("y", Float, {-1, 2, 1, 3})}};
}

// Runs that schedule nothing; the values are those of a model for these sizes alone.
using TwoSizes = std::pair<std::int64_t, std::int64_t>;
const std::vector<TwoSizes> some_sizes = {{2, 5},  {3, 9}, {4, 64}, {2, 1000},
                                          {7, 33}, {5, 2}, {64, 10}};
void expect_sizes_open(const Model& m, const std::string& path, int free_runs,
                       const std::vector<TwoSizes>& sizes = some_sizes) {
  for (const auto& [batch, length] : sizes) {
    const Tensor x = (Tensor::arange(batch * length * 6, DType::Float32) * 0.7).sin();
    const Inputs inputs = {{"x", x.reshape({batch, length, 6}).realize()}};
    const auto before = run_statistics().schedules_built;
    const Numbers got = m.run(inputs).at("y").tensor().to_vector<float>();
    if (free_runs-- <= 0) {
      EXPECT_EQ(run_statistics().schedules_built, before) << batch << ' ' << length;
    }
    const Numbers wanted = Model(path).run(inputs).at("y").tensor().to_vector<float>();
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], wanted[i], 1e-5);
  }
}

TEST_F(OnnxReplays, OpenSizesAreCompiledOnceInTheEnd) {
  const std::string path = saved(attention_of_open_sizes());
  expect_sizes_open(Model(path), path, 4);
}

TEST_F(OnnxReplays, SizesThatTheUserBoundsAreCompiledAtOnce) {
  const std::string path = saved(attention_of_open_sizes());
  const std::vector<Dim> sizes = {Dim("n", 1, 64), Dim("m", 1, 1000)};
  expect_sizes_open(Model(path, sizes), path, 1);
  const std::vector<Dim> other = {Dim("width", 1, 64)};
  EXPECT_NE(error_of([&] { Model(path, other); }).find("open size width"), std::string::npos);
}

// Along a size of one nothing repeats, so such recordings are others.
TEST_F(OnnxReplays, SizesThatTheUserBoundsMayBeOneInLaterRuns) {
  const std::string path = saved(attention_of_open_sizes());
  const std::vector<Dim> sizes = {Dim("n", 1, 64), Dim("m", 1, 1000)};
  expect_sizes_open(Model(path, sizes), path, 1, {{3, 7}, {1, 5}, {2, 1}, {1, 1}, {1, 9}});
  expect_sizes_open(Model(path, sizes), path, 1, {{1, 1}, {1, 5}, {2, 1}, {8, 9}, {3, 1}});
}

// y = x + z, of sizes that have no names: one for each, though only equal ones can be added.
TEST_F(OnnxReplays, SizesWithoutNamesMayBeTied) {
  const std::string path =
      saved({.nodes = {node("Add", {"x", "z"}, {"y"})},
             .inputs = {value_info("x", Float, {-3, 3}), value_info("z", Float, {-3, 3})},
             .outputs = {value_info("y", Float, {-3, 3})}});
  const std::vector<Dim> tied = {Dim("x.0=z.0", 1, 50)};
  const Model m(path, tied);
  for (std::int64_t rows : {4, 1, 9, 50, 2}) {
    const Tensor x = Tensor::full({rows, 3}, 2.f).realize();
    const Tensor z = Tensor::full({rows, 3}, 5.f).realize();
    const auto before = run_statistics().schedules_built;
    const Numbers got = m.run({{"x", x}, {"z", z}}).at("y").tensor().to_vector<float>();
    EXPECT_EQ(got, Numbers(static_cast<std::size_t>(3 * rows), 7));
    const std::int64_t made = run_statistics().schedules_built - before;
    EXPECT_TRUE(rows == 4 || made == 0) << rows;
  }
  const std::vector<Dim> unknown = {Dim("x.0=w.0", 1, 50)};
  EXPECT_NE(error_of([&] { Model(path, unknown); }).find("open size w.0"), std::string::npos);
}

// y = x reshaped to s, whose elements the model must know.
TEST_F(OnnxReplays, ShapesThatAreInputsMayChange) {
  const Model m = load({.nodes = {node("Reshape", {"x", "s"}, {"y"})},
                        .inputs = {value_info("x", Float, {6}), value_info("s", Int64, {2})},
                        .outputs = {value_info("y", Float, {-1, -1})}});
  const Tensor x = vector({1, 2, 3, 4, 5, 6});
  for (int round = 0; round < 30; round++) {
    const std::int64_t rows = 1 + round % 3;
    const Tensor s = Tensor::from_data<std::int64_t>({rows, -1}, {2});
    const Tensor y = m.run({{"x", x}, {"s", s}}).at("y").tensor();
    EXPECT_EQ(y.shape(), (Shape{rows, 6 / rows}));
    EXPECT_EQ(y.to_vector<float>(), x.to_vector<float>());
  }
}

// The branch depends on the sum of very many numbers.
TEST_F(OnnxReplays, BranchesFollowTheDataOfEachRun) {
  const auto branch = [](std::string_view op) {
    return GraphProto{.nodes = {node(op, {"x", "w"}, {"r"})},
                      .outputs = {value_info("r", Float, {-1})}}
        .message();
  };
  const Model m = load({.nodes = {node("ReduceSum", {"x"}, {"s"}, {attribute("keepdims", 0)}),
                                  node("Greater", {"s", "zero"}, {"c"}),
                                  node("If", {"c"}, {"y"},
                                       {graph_attribute("then_branch", branch("Add")),
                                        graph_attribute("else_branch", branch("Mul"))})},
                        .initializers = {floats("w", {1}, {3}), floats("zero", {}, {0})},
                        .inputs = {value_info("x", Float, {-1})},
                        .outputs = {value_info("y", Float, {-1})}});
  for (const std::size_t size : {2u, 100u}) {
    for (int run = 0; run < 4; run++) {
      EXPECT_EQ(y(m, {{"x", vector(Numbers(size, 1))}}), Numbers(size, 4));
      EXPECT_EQ(y(m, {{"x", vector(Numbers(size, -1))}}), Numbers(size, -3));
    }
  }
}

TEST_F(OnnxReplays, RandomNumbersAreDrawnAnew) {
  const Model m = load({.nodes = {node("RandomNormalLike", {"x"}, {"y"})},
                        .inputs = {value_info("x", Float, {4})},
                        .outputs = {value_info("y", Float, {4})}});
  const Tensor x = Tensor::zeros({4});
  const Numbers first = y(m, {{"x", x}}), second = y(m, {{"x", x}});
  EXPECT_NE(first, second);
  EXPECT_NE(second, y(m, {{"x", x}}));
}

TEST_F(OnnxReplays, OptionsHoldForWhatRunsUnderThem) {
  const Model m = load(relu_plus());
  const Inputs inputs{{"x", vector({1, 2})}};
  y(m, inputs);
  const Options::Scope unfused{{Option::Fusion, false}};
  const std::int64_t before = run_statistics().kernels;
  EXPECT_EQ(y(m, inputs), (Numbers{11, 12}));
  EXPECT_GE(run_statistics().kernels, before + 2);
}

TEST_F(OnnxReplays, ManyThreadsRunOneModel) {
  const Model m = load(relu_plus());
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); t++) {
    threads.emplace_back([&, t] {
      for (int run = 0; run < 100; run++) {
        const auto value = static_cast<float>(100 * t + static_cast<std::size_t>(run));
        const std::size_t size = 1 + static_cast<std::size_t>(run) % 3;
        wrong[t] += y(m, {{"x", vector(Numbers(size, value))}}) != Numbers(size, value + 10);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST_F(OnnxReplays, MemoryOfResultsIsFreed) {
  const Model m = load(relu_plus());
  const Tensor x = Tensor::zeros({1 << 16}).realize();
  for (int run = 0; run < 20; run++) m.run({{"x", x}});
  const std::int64_t before = memory_use().bytes;
  for (int run = 0; run < 200; run++) m.run({{"x", x}});
  EXPECT_LT(memory_use().bytes, before + (8 << 20));
}

TEST_F(OnnxReplays, ErrorsNameTheInputAtEveryRun) {
  const Model m = load(relu_plus());
  for (int run = 0; run < 3; run++) {
    EXPECT_EQ(y(m, {{"x", vector({1})}}), Numbers{11});
    const std::string error = error_of([&] { m.run({{"x", Tensor::zeros({2, 2})}}); });
    EXPECT_NE(error.find("input \"x\" has 1 axes, not 2"), std::string::npos) << error;
  }
}

// Of several kinds of nodes: with weights, with positions, with conditions, with parts.
TEST_F(OnnxReplays, RunsGiveWhatFreshRecordingsGive) {
  const Tensor x = Tensor::from_data(Numbers{3, -1, 4, -1, 5, -9, 2, 6, -5, 3, 5, -8}, {3, 4});
  const Tensor index = Tensor::from_data<std::int64_t>({2, 0, 1}, {3});
  const auto expect = [&](const std::vector<Message>& nodes) {
    const GraphProto g{.nodes = nodes,
                       .initializers = {floats("w", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                                        int64s("k", {1}, {2}), int64s("split", {2}, {1, 2})},
                       .inputs = {value_info("x", Float, {3, 4}), value_info("i", Int64, {3})},
                       .outputs = {value_info("y", Float, {-1})}};
    expect_replays_like_recordings(saved(g), {{"x", x}, {"i", index}});
  };
  expect({node("MatMul", {"x", "w"}, {"h"}), node("Softmax", {"h"}, {"y"})});
  expect({node("Gather", {"x", "i"}, {"y"})});
  expect({node("NonZero", {"x"}, {"y"})});
  expect({node("TopK", {"x", "k"}, {"v", "y"})});
  expect({node("Unique", {"i"}, {"y"})});
  expect({node("Transpose", {"x"}, {"y"})});
  expect({node("Reshape", {"x", "i"}, {"y"})});  // 2 x 0 x 1 is no shape of x
  expect({node("ConstantOfShape", {"i"}, {"y"})});
  expect({node("Split", {"x", "split"}, {"a", "y"})});
  expect({node("SplitToSequence", {"x"}, {"y"})});
  expect({node("Shape", {"x"}, {"y"})});
}

}  // namespace
}  // namespace croze
