// What would make a captured step give other values than its function is an error, which names the
// line where the step was captured.
#include <gtest/gtest.h>

#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "croze/croze.h"
#include "croze/jit/capture.h"
#include "support/errors.h"

namespace croze {
namespace {

using test::error_of;
using Floats = std::vector<float>;

Tensor floats(const Floats& values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}

void expect_in(const std::string& error, std::initializer_list<std::string> texts) {
  for (const std::string& text : texts) EXPECT_NE(error.find(text), std::string::npos) << error;
}

std::string line_after(int lines, Location at = Location::current()) {
  return "refusals_test.cpp:" + std::to_string(static_cast<int>(at.line()) + lines);
}

TEST(Refusals, NameTheLineThatReadsData) {
  std::string line;
  auto step = capture([&](const Tensor& x) {
    line = line_after(1);
    return x * x.sum().item<float>();
  });
  const std::string error = error_of([&] { step(floats({1})); });
  expect_in(error, {"captured", line});
}

TEST(Refusals, NameTheLineOfTheStepWhoseInputsChange) {
  const std::string line = line_after(1);
  auto step = capture([](const Tensor& x) { return x + 1; });
  step(floats({1, 2}));
  expect_in(error_of([&] { step(floats({1})); }), {"input 0", "(2,)", "(1,)", line});
}

TEST(Refusals, NameTheLineOfAStepInsideOfAStep) {
  const std::string line = line_after(1);
  auto inner = capture([](const Tensor& x) { return x + 1; });
  auto outer = capture([&](const Tensor& x) { return inner(x); });
  expect_in(error_of([&] { outer(floats({1})); }), {"while another one is captured", line});
}

// ---- one memory as two inputs -------------------------------------------------------------------

TEST(SharedInputs, AreRefusedIfOneIsAssignedTo) {
  auto step = capture([](const Tensor& a, const Tensor& b) {
    Tensor mine = a;
    mine += 1;
    return mine * 10 + b;
  });
  const Tensor x = floats({1, 2, 3}).realize();
  const std::string first = error_of([&] { step(x, x); });
  expect_in(first, {"input 1", "the same memory as input 0", "refusals_test.cpp"});
  EXPECT_EQ(x.to_vector<float>(), (Floats{1, 2, 3}));
  EXPECT_EQ(step(x, floats({5, 5, 5})).to_vector<float>(), (Floats{25, 35, 45}));
  expect_in(error_of([&] { step(x, x); }), {"the same memory"});
  const Tensor view = x.detach();
  expect_in(error_of([&] { step(x, view); }), {"the same memory"});
  const Tensor pending = x * 2;
  expect_in(error_of([&] { step(pending, pending); }), {"the same memory"});
  EXPECT_EQ(step(x, x * 1).to_vector<float>(), (Floats{21, 32, 43}));
}

TEST(SharedInputs, AreWelcomeIfNoneIsAssignedTo) {
  auto step = capture([](const Tensor& a, const Tensor& b) { return a * 10 + b; });
  const Tensor x = floats({1, 2}).realize();
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(step(x, x.flip(0)).to_vector<float>(), (Floats{12, 21}));
    EXPECT_EQ(step(x, x).to_vector<float>(), (Floats{11, 22}));
  }
}

// ---- variables that do not stay -----------------------------------------------------------------

TEST(ClosedOverTensor, ThatWasReboundIsRefused) {
  Tensor state = floats({0}).realize();
  auto step = capture([&](const Tensor& x) { return state + x; });
  EXPECT_EQ(step(floats({1})).item<float>(), 1);
  state.assign(floats({5}));
  EXPECT_EQ(step(floats({1})).item<float>(), 6);
  state = floats({7}).realize();
  expect_in(error_of([&] { step(floats({1})); }),
            {"float32 of shape (1,)", "given another tensor by `=`", "refusals_test.cpp"});
}

TEST(ClosedOverTensor, ThatTheFunctionItselfRebindsIsRefusedInTheSecondCall) {
  Tensor state = floats({0}).realize();
  auto step = capture([&](const Tensor& x) {
    state = state + x;
    return state * 1;
  });
  EXPECT_EQ(step(floats({1})).item<float>(), 1);
  expect_in(error_of([&] { step(floats({1})); }), {"nothing else refers to"});
}

TEST(ClosedOverTensor, ThatHasEndedIsRefused) {
  auto weights = std::make_unique<Tensor>(floats({2}).realize());
  auto step = capture([&](const Tensor& x) { return x * *weights; });
  EXPECT_EQ(step(floats({3})).item<float>(), 6);
  weights = std::make_unique<Tensor>(floats({4}).realize());
  expect_in(error_of([&] { step(floats({3})); }), {"its variable has ended"});
}

TEST(ClosedOverTensor, IsRefusedThoughAnotherStepHoldsItToo) {
  Tensor w = floats({2}).realize();
  auto once = capture([&](const Tensor& x) { return x * w; });
  auto twice = capture([&](const Tensor& x) { return x * w * w; });
  EXPECT_EQ(once(floats({3})).item<float>(), 6);
  EXPECT_EQ(twice(floats({3})).item<float>(), 12);
  w = floats({1}).realize();
  expect_in(error_of([&] { once(floats({3})); }), {"nothing else refers to"});
  expect_in(error_of([&] { twice(floats({3})); }), {"nothing else refers to"});
}

TEST(ClosedOverTensor, WhoseFirstStepIsGoneIsStillFoundToBeRebound) {
  Tensor w = floats({2}).realize();
  auto step = capture([&](const Tensor& x) { return x * w; });
  {
    auto other = capture([&](const Tensor& x) { return x + w; });
    EXPECT_EQ(other(floats({3})).item<float>(), 5);
  }
  EXPECT_EQ(step(floats({3})).item<float>(), 6);
  EXPECT_EQ(step(floats({4})).item<float>(), 8);
  w = floats({1}).realize();
  expect_in(error_of([&] { step(floats({3})); }), {"nothing else refers to"});
}

TEST(ClosedOverTensor, ThatIsHeldByTheFunctionOrAViewIsRead) {
  auto owning = capture([w = floats({2}).realize()](const Tensor& x) { return x * w; });
  const Tensor row = Tensor::from_data({1.f, 2.f, 3.f, 4.f}, {2, 2}).realize()[1];
  auto viewing = capture([&](const Tensor& x) { return x * row; });
  const Tensor recorded = floats({1, 2}) * 2;
  auto recording = capture([&](const Tensor& x) { return x * recorded; });
  auto making = capture([](const Tensor& x) { return x * floats({5}); });
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(owning(floats({3})).item<float>(), 6);
    EXPECT_EQ(viewing(floats({1, 1})).to_vector<float>(), (Floats{3, 4}));
    EXPECT_EQ(recording(floats({1, 1})).to_vector<float>(), (Floats{2, 4}));
    EXPECT_EQ(making(floats({2})).item<float>(), 10);
  }
}

TEST(ClosedOverTensor, ThatWasRecordedAndThenReboundIsRefused) {
  Tensor scale = floats({1, 2}) * 2;
  auto step = capture([&](const Tensor& x) { return x * scale; });
  EXPECT_EQ(step(floats({1, 1})).to_vector<float>(), (Floats{2, 4}));
  scale = floats({9, 9});
  expect_in(error_of([&] { step(floats({1, 1})); }), {"nothing else refers to"});
}

}  // namespace
}  // namespace croze
