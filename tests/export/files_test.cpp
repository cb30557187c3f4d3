// What is written, and what is refused.
#include <croze/croze.h>
#include <croze/nn/nn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "croze/export/c/model.h"
#include "croze/export/c/words.h"
#include "croze/export/onnx.h"
#include "exported.h"
#include "io/onnx/messages.h"

namespace croze {
namespace {

using namespace croze::test;

class Exported : public ExportTest {};
INSTANTIATE_TEST_SUITE_P(Compilers, Exported, testing::Values("gcc", "clang"), compiler_name);

// y = x w + b, a step that has been called.
struct Affine {
  Tensor w = Tensor::uniform({4, 3}, -1, 1).realize(), b = Tensor::ones({3}).realize();

  auto step() const {
    auto captured = capture([w = w, b = b](const Tensor& x) { return matmul(x, w) + b; });
    captured(Tensor::zeros({2, 4}));
    return captured;
  }
};

TEST_P(Exported, ARunAllocatesNothing) {
  export_c(Affine().step(), out(), {.name = "affine"});
  EXPECT_EQ(content(out() + "/affine.c").find("alloc"), std::string::npos);
  if (find_command("nm").empty()) GTEST_SKIP() << "there is no nm on the PATH";
  compile("affine", "#include \"affine.h\"\nint main(void) { return 0; }\n");
  const std::string object = path("affine.o");
  ASSERT_EQ(std::system(fmt::format("cc -std=c11 -O3 -c {0}/affine.c -o {1} && nm -u {1} >{2}",
                                    out(), object, path("symbols"))
                            .c_str()),
            0);
  const std::string symbols = content(path("symbols"));
  for (const char* name : {"malloc", "calloc", "realloc", "free"}) {
    EXPECT_EQ(symbols.find(name), std::string::npos) << symbols;
  }
}

TEST_P(Exported, TheProjectBuildsWithCMakeAndTheExampleRuns) {
  if (find_command("cmake").empty()) GTEST_SKIP() << "there is no cmake on the PATH";
  for (const bool embed : {true, false}) {
    export_c(Affine().step(), out(), {.name = "affine", .embed_weights = embed});
    const std::string build = path(embed ? "build" : "build-beside");
    const std::string line = fmt::format(
        "cmake -S {0} -B {1} >{2} 2>&1 && cmake --build {1} >>{2} 2>&1 && cd {0} && "
        "{1}/affine_example >{3}",
        out(), build, path("log"), path("printed"));
    ASSERT_EQ(std::system(line.c_str()), 0) << content(path("log"));
    EXPECT_EQ(content(path("printed")), "output0: 1 1 1 1 1 1\n");
  }
}

// Arrays of C hold what tensors hold, at the ends of each type too.
TEST_P(Exported, WeightsOfEveryTypeKeepTheirBits) {
  constexpr DType integers[] = {DType::Int8,    DType::UInt8,    DType::Int16,     DType::UInt16,
                                DType::Int32,   DType::UInt32,   DType::Int64,     DType::UInt64,
                                DType::Float16, DType::BFloat16, DType::Float8E4M3};
  std::vector<Tensor> weights;
  for (DType t : integers) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(4 * size_of(t)));
    for (std::size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<std::byte>(i * 37 + 1);
    const auto element = static_cast<std::size_t>(size_of(t));
    for (std::size_t i = 0; i < element; i++) bytes[i] = std::byte{0};
    bytes[element - 1] = std::byte{0x80};  // the least of a signed type
    weights.push_back(Tensor::from_bytes(bytes, t, {4}));
  }
  const double inf = std::numeric_limits<double>::infinity();
  weights.push_back(Tensor::from_data({inf, -inf, -0., 4.9e-324}, {4}));
  weights.push_back(Tensor::from_data({3.4028235e38f, -1e-45f, -0.f, 0.1f}, {4}));
  weights.push_back(Tensor::from_data({1, 0, 1, 1}, {4}).cast(DType::Bool).realize());
  auto step = capture([&](const Tensor&) {
    std::vector<Tensor> results;
    for (const Tensor& w : weights) results.push_back(w.flip({0}).contiguous());
    return results;
  });
  const Tensor x = Tensor::zeros({1}).realize();
  std::string expected;
  std::vector<CPort> ports;
  for (const Tensor& y : step(x)) {
    expected += bytes_of(y);
    ports.push_back({std::string(plain_c::c_type(y.dtype())), 4});
  }
  export_c(step, out(), {.name = "types"});
  expect_same_bits(results("types", {{"float", 1}}, ports, bytes_of(x)), expected);
}

// The same results with weights beside, and none with those of another export.
TEST_P(Exported, WeightsMayStandBeside) {
  const Affine net;
  auto step = net.step();
  const Tensor x = Tensor::uniform({2, 4}, -1, 1).realize();
  export_c(step, out(), {.name = "affine", .embed_weights = false});
  EXPECT_TRUE(std::filesystem::exists(out() + "/affine.weights"));
  EXPECT_FALSE(std::filesystem::exists(out() + "/affine_weights.h"));
  const char* text = R"(#include <stdio.h>
#include "affine.h"
static _Alignas(64) unsigned char arena[AFFINE_ARENA_BYTES], weights[4096];
int main(void) {
  static affine_state state;
  float x[8], y[6];
  FILE* file = fopen("affine.weights", "rb");
  const size_t bytes = fread(weights, 1, sizeof weights, file);
  fclose(file);
  if (affine_init(&state, arena, sizeof arena, weights, bytes) != AFFINE_OK) return 1;
  if (affine_init(&state, arena, sizeof arena, weights, bytes - 1) != AFFINE_BAD_WEIGHTS) return 2;
  weights[0] ^= 1;
  if (affine_init(&state, arena, sizeof arena, weights, bytes) != AFFINE_BAD_WEIGHTS) return 3;
  if (fread(x, 1, sizeof x, stdin) != sizeof x) return 4;
  affine_run(&state, x, y);
  return fwrite(y, 1, sizeof y, stdout) != sizeof y;
}
)";
  expect_same_bits(run(compile("affine", text), bytes_of(x)), Reference(step.step()).run({&x, 1}));
}

