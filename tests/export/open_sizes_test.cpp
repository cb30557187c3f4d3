// Sizes that a step leaves open are parameters of what is exported.
#include <croze/croze.h>
#include <croze/jit/dim.h>
#include <croze/nn/nn.h>
#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <utility>

#include "croze/export/c/model.h"
#include "croze/export/onnx.h"
#include "croze/graph/graph.h"
#include "exported.h"
#include "io/onnx/messages.h"
#include "support/errors.h"
#include "support/networks.h"

namespace croze {
namespace {

using namespace croze::test;

class OpenSizes : public ExportTest {
 protected:
  // With one of the compilers, every access out of the arrays of a size is told.
  void SetUp() override {
    ExportTest::SetUp();
    if (std::string_view(GetParam()) != "clang") return;
    flags_ = "-fsanitize=address,undefined -fno-sanitize-recover=all";
    runner_ = "ASAN_OPTIONS=detect_leaks=0 ";
  }

  // Reads sizes and the inputs' elements, runs once, and writes what was returned and the results.
  // What stands behind the elements of a result must stay as it was.
  std::string program(const std::string& model, int sizes, const std::string& inputs_text,
                      const std::string& outputs_text, const std::string& arguments) {
    const std::string text = fmt::format(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"{0}.h\"\n"
        "static _Alignas(64) unsigned char arena[{1}_ARENA_BYTES];\n"
        "static {0}_state state;\n"
        "static void* take(size_t bytes) {{\n"
        "  void* p = malloc(bytes + 1);\n"
        "  if (!p || fread(p, 1, bytes, stdin) != bytes) exit(2);\n"
        "  return p;\n"
        "}}\n"
        "int main(void) {{\n"
        "  memset(arena, 0xA5, sizeof arena);\n"
        "  int64_t n[{2}];\n"
        "  if (fread(n, 8, {2}, stdin) != {2}) return 3;\n"
        "  if ({0}_init(&state, arena, sizeof arena) != {1}_OK) return 4;\n"
        "{3}{4}"
        "  const int r = {0}_run(&state, {5});\n"
        "  fwrite(&r, sizeof r, 1, stdout);\n"
        "  if (r != {1}_OK) return 0;\n",
        model, upper_case(model), sizes, inputs_text, outputs_text, arguments);
    return compile(model, text + write_text_ + "  return 0;\n}\n");
  }
  void writes(const std::string& text) { write_text_ += text; }

  static std::string upper_case(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(c));
    return text;
  }
  static std::string numbers(const std::vector<std::int64_t>& values) {
    return {reinterpret_cast<const char*>(values.data()), 8 * values.size()};
  }

