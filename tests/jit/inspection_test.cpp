// Looking into captured steps: printing in them, and the checks of CROZE_CHECK_NAN and
// CROZE_CHECK_INDICES.
#include "croze/base/options.h"
#include "croze/jit/capture.h"
#include "croze/jit/recording.h"
#include "croze/tensor/print.h"
#include "support/check.h"

namespace croze {
namespace {

using namespace test;

TEST(Inspection, PrintingSaysThatNothingIsComputedInACapturedStep) {
  std::string text;
  auto step = capture([&](const Tensor& x) {
    text = to_text(x * 2);
    return x + 1;
  });
  step(Tensor::ones({2, 3}));
  EXPECT_EQ(text, "<tensor of float32 (2, 3), not computed: a step is captured>");
}

TEST(Inspection, AStepSaysWhatAReplayDoes) {
  Tensor weight = Tensor::ones({40, 30}).realize();
  auto step = capture([&](const Tensor& x) {
    const Tensor rows = matmul(x, weight);
    weight.assign(weight * 0.5);
    return rows.softmax(0);
  });
  EXPECT_THROW(step.step().explanation(), Error);
  step(Tensor::ones({20, 40}));
  const Explanation e = step.step().explanation();
  EXPECT_EQ(std::ssize(e.launches), step.step().summary().kernels);
  EXPECT_EQ(e.result_bytes, 20 * 30 * 4);
  std::int64_t alive = 0;
  for (const ExplainedPeak& peak : e.peaks) alive += peak.bytes;
  EXPECT_EQ(alive, step.step().summary().arena_lower_bound);
}

// A recording is a copy: what later calls do is not seen in it.
TEST(Inspection, AStepTellsWhatItHasRecorded) {
  Tensor sum = Tensor::zeros({3}).realize();
  const Tensor scale = Tensor::full({3}, 2.).realize();
  auto step = capture([&](const Tensor& x) {
    sum.assign(sum + x);
    return sum * scale;
  });
  EXPECT_NE(error_of([&] { step.step().recording(); }).find("before its first call"),
            std::string::npos);
  step(Tensor::ones({3}));
  const StepRecording recording = step.step().recording();
  step(Tensor::ones({3}));
  ASSERT_EQ(recording.inputs.size(), 1u);
  EXPECT_EQ(recording.inputs[0].shape, (Shape{3}));
  ASSERT_EQ(recording.results.size(), 1u);
  ASSERT_EQ(recording.places.size(), 3u);
  ASSERT_EQ(recording.graph.inputs.size(), 3u);
  EXPECT_TRUE(recording.random_keys.empty());
  for (const StepRecording::Place& place : recording.places) {
    if (place.input == 0) continue;
    const Tensor contents = Tensor::from_bytes(place.contents, DType::Float32, {3});
    const float held = place.is_written ? 1 : 2;
    expect_numbers(contents, {held, held, held});
  }
}

// The function runs itself, so that what is found has its lines.
TEST(Inspection, ChecksSeeIntoAStep) {
  const Options::Scope scope{{Option::CheckNan, true}, {Option::CheckIndices, true}};
  Tensor calls = Tensor::zeros({1}).realize();
  int line = 0;
  auto step = capture([&](const Tensor& x, const Tensor& index) {
    calls += 1;
    line = __LINE__ + 1;
    const Tensor y = log(x)[index];
    return y + 1;
  });
  const Tensor index = Tensor::from_data({0, 1}, {2});
  expect_numbers(step(Tensor::ones({2}), index), {1, 1});
  expect_numbers(step(Tensor::ones({2}), index), {1, 1});
  expect_numbers(calls, {2});
  const std::string place = "inspection_test.cpp:" + std::to_string(line);
  std::string text = error_of([&] { step(Tensor::from_data({1.f, 0.f}, {2}), index); });
  EXPECT_NE(text.find("log: "), std::string::npos) << text;
  EXPECT_NE(text.find(place), std::string::npos) << text;
  text = error_of([&] { step(Tensor::ones({2}), index + 1); });
  EXPECT_NE(text.find("index 2"), std::string::npos) << text;
  EXPECT_NE(text.find(place), std::string::npos) << text;
}

}  // namespace
}  // namespace croze