TEST_P(Exported, AnArenaThatWillNotDoIsRefused) {
  export_c(Affine().step(), out(), {.name = "affine"});
  run(compile("affine", R"(#include "affine.h"
static _Alignas(64) unsigned char arena[AFFINE_ARENA_BYTES + 64];
int main(void) {
  affine_state state;
  if (affine_init(&state, NULL, sizeof arena) != AFFINE_BAD_ARENA) return 1;
  if (affine_init(&state, arena, AFFINE_ARENA_BYTES - 1) != AFFINE_BAD_ARENA) return 2;
  if (affine_init(&state, arena + 1, AFFINE_ARENA_BYTES) != AFFINE_BAD_ARENA) return 3;
  return affine_init(&state, arena, AFFINE_ARENA_BYTES) != AFFINE_OK;
}
)"));
}

// Names that are no identifiers, that are keywords, that are the same, or that end comments.
TEST_P(Exported, NamesMayHoldAnything) {
  auto step = capture([](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor&) {
    return std::vector<Tensor>{a + b, c * 2., a + b};
  });
  const Tensor x = Tensor::arange(4).cast(DType::Float32).realize();
  step(x, x, x, x);
  export_c(step, out(),
           {.name = "named",
            .inputs = {"float", "*/ x\\", "self", "1st"},
            .outputs = {"a.b", "a b", "__"}});
  const std::string header = content(out() + "/named.h");
  EXPECT_NE(
      header.find("void named_run(named_state* self, const float* the_float, const float* x_, "
                  "const float* self_2, const float* x1st, float* a_b, float* a_b_2, float* x);"),
      std::string::npos)
      << header;
  const CPort f{"float", 4};
  expect_same_bits(results("named", {f, f, f, f}, {f, f, f},
                           bytes_of(x) + bytes_of(x) + bytes_of(x) + bytes_of(x)),
                   bytes_of(x * 2.) + bytes_of(x * 2.) + bytes_of(x * 2.));
}

TEST_P(Exported, AHeaderIsForCPlusPlusToo) {
  export_c(Affine().step(), out(), {.name = "affine"});
  const std::string program =
      file("use.cpp", "#include \"affine.h\"\nint main() { return affine_arena_bytes() == 0; }\n");
  EXPECT_EQ(std::system(fmt::format("c++ -std=c++11 -Wall -Wextra -Werror -pedantic -fsyntax-only "
                                    "-I{} {}",
                                    out(), program)
                            .c_str()),
            0);
}

TEST_P(Exported, AModelOfOnnxIsCalledByItsNames) {
  using Graph = GraphProto;
  const std::string model_path = file(
      "model.onnx",
      model(Graph{.nodes = {node("MatMul", {"image", "w"}, {"h"}), node("Relu", {"h"}, {"scores"})},
                  .initializers = {floats("w", {3, 2}, {1, -1, 2, -2, 3, -3})},
                  .inputs = {value_info("image", Float, {-1, 3})},
                  .outputs = {value_info("scores", Float, {-1, 2})}})
          .bytes());
  const onnx::Model model(model_path);
  EXPECT_NE(error_of([&] { export_c(model, {}, out()); }).find("open size \"n\""),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(out()));
  export_c(model, {.sizes = {{"n", 2}}}, out(), {.name = "tiny"});
  const std::string header = content(out() + "/tiny.h");
  EXPECT_NE(header.find("const float* image, float* scores"), std::string::npos) << header;
  const Tensor x = Tensor::from_data({1.f, 0.f, 0.f, -1.f, 1.f, -1.f}, {2, 3});
  EXPECT_EQ(floats_of(results("tiny", {{"float", 6}}, {{"float", 4}}, bytes_of(x))),
            (std::vector<float>{1, 0, 0, 2}));
}

// An input that decides which branch is taken leaves with the value that it has.
TEST_P(Exported, AnInputOfAModelCanBeAConstant) {
  using Graph = GraphProto;
  const auto branch = [](const char* name, const char* op) {
    const Graph graph{.nodes = {node(op, {"image"}, {"result"})},
                      .outputs = {value_info("result", Float, {3})}};
    return graph_attribute(name, graph.message());
  };
  const Message choice = node("If", {"flag"}, {"scores"},
                              {branch("then_branch", "Neg"), branch("else_branch", "Relu")});
  const std::string model_path =
      file("model.onnx",
           model(Graph{.nodes = {choice},
                       .inputs = {value_info("image", Float, {3}), value_info("flag", Bool, {})},
                       .outputs = {value_info("scores", Float, {3})}})
               .bytes());
  const onnx::Model model(model_path);
  EXPECT_NE(error_of([&] { export_c(model, {}, out()); }).find("depends on the data"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              export_c(model, {.constants = {{"flags", Tensor::scalar(true)}}}, out());
            }).find("no input \"flags\""),
            std::string::npos);
  export_c(model, {.constants = {{"flag", Tensor::scalar(true)}}}, out(), {.name = "tiny"});
  const Tensor x = Tensor::from_data({1.f, -2.f, 3.f}, {3});
  EXPECT_EQ(floats_of(results("tiny", {{"float", 3}}, {{"float", 3}}, bytes_of(x))),
            (std::vector<float>{-1, 2, -3}));
}