 private:
  std::string write_text_;
};
INSTANTIATE_TEST_SUITE_P(Compilers, OpenSizes, testing::Values("gcc", "clang"), compiler_name);

void expect_near(const std::string& written, const std::vector<float>& expected,
                 std::int64_t size) {
  ASSERT_EQ(written.size(), 4 + 4 * expected.size()) << size;
  const std::vector<float> values = floats_of(written.substr(4));
  for (std::size_t i = 0; i < expected.size(); i++) {
    ASSERT_NEAR(values[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << size << " at " << i;
  }
}

// A softmax, a sum and a mean over an axis, and a product with weights.
TEST_P(OpenSizes, OneModelServesAllLengths) {
  const Tensor w = (Tensor::arange(5 * 4).cast(DType::Float32).reshape({5, 4}) / 10).realize();
  auto step = capture([&](const Tensor& x) {
    const Tensor p = softmax(matmul(x, w), 0);
    return std::pair(p, (x - x.mean(0)).square().sum());
  });
  step.open("input 0", 0, Dim("length", 1, 300));
  const auto rows = [](std::int64_t length) {
    return Tensor::uniform({length, 5}, -1, 1).realize();
  };
  for (std::int64_t length : {7, 20}) step(rows(length));
  export_c(step, out(), {.name = "open", .inputs = {"x"}, .outputs = {"p", "spread"}});
  const std::string header = content(out() + "/open.h");
  EXPECT_NE(header.find("int open_run(open_state* self, int64_t length, const float* x, float* p, "
                        "float* spread);"),
            std::string::npos)
      << header;
  EXPECT_NE(header.find("@param length  a size, from 1 to 300"), std::string::npos) << header;
  EXPECT_NE(header.find("float32, shape (length, 4), 4 * length elements"), std::string::npos)
      << header;
  writes("  fwrite(p, 4, (size_t)(n[0] * 4), stdout);\n  fwrite(spread, 4, 1, stdout);\n");
  const std::string run_one = program(
      "open", 1, "  float* x = take((size_t)(n[0] * 5 * 4));\n",
      "  float* p = malloc((size_t)(n[0] * 4 * 4));\n  float spread[1];\n", "n[0], x, p, spread");
  for (std::int64_t length : {1, 2, 3, 7, 8, 20, 31, 64, 299, 300}) {
    const Tensor x = rows(length);
    const std::string written = run(run_one, numbers({length}) + bytes_of(x));
    const auto [p, spread] = step(x);
    std::vector<float> expected = p.to_vector<float>();
    expected.push_back(spread.item<float>());
    expect_near(written, expected, length);
  }
  for (std::int64_t length : {0, 301}) {
    const std::string written = run(run_one, numbers({length}) + std::string(301 * 20, '\0'));
    EXPECT_EQ(written, std::string("\3\0\0\0", 4)) << length;
  }
}

// Two sizes, one a multiple of eight, another of both in a result, and a tensor that is assigned
// to.
TEST_P(OpenSizes, SeveralSizesAndState) {
  Tensor total = Tensor::zeros({3}).realize();
  auto step = capture([&](const Tensor& a, Tensor b) {
    total += a.sum(0) + b.sum(0);
    b += 1;
    return std::pair(cat({a, b}, 0), total * 2);
  });
  step.open("input 0", 0, Dim("rows", 2, 50)).open("input 1", 0, Dim("columns", 8, 64, 8));
  const auto matrix = [](std::int64_t n) { return Tensor::uniform({n, 3}, -1, 1).realize(); };
  step(matrix(3), matrix(8));
  step(matrix(10), matrix(24));
  const Tensor at_export = total.contiguous().realize();
  export_c(step, out(), {.name = "two", .outputs = {"joined", "twice"}});
  const std::string header = content(out() + "/two.h");
  EXPECT_NE(header.find("a size, from 8 to 64, a multiple of 8"), std::string::npos) << header;
  writes(
      "  fwrite(joined, 4, (size_t)((n[0] + n[1]) * 3), stdout);\n"
      "  fwrite(twice, 4, 3, stdout);\n");
  const std::string run_one =
      program("two", 2,
              "  float* a = take((size_t)(n[0] * 12));\n  float* b = take((size_t)(n[1] * 12));\n",
              "  float* joined = malloc((size_t)((n[0] + n[1]) * 12));\n  float twice[3];\n",
              "n[0], n[1], a, b, joined, twice");
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 8}, {50, 64}, {10, 24}, {33, 40}}) {
    const Tensor a = matrix(rows), b = matrix(columns);
    const std::string written = run(run_one, numbers({rows, columns}) + bytes_of(a) + bytes_of(b));
    const Tensor joined = cat({a, b + 1}, 0);
    const Tensor twice = (at_export + a.sum(0) + b.sum(0)) * 2;
    std::vector<float> expected = joined.to_vector<float>();
    for (float v : twice.to_vector<float>()) expected.push_back(v);
    expect_near(written, expected, rows);
  }
  const std::string wrong = run(run_one, numbers({3, 12}) + std::string(3 * 12 + 12 * 12, '\0'));
  EXPECT_EQ(wrong, std::string("\3\0\0\0", 4));
}

// Windows that hang over the ends, and every other place.
TEST_P(OpenSizes, ConvolutionsHaveAsManyPlacesAsFit) {
  const nn::Conv1d conv(2, 3, 5, {.stride = {2}, .padding = {2}});
  auto step = capture([&](const Tensor& x) { return relu(conv(x)); });
  step.open("input 0", 2, Dim("time", 1, 100));
  const auto sound = [](std::int64_t n) { return Tensor::uniform({1, 2, n}, -1, 1).realize(); };
  step(sound(9));
  step(sound(16));
  step(sound(31));
  export_c(step, out(), {.name = "sound"});
  writes("  fwrite(y, 4, (size_t)((n[0] - 1) / 2 + 1) * 3, stdout);\n");
  const std::string run_one =
      program("sound", 1, "  float* x = take((size_t)(n[0] * 8));\n",
              "  float* y = malloc((size_t)((n[0] - 1) / 2 + 1) * 12);\n", "n[0], x, y");
  for (std::int64_t n : {1, 2, 3, 4, 5, 16, 17, 63, 100}) {
    const Tensor x = sound(n);
    const std::string written = run(run_one, numbers({n}) + bytes_of(x));
    expect_near(written, step(x).to_vector<float>(), n);
  }
}

