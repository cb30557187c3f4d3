// queue_test.cpp -- captured steps and what feeds them, on queues.
#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "croze/jit/capture.h"
#include "croze/jit/scan.h"
#include "croze/run/queue_scope.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/random/random.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {
namespace {

Tensor batch_of(int i) { return (Tensor::arange(8).cast(DType::Float32) + i).square().realize(); }

// w += mean(x) - w / 4, in so many steps.
template <typename F>
std::vector<float> trained(int steps, const F& feed) {
  Tensor w = Tensor::zeros({8}).realize();
  auto step = capture([&](const Tensor& x) {
    w.assign(w + x.mean() - w / 4);
    return w.sum();
  });
  std::vector<Tensor> losses;
  feed(steps, [&](const Tensor& x) { losses.push_back(step(x)); });
  std::vector<float> values = w.to_vector<float>();
  for (const Tensor& loss : losses) values.push_back(loss.item<float>());
  return values;
}

TEST(Queues, AnInputPipelineBesideTrainingChangesNoResult) {
  constexpr int steps = 30;
  const std::vector<float> expected = trained(steps, [](int n, const auto& step) {
    for (int i = 0; i < n; i++) step(batch_of(i));
  });
  Queue loading = make_queue(), training = make_queue();
  const std::vector<float> beside = trained(steps, [&](int n, const auto& step) {
    const auto load = [&](int i) {
      const QueueScope scope(loading);
      return batch_of(i);
    };
    Tensor next = load(0);
    for (int i = 0; i < n; i++) {
      const Tensor now = std::exchange(next, load(i + 1));
      const QueueScope scope(training);
      step(now);
    }
  });
  EXPECT_EQ(beside, expected);
}

// The step cannot begin before the batch after it has been loaded: the two go on at once.
TEST(Queues, TheNextBatchIsLoadedWhileAStepWaits) {
  Queue loading = make_queue(), training = make_queue();
  const Timeline loaded;
  auto step = capture([](const Tensor& x) { return x.sum(); });
  step(batch_of(0));
  const Tensor now = batch_of(1);
  Tensor sum;
  const Timestamp begins = training.timestamp();
  {
    const QueueScope scope(training);
    training.wait(loaded, 1);
    sum = step(now);
  }
  const Timestamp ends = training.timestamp();
  Tensor next;
  {
    const QueueScope scope(loading);
    next = batch_of(2);
  }
  const Timestamp is_loaded = loading.timestamp();
  loading.signal(loaded, 1);
  EXPECT_EQ(sum.item<float>(), 204);
  EXPECT_EQ(next.sum().item<float>(), 284);
  EXPECT_LE(is_loaded.time(), ends.time());
  EXPECT_LE(begins.time(), ends.time());
}

// The queue is held back until scan() and its gradient have returned.
TEST(Queues, LoopsAreEnqueuedWithTheirGradients) {
  const auto values = [](Queue* queue) {
    const Timeline go;
    const Tensor rows = batch_of(1).reshape({4, 2}), w = batch_of(0).narrow(0, 1, 2).realize();
    Tensor last, all, slope;
    const auto compute = [&] {
      const auto step = [&](const Tensor& h, const Tensor& x) {
        const Tensor next = h * w + x;
        return std::pair(next, next * 2.);
      };
      std::tie(last, all) = scan(step, Tensor::zeros({2}), rows);
      slope = all.sum().gradient({w})[0].realize();
    };
    if (queue) {
      const QueueScope scope(*queue);
      queue->wait(go, 1);
      compute();
    } else {
      compute();
    }
    go.signal(1);
    std::vector<float> numbers = last.to_vector<float>();
    for (const Tensor& t : {all, slope}) {
      for (float v : t.to_vector<float>()) numbers.push_back(v);
    }
    return numbers;
  };
  Queue queue = make_queue();
  EXPECT_EQ(values(&queue), values(nullptr));
}

TEST(Queues, RandomNumbersOfAStepAreThoseOfTheProgram) {
  const auto draws = [](Queue* queue) {
    manual_seed(5);
    auto step = capture([] { return Tensor::rand({4}); });
    std::vector<Tensor> all;
    for (int i = 0; i < 5; i++) {
      if (queue) {
        const QueueScope scope(*queue);
        all.push_back(step());
      } else {
        all.push_back(step());
      }
    }
    std::vector<float> values;
    for (const Tensor& t : all) {
      for (float v : t.to_vector<float>()) values.push_back(v);
    }
    return values;
  };
  Queue queue = make_queue();
  EXPECT_EQ(draws(&queue), draws(nullptr));
}

}  // namespace
}  // namespace croze