// ---- what is refused, and leaves nothing ------------------------------------------------------

class Refused : public FilesTest {};

TEST_F(Refused, AStepThatWasNotCalled) {
  auto step = capture([](const Tensor& x) { return x + 1.; });
  const std::string error = error_of([&] { export_c(step, path("out")); });
  EXPECT_NE(error.find("before its first call"), std::string::npos) << error;
  EXPECT_EQ(file_count(), 0);
}

TEST_F(Refused, NamesThatDoNotFit) {
  const auto step = Affine().step();
  for (const char* name : {"", "two words", "for", "1st", "_x", "ä"}) {
    EXPECT_NE(error_of([&] { export_c(step, path("out"), {.name = name}); }).find("no identifier"),
              std::string::npos)
        << name;
  }
  EXPECT_NE(error_of([&] {
              export_c(step, path("out"), {.inputs = {"x", "y"}});
            }).find("names 2 inputs of a step that has 1"),
            std::string::npos);
  EXPECT_EQ(file_count(), 0);
}

TEST_F(Refused, InputsWithoutElements) {
  auto step = capture([](const Tensor& x) { return x.sum(); });
  step(Tensor::zeros({0, 3}));
  EXPECT_NE(error_of([&] { export_c(step, path("out")); }).find("no elements"), std::string::npos);
  EXPECT_EQ(file_count(), 0);
}

TEST_F(Refused, FoldersThatCannotBeMade) {
  const auto step = Affine().step();
  const std::string taken = file("taken", "a file");
  EXPECT_NE(error_of([&] { export_c(step, taken); }).find(taken), std::string::npos);
  EXPECT_NE(error_of([&] { export_c(step, taken + "/a/b"); }).find(taken), std::string::npos);
  EXPECT_EQ(content(taken), "a file");
  EXPECT_EQ(file_count(), 1);
}

// A folder stands where the third file should: the first two are not left, nor is what was made.
TEST_F(Refused, AFileThatCannotBeWrittenTakesTheOthersBack) {
  const auto step = Affine().step();
  std::filesystem::create_directories(path("out/affine_weights.h"));
  error_of([&] { export_c(step, path("out"), {.name = "affine"}); });
  EXPECT_FALSE(std::filesystem::exists(path("out/affine.h")));
  EXPECT_FALSE(std::filesystem::exists(path("out/affine.c")));
}

// ---- identifiers ------------------------------------------------------------------------------

TEST(Names, AreToldApart) {
  exporting::Names names(plain_c::reserved_words());
  EXPECT_EQ(names.unique("conv/weight:0"), "conv_weight_0");
  EXPECT_EQ(names.unique("conv_weight_0"), "conv_weight_0_2");
  EXPECT_EQ(names.unique("int"), "the_int");
  EXPECT_EQ(names.unique(""), "x");
  EXPECT_EQ(names.unique("__x"), "x_2");
  EXPECT_EQ(names.unique("\xc3\xa4"), "x_3");
}

}  // namespace
}  // namespace croze