TEST_P(OpenSizes, AModelOfOnnxLeavesThemOpen) {
  const std::string model_path =
      file("model.onnx",
           model(GraphProto{
                     .nodes = {node("MatMul", {"image", "w"}, {"h"}), node("Softmax", {"h"}, {"s"}),
                               node("Concat", {"s", "h"}, {"both"}, {attribute("axis", 0)})},
                     .initializers = {floats("w", {3, 2}, {1, -1, 2, -2, 3, -3})},
                     .inputs = {value_info("image", Float, {-1, 3})},
                     .outputs = {value_info("both", Float, {-1, 2})}})
               .bytes());
  const onnx::Model model(model_path);
  const std::string unknown = error_of([&] {
    export_c(model, {.sizes = {{"n", 2}}, .open = {Dim("m", 1, 9)}}, out());
  });
  EXPECT_NE(unknown.find("no input of the model leaves a size \"m\" open"), std::string::npos)
      << unknown;
  export_c(model, {.open = {Dim("n", 1, 50)}}, out(), {.name = "tiny"});
  const std::string header = content(out() + "/tiny.h");
  EXPECT_NE(
      header.find("int tiny_run(tiny_state* self, int64_t n, const float* image, float* both)"),
      std::string::npos)
      << header;
  writes("  fwrite(both, 4, (size_t)(n[0] * 4), stdout);\n");
  const std::string run_one =
      program("tiny", 1, "  float* x = take((size_t)(n[0] * 12));\n",
              "  float* both = malloc((size_t)(n[0] * 16));\n", "n[0], x, both");
  for (std::int64_t n : {1, 2, 5, 50}) {
    const Tensor x = Tensor::uniform({n, 3}, -1, 1).realize();
    const std::string written = run(run_one, numbers({n}) + bytes_of(x));
    const Tensor both = model.run({{"image", x}}).at("both").tensor();
    expect_near(written, both.to_vector<float>(), n);
  }
}

TEST_P(OpenSizes, TheExampleRunsTheLastCall) {
  auto step = capture([](const Tensor& x) { return x * 2 + 1; });
  step.open("input 0", 0, Dim("the length", 1, 1000));
  step(Tensor::zeros({5}));
  step(Tensor::zeros({3}));
  export_c(step, out(), {.name = "example"});
  const std::string main = content(out() + "/main.c");
  EXPECT_NE(main.find("if (example_run(&state, 3, input0, output0) != EXAMPLE_OK) return 1;"),
            std::string::npos)
      << main;
  EXPECT_EQ(run(compile("example", main)), "output0: 1 1 1\n");
}

TEST_P(OpenSizes, SizesMayBeClosed) {
  auto step = capture([](const Tensor& x) { return x * 2; });
  step.open("input 0", 0, Dim("length", 1, 1000));
  step(Tensor::zeros({5}));
  export_c(step, out(), {.name = "closed", .open_sizes = false});
  EXPECT_NE(content(out() + "/closed.h").find("float32, shape (5,), 5 elements"),
            std::string::npos);
  compile_alone("closed");
}

// ---- what is refused --------------------------------------------------------------------------

class RefusedOpenSizes : public FilesTest {};

TEST_F(RefusedOpenSizes, OneSizeShowsNothing) {
  auto step = capture([](const Tensor& x) { return x * 2; });
  step.open("input 0", 0, Dim("length", 1, 1000));
  step(Tensor::zeros({5}));
  const std::string error = error_of([&] { export_c(step, path("out")); });
  EXPECT_NE(error.find("the size length of a step is to stay open, but every call had 5"),
            std::string::npos)
      << error;
}

TEST_F(RefusedOpenSizes, AFunctionThatBranchesOnASize) {
  auto step = capture([](const Tensor& x) { return x.size(0) > 8 ? x.cumsum(0) : x * 2; });
  step.open("input 0", 0, Dim("length", 1, 1000));
  step(Tensor::zeros({5}));
  step(Tensor::zeros({9}));
  const std::string error = error_of([&] { export_c(step, path("out")); });
  EXPECT_NE(error.find("does something else for other sizes"), std::string::npos) << error;
}

TEST_F(RefusedOpenSizes, ANumberThatFollowsFromASizeUnseen) {
  auto step =
      capture([](const Tensor& x) { return x * std::sqrt(0.3 * static_cast<double>(x.size(0))); });
  step.open("input 0", 0, Dim("length", 1, 1000));
  step(Tensor::zeros({5}));
  step(Tensor::zeros({9}));
  const std::string error = error_of([&] { export_c(step, path("out")); });
  EXPECT_NE(error.find("depends on its sizes in a way that an export does not see"),
            std::string::npos)
      << error;
}

// The greatest of many sizes is as long as they are, and not twice as long for each.
TEST(SizesInC, EachOperandIsWrittenOnce) {
  Graph g;
  UOp size = g.variable(0, 1, 1000);
  for (int i = 1; i <= 40; i++) {
    size = g.alu(i % 2 ? Op::Max : Op::Min, {size * 2 - i, g.index(3 * i)});
  }
  exporting::Model model;
  model.sizes.push_back({.name = "n"});
  const std::string text = plain_c::in_c(LaunchSize::of(size), model);
  EXPECT_LT(text.size(), 2000u);
  EXPECT_NE(text.find("croze_greater("), text.npos) << text;
  EXPECT_NE(text.find("croze_lesser("), text.npos) << text;
}

}  // namespace
}  // namespace croze
