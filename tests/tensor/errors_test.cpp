// Every misuse throws Error with the operation, the shapes and the line of the call.
#include "support/check.h"

namespace croze {
namespace {

using namespace test;
using namespace indexing;
using testing::Test;

const Tensor& a23() {
  static const Tensor t = Tensor::ones({2, 3});
  return t;
}

void expect_contains(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Errors, NameOperationShapesAndPlace) {
  const int line = __LINE__ + 1;
  const std::string text = error_of([] { a23() + Tensor::ones({2, 4}); });
  expect_contains(text,
                  {"add", "(2, 3)", "(2, 4)", "errors_test.cpp", std::to_string(line).c_str()});
}

TEST(Errors, NameDtypes) {
  expect_contains(error_of([] { a23() & a23(); }), {"bitwise_and", "float32"});
  expect_contains(error_of([] { ~a23(); }), {"bitwise_not", "float32"});
  expect_contains(error_of([] { -(a23() > 0); }), {"neg", "bool"});
  expect_contains(error_of([] { (a23() > 0) - (a23() > 0); }), {"sub", "bool"});
  expect_contains(error_of([] { a23().bitcast(DType::Int8); }), {"bitcast", "int8"});
  expect_contains(error_of([] { a23().cast(DType::Index); }), {"cast"});
  expect_contains(error_of([] { Tensor::linspace(0, 1, 3, {.dtype = DType::Int32}); }),
                  {"linspace"});
  expect_contains(error_of([] { Tensor::rand({2}, {.dtype = DType::Int32}); }), {"rand", "int32"});
  expect_contains(error_of([] { Tensor::ones({2}, {.dtype = DType::Int32}).var(); }),
                  {"var", "int32"});
  expect_contains(error_of([] { pow(Tensor::arange(3), -1); }), {"pow"});
}

TEST(Errors, OfShapes) {
  expect_contains(error_of([] { a23().reshape({4, 2}); }), {"reshape", "6 elements", "(4, 2)"});
  expect_contains(error_of([] { a23().reshape({-1, -1}); }), {"more than one -1"});
  expect_contains(error_of([] { a23().reshape({-1, 4}); }), {"reshape"});
  expect_contains(error_of([] { a23().expand({2, 4}); }), {"expand"});
  expect_contains(error_of([] { a23().permute({0, 0}); }), {"permute", "twice"});
  expect_contains(error_of([] { a23().permute({0}); }), {"permute"});
  expect_contains(error_of([] { a23().sum(2); }), {"sum", "axis 2"});
  expect_contains(error_of([] { a23().sum({1, -1}); }), {"twice"});
  expect_contains(error_of([] { matmul(a23(), a23()); }), {"matmul", "3 and 2"});
  expect_contains(error_of([] { matmul(a23(), Tensor::scalar(1.0)); }), {"matmul"});
  expect_contains(error_of([] { cat({a23(), Tensor::ones({2, 4})}); }), {"cat", "(2, 4)"});
  expect_contains(error_of([] { stack({a23(), Tensor::ones({2, 4})}); }), {"stack"});
  expect_contains(error_of([] { cat(std::span<const Tensor>()); }), {"cat"});
  expect_contains(error_of([] { a23().split({1, 2}); }), {"split", "add up"});
  expect_contains(error_of([] { a23().split(0); }), {"split"});
  expect_contains(error_of([] { a23().pad({1}); }), {"pad"});
  expect_contains(error_of([] { a23().pad({-2, -2}); }), {"pad", "cut"});
  expect_contains(error_of([] { a23().unfold(1, 4, 1); }), {"unfold", "wider"});
  expect_contains(error_of([] { a23().repeat({2}); }), {"repeat"});
  expect_contains(error_of([] { a23().narrow(1, 2, 2); }), {"narrow"});
  expect_contains(error_of([] { conv2d(a23(), a23()); }), {"conv2d"});
  expect_contains(error_of([] {
                    conv2d(Tensor::ones({1, 3, 4, 4}), Tensor::ones({2, 2, 3, 3}));
                  }),
                  {"conv2d"});
  expect_contains(error_of([] { layer_norm(a23(), 1, Tensor::ones({2})); }), {"layer_norm"});
  expect_contains(error_of([] { Tensor::ones({1}).triu(); }), {"triu"});
}

TEST(Errors, OfSizes) {
  expect_contains(error_of([] { Tensor::zeros({-1}); }), {"zeros", "negative"});
  expect_contains(error_of([] { Tensor::zeros({1 << 30, 1 << 30, 1 << 30}); }), {"too many"});
  expect_contains(error_of([] {
                    Tensor::ones({1 << 30, 1}) + Tensor::ones({1 << 30, 1, 1 << 30});
                  }),
                  {"too many"});
  expect_contains(error_of([] { Tensor::ones({1 << 30}).repeat({1 << 30, 1 << 30}); }), {"repeat"});
  expect_contains(error_of([] {
                    Tensor::from_data({1.f, 2.f}, {3});
                  }),
                  {"from_data", "12 bytes", "8"});
  expect_contains(error_of([] { a23().item<float>(); }), {"item", "6 elements"});
  expect_contains(error_of([] { Tensor::zeros({0}).max(); }), {"max", "no elements"});
  expect_contains(error_of([] { Tensor::zeros({0}).argmax(); }), {"argmax"});
  expect_contains(error_of([] { Tensor::arange(0, 5, 0); }), {"step is zero"});
  expect_contains(error_of([] { Tensor::arange(0, 5, -1); }), {"leads away"});
  expect_contains(error_of([] { Tensor::arange(0, 1e30, 1e-30); }), {"too many"});
}

TEST(Errors, OfIndices) {
  expect_contains(error_of([] { a23()[2]; }), {"index 2", "size 2"});
  expect_contains(error_of([] { a23()[-3]; }), {"index -3"});
  expect_contains(error_of([] { a23().index({0, 0, 0}); }), {"3 indices"});
  expect_contains(error_of([] { a23().index({Ellipsis, Ellipsis}); }), {"Ellipsis"});
  expect_contains(error_of([] { a23()[a23()]; }), {"integers", "float32"});
  expect_contains(error_of([] { a23()[Tensor::ones({3}, {.dtype = DType::Bool})]; }), {"mask"});
  expect_contains(error_of([] { a23()[Slice{0, 1, 0}]; }), {"step"});
  expect_contains(error_of([] { a23().gather(1, Tensor::arange(3)); }), {"gather"});
  expect_contains(error_of([] {
                    a23().gather(0, Tensor::zeros({1, 4}, {.dtype = DType::Int64}));
                  }),
                  {"larger"});
  Tensor t = Tensor::ones({2, 3}).realize();
  expect_contains(error_of([&] { t.index_put_({0}, Tensor::ones({4})); }), {"index_put_"});
  expect_contains(error_of([&] { t.assign(Tensor::ones({4})); }), {"assign"});
}

TEST(Errors, OfGradients) {
  const Tensor x = Tensor::ones({2}).realize();
  expect_contains(error_of([&] { x.gradient({x}); }), {"one float element"});
  expect_contains(error_of([&] { x.sum().cast(DType::Int32).gradient({x}); }),
                  {"one float element"});
  const Tensor i = Tensor::from_data({1}, {1});
  expect_contains(error_of([&] { (i * x).sum().gradient({i}); }), {"target 0", "float"});
  const Tensor constant = Tensor::ones({2});
  expect_contains(error_of([&] { (constant * x).sum().gradient({constant}); }),
                  {"constant", "realize()"});
}

TEST(Errors, OfUndefinedTensorsAndUnknownDevices) {
  const auto expect_line = [](int line, auto misuse, std::initializer_list<const char*> parts) {
    const std::string text = error_of(misuse);
    expect_contains(text, parts);
    expect_contains(text, {("errors_test.cpp:" + std::to_string(line)).c_str()});
    EXPECT_EQ(text.find("croze/tensor/"), std::string::npos) << text;
  };
  const Tensor none;
  // Each on one line: it is the line that is asked for.
  expect_line(__LINE__, [&] { none + 1; }, {"not defined"});
  expect_line(__LINE__, [&] { -none; }, {"not defined"});
  expect_line(__LINE__, [&] { none.shape(); }, {"not defined"});
  expect_line(__LINE__, [&] { none.realize(); }, {"not defined"});
  expect_line(__LINE__, [&] { none.to_vector<float>(); }, {"not defined"});
  expect_line(__LINE__, [&] { none.cast(DType::Int8); }, {"not defined"});
  expect_line(__LINE__, [&] { exp(none); }, {"not defined"});
  expect_line(__LINE__, [&] { none.relu(); }, {"not defined"});
  expect_line(__LINE__, [&] { matmul(a23(), none); }, {"not defined"});
  expect_line(__LINE__, [&] { Tensor::zeros({2}, {.device = "TOASTER"}); }, {"TOASTER"});
  expect_line(__LINE__, [&] { a23().to("TOASTER"); }, {"TOASTER"});
  expect_contains(error_of([] { dropout(a23(), 1.5, true); }), {"dropout", "1.5"});
}

TEST(Errors, OfValuesForWhichThereIsNoMemory) {
  const std::int64_t much = std::int64_t{1} << 50;
  const Tensor x = Tensor::ones({much});  // itself it takes none
  expect_contains(error_of([&] { x.to_vector<float>(); }), {"memory", "1125899906842624"});
  expect_contains(error_of([&] { x.to_bytes(); }), {"memory", "4503599627370496"});
  expect_contains(
      error_of([&] { x.contiguous().realize(); }),
      {"1125899906842624 elements", "4194304.0 GiB", "more than the limit", "CROZE_MEMORY_LIMIT"});
}

TEST(Errors, OfMixedDevices) {
  const Tensor here = Tensor::from_data({1.f}, {1}, {.device = "CPU"});
  const Tensor there = Tensor::from_data({1.f}, {1}, {.device = "INTERP"});
  expect_contains(error_of([&] { here + there; }), {"different devices", "CPU", "INTERP"});
}

}  // namespace
}  // namespace croze
