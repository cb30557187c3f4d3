// Making tensors, and reading them back.
#include <array>
#include <span>
#include <string>
#include <vector>

#include "croze/run/devices.h"
#include "support/check.h"
#include "support/errors.h"

namespace croze {
namespace {

using namespace test;

TEST(Creation, FillsWithANumber) {
  expect_numbers(Tensor::zeros({2, 2}), {0, 0, 0, 0});
  expect_numbers(Tensor::ones({3}), {1, 1, 1});
  expect_numbers(Tensor::full({2}, 2.5), {2.5, 2.5});
  EXPECT_EQ(Tensor::full({2}, 2.5).dtype(), DType::Float32);
  EXPECT_EQ(Tensor::full({2}, 2).dtype(), DType::Int64);
  EXPECT_EQ(Tensor::full({2}, true).dtype(), DType::Bool);
  EXPECT_EQ(Tensor::scalar(7).item<int>(), 7);
  EXPECT_EQ(Tensor::zeros({2}, {.dtype = DType::Int8}).dtype(), DType::Int8);
  expect_numbers(Tensor::full_like(Tensor::zeros({2}, {.dtype = DType::Float16}), 3), {3, 3});
}

TEST(Creation, CountsUpAndDown) {
  expect_numbers(Tensor::arange(4), {0, 1, 2, 3});
  EXPECT_EQ(Tensor::arange(4).dtype(), DType::Int64);
  expect_numbers(Tensor::arange(2, 9, 3), {2, 5, 8});
  expect_numbers(Tensor::arange(5, 0, -2), {5, 3, 1});
  expect_numbers(Tensor::arange(0, 1, 0.25), {0, 0.25, 0.5, 0.75});
  EXPECT_EQ(Tensor::arange(0, 1, 0.25).dtype(), DType::Float32);
  EXPECT_EQ(Tensor::arange(3, 3).numel(), 0);
  expect_numbers(Tensor::arange(3, {.dtype = DType::Float16}), {0, 1, 2});
}

TEST(Creation, DividesAnInterval) {
  expect_numbers(Tensor::linspace(0, 1, 5), {0, 0.25, 0.5, 0.75, 1});
  expect_numbers(Tensor::linspace(3, -1, 3), {3, 1, -1});
  expect_numbers(Tensor::linspace(2, 5, 1), {2});
  EXPECT_EQ(Tensor::linspace(0, 1, 0).numel(), 0);
  EXPECT_EQ(Tensor::linspace(0.1, 0.7, 50).to_vector<float>().back(), 0.7f);
}

TEST(Creation, PutsOnesOnTheDiagonal) {
  expect_numbers(Tensor::eye(2), {1, 0, 0, 1});
  expect_numbers(Tensor::eye(2, 3), {1, 0, 0, 0, 1, 0});
}

TEST(Creation, CopiesDataOfEveryHostType) {
  const std::vector<int> ints{1, -2, 3};
  EXPECT_EQ(Tensor::from_data(ints, {3}).dtype(), DType::Int32);
  EXPECT_EQ(Tensor::from_data(ints, {3}).to_vector<int>(), ints);
  EXPECT_EQ(Tensor::from_data({true, false}, {2}).to_vector<bool>(),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(Tensor::from_data({1.5, 2.5}, {2}).dtype(), DType::Float64);
  const std::array<std::uint8_t, 2> bytes{200, 3};
  EXPECT_EQ(Tensor::from_data(std::span<const std::uint8_t>(bytes), {2}).to_vector<int>(),
            (std::vector<int>{200, 3}));
  const Tensor half = Tensor::from_data({1.f, 0.1f}, {2}, {.dtype = DType::Float16});
  EXPECT_EQ(half.dtype(), DType::Float16);
  expect_numbers(half, {1, 0.0999755859375}, 0);
}

TEST(Creation, UsesMemoryOfTheCaller) {
  auto values = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const float* memory = values->data();
  std::weak_ptr<std::vector<float>> watch = values;
  const Tensor t =
      Tensor::from_blob(memory, {2, 2}, DType::Float32, std::move(values), {.device = "CPU"});
  EXPECT_FALSE(watch.expired());
  expect_numbers(t * 2, {2, 4, 6, 8});
}

TEST(Creation, ReadsBackConverted) {
  const Tensor t = Tensor::from_data({1.75f, -2.25f}, {2});
  EXPECT_EQ(t.to_vector<int>(), (std::vector<int>{1, -2}));
  EXPECT_EQ(t.to_vector<double>(), (std::vector<double>{1.75, -2.25}));
  EXPECT_EQ(t.to_bytes().size(), 8u);
  EXPECT_EQ(t[0].item<float>(), 1.75f);
}

TEST(Creation, ElementsAreCopiedToMemoryThatIsThere) {
  const Tensor t = Tensor::from_data({1.75f, -2.25f, 4.f, 8.f}, {2, 2}).permute({1, 0});
  std::vector<float> floats(4);
  t.copy_to(std::span(floats));
  EXPECT_EQ(floats, (std::vector<float>{1.75f, 4, -2.25f, 8}));
  std::vector<std::int32_t> integers(6, -1);
  t.copy_to(std::span(integers).subspan(1, 4));
  EXPECT_EQ(integers, (std::vector<std::int32_t>{-1, 1, 4, -2, 8, -1}));
  EXPECT_NE(message_of([&] {
              t.copy_to(std::span(integers));
            }).find("the tensor has 4 elements, and there is room for 6"),
            std::string::npos);
  Tensor::zeros({0, 3}).copy_to(std::span<float>());
}

TEST(Creation, KnowsItself) {
  const Tensor t = Tensor::zeros({2, 3, 4}, {.dtype = DType::Int16});
  EXPECT_EQ(t.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(t.dtype(), DType::Int16);
  EXPECT_EQ(t.ndim(), 3);
  EXPECT_EQ(t.numel(), 24);
  EXPECT_EQ(t.size(1), 3);
  EXPECT_EQ(t.size(-1), 4);
  EXPECT_EQ(t.device(), device_name(default_device()));
  EXPECT_FALSE(Tensor().defined());
}

TEST(Creation, EmptyTensorsWork) {
  const Tensor none = Tensor::zeros({0, 3});
  EXPECT_TRUE(none.to_vector<float>().empty());
  EXPECT_TRUE((none + 1).to_vector<float>().empty());
  expect_numbers(none.sum(), {0});
  expect_numbers(none.sum(0), {0, 0, 0});
  expect_numbers(matmul(Tensor::ones({2, 0}), none), {0, 0, 0, 0, 0, 0});
  expect_numbers(cat({none, Tensor::ones({1, 3})}), {1, 1, 1});
  expect_numbers(none.pad({0, 0, 1, 0}), {0, 0, 0});
  expect_numbers(none.prod(), {1});
  EXPECT_EQ(Tensor::from_data(std::vector<float>{}, {0}).numel(), 0);
}

TEST(Creation, AShapeMayComeFromAnyIntegers) {
  const std::vector<int> sizes{2, 3};
  EXPECT_EQ(Tensor::zeros(sizes).shape(), (Shape{2, 3}));
  EXPECT_EQ(Tensor::zeros(Tensor::zeros({4}).shape()).numel(), 4);
}

TEST(Creation, FromAnyNumbersThatLieInOnePiece) {
  std::vector<float> list{1, 2, 3, 4};
  const std::span<float> writable(list);
  const std::array<double, 3> array{5, 6, 7};
  const std::int16_t plain[] = {8, 9};
  expect_numbers(Tensor::from_data(writable, {2, 2}), {1, 2, 3, 4});
  expect_numbers(Tensor::from_data(writable.subspan(1, 2), {2}), {2, 3});
  expect_numbers(Tensor::from_data(array, {3}), {5, 6, 7});
  expect_numbers(Tensor::from_data(plain, {2}), {8, 9});
  expect_numbers(Tensor::from_data(std::array{true, false}, {2}), {1, 0});
  EXPECT_EQ(Tensor::from_data(array, {3}).dtype(), DType::Float64);
  EXPECT_EQ(Tensor::from_data(plain, {2}).dtype(), DType::Int16);
  EXPECT_EQ(Tensor::from_data(writable, {4}, {.dtype = DType::Float16}).dtype(), DType::Float16);
  static_assert(!NumbersInMemory<std::vector<bool>>, "its elements have no addresses");
  static_assert(!NumbersInMemory<std::vector<std::string>>);
}

TEST(Creation, WithADTypeAlone) {
  EXPECT_EQ(Tensor::zeros({2}, DType::Float16).dtype(), DType::Float16);
  EXPECT_EQ(Tensor::ones({2}, DType::Int8).dtype(), DType::Int8);
  EXPECT_EQ(Tensor::empty({2}, DType::Bool).dtype(), DType::Bool);
  EXPECT_EQ(Tensor::full({2}, 3, DType::Float64).dtype(), DType::Float64);
  EXPECT_EQ(Tensor::arange(4, DType::Int32).dtype(), DType::Int32);
  EXPECT_EQ(Tensor::rand({2}, DType::Float64).dtype(), DType::Float64);
  EXPECT_EQ(Tensor::randn({2}, DType::BFloat16).dtype(), DType::BFloat16);
  EXPECT_EQ(Tensor::zeros({2}, {}).dtype(), DType::Float32);
}

}  // namespace
}  // namespace croze
