// Captured steps and the gradients of what was recorded beside them: a step that assigns changes
// what it assigns to and nothing else.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "croze/croze.h"
#include "croze/jit/capture.h"
#include "croze/run/buffers.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "support/errors.h"

namespace croze {
namespace {

using Floats = std::vector<float>;
using test::error_of;

Tensor floats(const Floats& values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}

Floats gradient(const Tensor& loss, const Tensor& target) {
  return loss.gradient({target})[0].to_vector<float>();
}

// What happens by itself when memory has doubled.
void drop_what_is_not_needed() {
  GraphLock lock;
  Registry::instance().collect();
}

TEST(History, ACapturedStepThatAssignsLeavesOtherTensorsTheirs) {
  Tensor w = Tensor::zeros({2}).realize();
  const Tensor a = floats({1, 2}), s = a.square(), recorded = (s * 3.).sum();
  const Tensor computed = (s * 5.).sum().realize();
  auto step = capture([&](const Tensor& x) {
    w += x;
    return x * 2.;
  });
  for (int i = 0; i < 3; i++) {
    step(Tensor::ones({2}));
    EXPECT_EQ(gradient((s * 3.).sum(), a), (Floats{6, 12}));
    EXPECT_EQ(gradient((s * 3. + a).sum(), a), (Floats{7, 13}));
    EXPECT_EQ(gradient(recorded, a), (Floats{6, 12}));
    EXPECT_EQ(gradient(computed, a), (Floats{10, 20}));
  }
  EXPECT_EQ(w.to_vector<float>(), (Floats{3, 3}));
}

// Of what a step assigns to a part, the rest has the past that it had.
TEST(History, ACapturedStepThatAssignsToAPartEndsThePastOfThatPart) {
  const Tensor a = floats({1, 2});
  Tensor w = floats({3, 4, 5, 6}).realize();
  w.assign(cat({a.square(), a * 3.}, 0));
  Tensor part = w.narrow(0, 1, 2);
  auto step = capture([&](const Tensor& x) { part.assign(part + x); });
  for (const float i : {1.f, 2.f, 3.f}) {
    step(a);
    EXPECT_EQ(w.to_vector<float>(), (Floats{1, 4 + i, 3 + 2 * i, 6}));
    EXPECT_EQ(gradient(w.sum(), a), (Floats{2, 3}));
    EXPECT_EQ(gradient(w.sum(), w), (Floats{1, 1, 1, 1}));
  }
  const Tensor loss = (w * w).sum().realize();
  EXPECT_EQ(gradient(loss, a), (Floats{4, 36}));
  step(a);
  const std::string error = error_of([&] { loss.gradient({a}); });
  EXPECT_NE(error.find("held before it was assigned to"), std::string::npos) << error;
}

TEST(History, WhatItAssignedToIsNamedWhereItIsNeeded) {
  Tensor w = floats({3, 4}).realize();
  const Tensor a = floats({1, 2});
  auto step = capture([&](const Tensor& x) { w += x; });
  step(a);
  const Tensor loss = (w * a).sum().realize();
  EXPECT_EQ(gradient(loss, a), (Floats{4, 6}));
  EXPECT_EQ(gradient(loss, w), (Floats{1, 2}));
  step(a);
  const std::string by_w = error_of([&] { loss.gradient({w}); });
  EXPECT_NE(by_w.find("was assigned to at"), std::string::npos) << by_w;
  EXPECT_NE(by_w.find("history_test.cpp"), std::string::npos) << by_w;
  const std::string by_a = error_of([&] { loss.gradient({a}); });
  EXPECT_NE(by_a.find("held before it was assigned to at"), std::string::npos) << by_a;
}

TEST(History, WhatWasAssignedToIsComputedAgainFromWhatItWasComputedFrom) {
  const Tensor a = floats({1, 2});
  Tensor y = (a * 2.).realize();
  const Tensor z = (y * y).sum().realize();
  y += 5;
  y.realize();
  EXPECT_EQ(gradient(z, a), (Floats{8, 16}));
}

TEST(History, OutlivesTheTensorsBetween) {
  const Tensor x = floats({1, 2});
  Tensor z;
  {
    const Tensor y = (x * 2.).realize();
    z = (y * y).sum();
  }
  for (int i = 0; i < 20; i++) Tensor::rand({100'000}).realize();
  EXPECT_EQ(gradient(z, x), (Floats{8, 16}));
  z.realize();
  EXPECT_EQ(gradient(z, x), (Floats{8, 16}));
}

TEST(History, IsTheSameBeforeAndAfterAnAssignmentHasBeenPerformed) {
  const Tensor x = floats({1, 2});
  Tensor w = Tensor::zeros({2}).realize();
  w.assign(x * 2.);
  const Tensor z = (w * w).sum();
  EXPECT_EQ(gradient(z, x), (Floats{8, 16}));
  EXPECT_EQ(gradient(z, w), (Floats{4, 8}));
  w.realize();
  EXPECT_EQ(gradient(z, x), (Floats{8, 16}));
  EXPECT_EQ(gradient(z, w), (Floats{4, 8}));
}

TEST(History, OfAnAssignmentThatAnotherFollowedIsNotThatOfTheOther) {
  const Tensor a = floats({1, 2});
  Tensor w = floats({3, 4}).realize();
  w.assign(floats({5, 6}));
  const Tensor between = (w * a * a).sum();
  w.assign(floats({7, 8}));
  w.realize();
  EXPECT_NE(error_of([&] { between.gradient({a}); }).find("was assigned to"), std::string::npos);
  EXPECT_EQ(gradient((w * a).sum(), a), (Floats{7, 8}));
}

TEST(History, ReadsWhatWasAssignedToFromACopyThatStillStands) {
  const Tensor a = floats({1, 2});
  Tensor w = floats({3, 4}).realize();
  const Tensor copy = w.contiguous(), backwards = w.flip({0});
  w.index_put_({0}, 7);
  const Tensor by_copy = (a * copy).sum(), by_backwards = (a * backwards).sum();
  w.realize();
  EXPECT_EQ(gradient(by_copy, a), (Floats{3, 4}));
  EXPECT_EQ(gradient(by_backwards, a), (Floats{4, 3}));
  EXPECT_EQ(w.to_vector<float>(), (Floats{7, 4}));
  EXPECT_EQ(copy.to_vector<float>(), (Floats{3, 4}));
}

// The sum is computed for another tensor, too, so the assignment is told where its value stands.
TEST(History, FindsWhatAnAssignmentLeftWhenTheAssignedValueHasBeenComputedElsewhere) {
  const Tensor a = floats({1, 2});
  Tensor w = floats({3, 4}).realize();
  const Tensor sum = w + w;
  w.assign(sum);
  const Tensor loss = (w * a * a).sum();
  realize({w, sum, loss});
  EXPECT_EQ(gradient(loss, a), (Floats{12, 32}));
  EXPECT_EQ(gradient(loss, w), (Floats{1, 4}));
}

TEST(History, ComputesAgainWhatStoodBetweenTwoAssignments) {
  const Tensor a = floats({1, 2, 3});
  Tensor w = (a * 2.).realize();
  w.narrow(0, 1, 2).assign(a.narrow(0, 0, 2) * 5.);  // {2, 5, 10}
  const Tensor between = (w * w).sum();
  w += 1;
  w.realize();
  // of 4 a0^2 + 25 a0^2 + 25 a1^2
  EXPECT_EQ(gradient(between, a), (Floats{58, 100, 0}));
  EXPECT_EQ(w.to_vector<float>(), (Floats{3, 6, 11}));
}

// A loop that never ends must not keep all that it ever computed; but then zeros would be wrong.
TEST(History, ThatIsTooLongIsAnErrorAndNotZero) {
  const Tensor x = floats({1, 2}).realize(), other = floats({1, 2}).realize();
  Tensor state = x * 1.f;
  for (int i = 0; i < 200; i++) {
    state = (state * 1.01f + 0.5f).realize();
    Tensor::rand({100'000}).realize();
  }
  const Tensor loss = state.sum();
  EXPECT_EQ(gradient(loss, other), (Floats{0, 0}));
  EXPECT_NE(error_of([&] { loss.gradient({x}); }).find("detach()"), std::string::npos);
  EXPECT_EQ(gradient((state.detach() * x).sum(), x), state.to_vector<float>());
}

TEST(History, ThatIsTooLongIsAnErrorForTargetsThatAreNotComputedYetToo) {
  const Tensor x = floats({1, 2}).realize(), tripled = x * 3;
  Tensor state = tripled * 1.f;
  for (int i = 0; i < 100; i++) state = (state + 0.5f).realize();
  drop_what_is_not_needed();
  EXPECT_NE(error_of([&] { state.sum().gradient({tripled}); }).find("detach()"), std::string::npos);
  // Known in part is not enough.
  const Tensor loss = state.sum() + (x * x).sum();
  EXPECT_NE(error_of([&] { loss.gradient({x}); }).find("detach()"), std::string::npos);
}

// ---- what is left of histories that have been dropped -----------------------------------------

void expect_refused(const Tensor& y, const Tensor& target) {
  const Tensor leaf = floats({3, 4});
  const std::string text = error_of([&] { (y * leaf).sum().gradient({target}); });
  EXPECT_NE(text.find("was assigned to at"), std::string::npos) << text;
  EXPECT_NE(text.find("history_test.cpp"), std::string::npos) << text;
}

TEST(DroppedHistory, StillTellsOfATargetThatWasAssignedTo) {
  Tensor w = floats({1, 2}).realize();
  const Tensor y = (w * 2.f).realize();
  w += 1;
  w.realize();
  expect_refused(y, w);
  drop_what_is_not_needed();
  expect_refused(y, w);
  for (int i = 0; i < 20; i++) Tensor::rand({100'000}).realize();
  expect_refused(y, w);
}

TEST(DroppedHistory, TellsItToWhatIsComputedFromTheValue) {
  Tensor w = floats({1, 2}).realize();
  Tensor y = (w * 2.f).realize();
  w += 1;
  w.realize();
  drop_what_is_not_needed();
  const Tensor z = (y * y).realize();
  y = Tensor();
  drop_what_is_not_needed();
  expect_refused(z, w);
  expect_refused(z, w.narrow(0, 0, 1));
}

TEST(DroppedHistory, TellsItOfAReplayedStepToo) {
  Tensor w = floats({1, 2}).realize();
  auto step = capture([&](const Tensor& x) { w += x; });
  step(floats({1, 1}));
  const Tensor y = (w * 2.f).realize();
  step(floats({1, 1}));
  drop_what_is_not_needed();
  expect_refused(y, w);
}

TEST(DroppedHistory, IsZeroForWhatIsIndependent) {
  Tensor w = floats({1, 2}).realize();
  const Tensor a = floats({3, 4}), detached = (w.detach() * 2.f).realize();
  const Tensor y = (a * 2.f).realize();
  w += 1;
  w.realize();
  drop_what_is_not_needed();
  EXPECT_EQ(gradient((y * a).sum(), w), (Floats{0, 0}));
  EXPECT_EQ(gradient((detached * a).sum(), w), (Floats{0, 0}));
}

TEST(DroppedHistory, IsTheSameThroughACopyOfWhatIsNoMore) {
  Tensor c, y;
  {
    const Tensor x = floats({1, 2});
    c = x.contiguous();
    y = (c * c).sum().realize();
    c.realize();
  }
  drop_what_is_not_needed();
  EXPECT_EQ(gradient(y, c), (Floats{2, 4}));
}

TEST(DroppedHistory, IsTheSameForWhatWasRecordedBeforeAnAssignmentWasPerformed) {
  Tensor w = Tensor::zeros({2}).realize(), y;
  {
    const Tensor x = floats({1, 2});
    w.assign(x * 2.f);
    y = (w * w).sum();
    realize({w, y});
  }
  drop_what_is_not_needed();
  EXPECT_EQ(gradient(y, w), (Floats{4, 8}));
}

TEST(DroppedHistory, KeepsNoMemory) {
  const std::int64_t before = memory_use().bytes;
  Tensor w = floats({1, 2}).realize();
  std::vector<Tensor> values;
  for (int i = 0; i < 100; i++) {
    const Tensor large = Tensor::ones({100'000}).contiguous().realize();
    values.push_back((large.sum() * w).realize());
    w += 1;
    w.realize();
  }
  drop_what_is_not_needed();
  EXPECT_LT(memory_use().bytes - before, 400'000);
  for (const Tensor& v : values) expect_refused(v, w);
}

TEST(AssignedTarget, IsRefusedBeforeTheAssignmentIsPerformed) {
  Tensor w = floats({1, 2}).realize();
  const Tensor y = w * 2.f;
  w += 1;
  expect_refused(y, w);
}

TEST(AssignedTarget, IsRefusedIfItHasNeverBeenInMemory) {
  const Tensor x = floats({1, 2});
  Tensor w = x * 3.f;
  const Tensor y = w * 2.f;
  w += 1;
  expect_refused(y, w);
  EXPECT_EQ(gradient((w * x).sum(), w), (Floats{1, 2}));
  w.realize();
  drop_what_is_not_needed();
  expect_refused(y, w);
  y.realize();
  drop_what_is_not_needed();
  expect_refused(y, w);
  EXPECT_EQ(gradient(y.sum(), x), (Floats{6, 6}));
}

// The assignment is performed because another tensor needs it.
TEST(History, IsThatOfAnAssignmentThatWasPerformedByTheWay) {
  const Tensor x = floats({1, 2});
  Tensor w = Tensor::zeros({2}).realize();
  w.assign(x * 2);
  const Tensor other = (w * 3).realize();
  EXPECT_EQ(gradient((w * w).sum(), x), (Floats{8, 16}));
  EXPECT_EQ(gradient(other.sum(), w), (Floats{3, 3}));
  w += x;
  other.contiguous().realize();
  w.narrow(0, 0, 1).contiguous().realize();
  EXPECT_EQ(gradient(w.sum(), x), (Floats{3, 3}));
}

TEST(History, CopiesOfOneTensorAreDifferentTargets) {
  const Tensor x = floats({1, 2});
  const Tensor a = x.contiguous().realize(), b = x.contiguous().realize();
  const auto g = (a * 2.f + b * 3.f).sum().gradient({a, b, x});
  EXPECT_EQ(g[0].to_vector<float>(), (Floats{2, 2}));
  EXPECT_EQ(g[1].to_vector<float>(), (Floats{3, 3}));
  EXPECT_EQ(g[2].to_vector<float>(), (Floats{5, 5}));
  EXPECT_EQ(gradient((b * 3.f).sum(), a), (Floats{0, 0}));
}

TEST(History, EndsAtTheResultsOfACapturedStep) {
  const Tensor a = floats({1, 2});
  auto twice = capture([](const Tensor& x) { return x * 2.f; });
  for (int i = 0; i < 2; i++) {
    const Tensor r = twice(a);
    EXPECT_EQ(gradient((r * a).sum(), a), (Floats{2, 4}));
  }
}

// ---- threads ----------------------------------------------------------------------------------

// What one thread does: all that a training loop does, on tensors of its own.
std::string one_round(int thread, int round) {
  const float u = static_cast<float>(thread + 1), v = static_cast<float>(round % 5);
  Tensor w = floats({u, v}).realize();
  const Tensor a = floats({u, 2 * u});
  Tensor s = a.square();
  if (round % 3 == 0) s.realize();
  auto step = capture([&](const Tensor& x) {
    w += x;
    return x * 2.f;
  });
  const Tensor r = step(a) + step(a);
  if (w.to_vector<float>() != Floats{3 * u, v + 4 * u}) return "assigned";
  if (r.to_vector<float>() != Floats{4 * u, 8 * u}) return "results";
  Tensor loss = (s * 3.f + a).sum();
  if (round % 2 == 0) loss.realize();
  s = Tensor();
  if (gradient(loss, a) != Floats{6 * u + 1, 12 * u + 1}) return "gradient";
  if (loss.item<float>() != 15 * u * u + 3 * u) return "loss";
  const Tensor by_w = (w * a).sum();
  if (gradient(by_w, w) != Floats{u, 2 * u}) return "gradient by what was assigned to";
  return {};
}

TEST(Threads, CreateComputeCaptureDifferentiateAndDropWithoutAWrongValue) {
  const char* text = std::getenv("THREADS_SECONDS");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(text ? std::strtol(text, nullptr, 10) : 2);
  std::atomic<int> rounds = 0, wrong = 0;
  std::vector<std::string> first(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; std::chrono::steady_clock::now() < end; i++, rounds++) {
        std::string what;
        try {
          what = one_round(t, i);
        } catch (const std::exception& e) {
          what = e.what();
        }
        if (what.empty()) continue;
        if (wrong++ == 0) first[static_cast<std::size_t>(t)] = what;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& what : first) EXPECT_EQ(what, "");
  EXPECT_EQ(wrong, 0) << "of " << rounds;
}

}  // namespace
}  // namespace croze
