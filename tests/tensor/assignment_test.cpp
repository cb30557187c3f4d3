// What stands on the left of an assignment: variables are given another tensor, views are written
// through, and what nobody would see is refused.
#include "support/check.h"

namespace croze {
namespace {

using namespace test;
using namespace indexing;

Tensor counted() { return Tensor::arange(6).reshape({2, 3}).contiguous().realize(); }

TEST(Assignment, ToAnIndexWritesIntoTheTensor) {
  Tensor a = counted();
  a[0] = Tensor::from_data({7, 8, 9}, {3});
  expect_numbers(a, {7, 8, 9, 3, 4, 5});
  a[1][2] = 1;
  expect_numbers(a, {7, 8, 9, 3, 4, 1});
  a.index({Slice{}, 1}) = Tensor::from_data({-1, -2}, {2});
  expect_numbers(a, {7, -1, 9, 3, -2, 1});
  a[Slice{}] = 0;
  expect_numbers(a, {0, 0, 0, 0, 0, 0});
}

TEST(Assignment, WithAnOperatorWritesIntoTheTensor) {
  Tensor a = counted().cast(DType::Float32).realize();
  a[0] += 1;
  a[1] *= Tensor::from_data({2.f, 0.f, -1.f}, {3});
  a[0][0] -= 5;
  a.narrow(1, 2, 1) /= 3;
  expect_numbers(a, {-4, 2, 1, 6, 0, -5. / 3});
}

TEST(Assignment, ToAVariableGivesItAnotherTensor) {
  Tensor a = counted();
  Tensor row = a[0];
  row = Tensor::zeros({3});
  expect_numbers(a, {0, 1, 2, 3, 4, 5});
  std::vector<Tensor> list{a, a};
  list[0] = Tensor::ones({1});
  expect_numbers(a, {0, 1, 2, 3, 4, 5});
  expect_numbers(list[0], {1});
}

TEST(Assignment, IsCastAndExpanded) {
  Tensor a = counted();
  a[1] = 2.7;
  expect_numbers(a, {0, 1, 2, 2, 2, 2});
  EXPECT_EQ(a.dtype(), DType::Int64);
  const std::string text = error_of([&] { a[1] = Tensor::ones({4}); });
  EXPECT_NE(text.find("assign"), std::string::npos) << text;
}

// The first store has not happened yet when the second is recorded.
TEST(Assignment, ToWhatWasTakenFromLeavesWhatWasTaken) {
  Tensor x = Tensor::from_data({1, 2, 3}, {3}, {.dtype = DType::Float32}).contiguous().realize();
  x.assign(x + 1);
  const Tensor same = x * 1;
  Tensor copy = Tensor::zeros({3});
  copy.assign(x);
  x.assign(x * 10);
  copy.realize();
  expect_numbers(copy, {2, 3, 4});
  expect_numbers(same, {2, 3, 4});
  expect_numbers(x, {20, 30, 40});
}

TEST(Assignment, ThatNobodyWouldSeeIsRefused) {
  Tensor a = counted();
  const Tensor positions = Tensor::from_data({0, 1}, {2});
  for (const std::string& text :
       {error_of([&] { a[positions] = 1; }), error_of([&] { a[a > 2] = a[0]; }),
        error_of([&] { a[positions] += 1; }), error_of([&] { relu(a) = a; })}) {
    EXPECT_NE(text.find("index_put_"), std::string::npos) << text;
    EXPECT_NE(text.find("assignment_test.cpp"), std::string::npos) << text;
  }
  expect_numbers(a, {0, 1, 2, 3, 4, 5});
}

}  // namespace
}  // namespace croze
