// donations_test.cpp -- inputs whose memory a captured step may overwrite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "croze/croze.h"
#include "croze/graph/graph.h"
#include "croze/jit/capture.h"
#include "croze/jit/dim.h"
#include "croze/jit/recording.h"
#include "croze/run/buffers.h"
#include "croze/tensor/record.h"
#include "croze/tensor/storage.h"
#include "support/errors.h"

namespace croze {
namespace {

using Floats = std::vector<float>;
using test::error_of;

Tensor floats(const Floats& values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}

const void* address_of(Tensor t) {
  t.realize();
  const GraphLock lock;
  return buffer_memory(storage_of(t.node())).view.memory.handle;
}

std::int64_t bytes_held() { return memory_use().bytes; }

void expect_donated(const std::function<void()>& use, int line, int step_line) {
  try {
    use();
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("donated"), std::string::npos) << e.what();
    EXPECT_NE(e.message().find("donations_test.cpp:" + std::to_string(step_line)),
              std::string::npos)
        << e.what();
    EXPECT_EQ(e.details().where.line(), static_cast<unsigned>(line)) << e.what();
  }
}

// ---- memory -----------------------------------------------------------------------------------

TEST(Donations, AResultIsComputedIntoTheMemoryOfTheInput) {
  auto decay = capture([](const Tensor& state, const Tensor& x) { return state * 0.5 + x; });
  decay.donate("input 0");
  Tensor state = floats({8, 16, 32}).realize();
  state = decay(state, floats({1, 1, 1}));
  EXPECT_EQ(state.to_vector<float>(), (Floats{5, 9, 17}));
  const void* const memory = address_of(state);
  for (const Floats& expected : {Floats{3.5f, 5.5f, 9.5f}, Floats{2.75f, 3.75f, 5.75f}}) {
    state = decay(state, floats({1, 1, 1}));
    EXPECT_EQ(state.to_vector<float>(), expected);
    EXPECT_EQ(address_of(state), memory);
  }
  EXPECT_EQ(decay.step().summary().kernels, 1);
}

TEST(Donations, NothingIsAllocatedForIt) {
  constexpr std::int64_t size = 1 << 20;
  auto grow = capture([](const Tensor& state) { return state * 1.5; });
  grow.donate("input 0");
  Tensor state = grow(Tensor::ones({size}).realize());
  state = grow(state);
  const std::int64_t before = bytes_held();
  const std::int64_t buffers = memory_use().buffers;
  for (int i = 0; i < 20; i++) {
    state = grow(state);
    EXPECT_EQ(bytes_held(), before);
  }
  EXPECT_LE(memory_use().buffers, buffers + 1);
  EXPECT_FLOAT_EQ(state.narrow(0, 0, 1).item<float>(), std::pow(1.5f, 22.f));
}

// The momentum, too, unless all of this is one nest after the other on one thread.
TEST(Donations, TrainsInTheMemoryOfItsParameters) {
  struct State {
    Tensor w, momentum;
  };
  const Tensor data = Tensor::arange(128 * 64).cast(DType::Float32).reshape({128, 64}) / 4096;
  const auto update = [&](const State& s) {
    const Tensor loss = (matmul(data, s.w).tanh() - 0.5).square().sum();
    const Tensor momentum = s.momentum * 0.9 + loss.gradient({s.w})[0];
    return std::pair(State{s.w - 0.1 * momentum, momentum}, loss);
  };
  const auto first = [] {
    return State{Tensor::ones({64, 32}).realize(), Tensor::zeros({64, 32}).realize()};
  };
  auto donating = capture(update), plain = capture(update);
  donating.donate("input 0");
  State a = first(), b = first();
  for (int i = 0; i < 5; i++) {
    const void* const w = address_of(a.w);
    auto [next, loss] = donating(a);
    auto [other, other_loss] = plain(b);
    a = next, b = other;
    EXPECT_EQ(loss.item<float>(), other_loss.item<float>());
    if (i == 0) continue;
    EXPECT_EQ(address_of(a.w), w);
  }
  EXPECT_EQ(a.w.to_vector<float>(), b.w.to_vector<float>());
}

// A cache of which one row is replaced: nothing else is written.
TEST(Donations, ACacheIsWrittenInPlace) {
  auto write = capture([](Tensor cache, const Tensor& row, const Tensor& position) {
    const Tensor at = (Tensor::arange(4) == position).reshape({4, 1});
    return where(at, row.reshape({1, 3}), cache);
  });
  write.donate("input 0");
  Tensor cache = Tensor::zeros({4, 3}).realize();
  cache = write(cache, floats({1, 2, 3}), Tensor::full({1}, 0, DType::Int64).realize());
  const void* const memory = address_of(cache);
  cache = write(cache, floats({4, 5, 6}), Tensor::full({1}, 2, DType::Int64).realize());
  EXPECT_EQ(cache.to_vector<float>(), (Floats{1, 2, 3, 0, 0, 0, 4, 5, 6, 0, 0, 0}));
  EXPECT_EQ(address_of(cache), memory);
}

TEST(Donations, WhatTheFunctionAssignsToIsNotCopied) {
  auto add = capture([](Tensor sum, const Tensor& x) {
    sum += x;
    return sum;
  });
  add.donate("input 0");
  Tensor sum = add(floats({1, 2}), floats({10, 20}));
  EXPECT_EQ(sum.to_vector<float>(), (Floats{11, 22}));
  const void* const memory = address_of(sum);
  sum = add(sum, floats({100, 200}));
  EXPECT_EQ(sum.to_vector<float>(), (Floats{111, 222}));
  EXPECT_EQ(address_of(sum), memory);
  EXPECT_EQ(add.step().summary().kernels, 1);
}

TEST(Donations, AnInputThatIsReturnedIsTheResult) {
  auto same = capture([](const Tensor& x, const Tensor& y) { return std::pair(x, y + 1); });
  same.donate("input 0");
  Tensor x = same(floats({1, 2}), floats({3, 4})).first;
  const void* const memory = address_of(x);
  const auto [again, more] = same(x, floats({5, 6}));
  EXPECT_EQ(again.to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(more.to_vector<float>(), (Floats{6, 7}));
  EXPECT_EQ(address_of(again), memory);
}

// A product reads all of its input for each element, so it cannot overwrite it as it goes; keeping
// the input aside would cost what a new result does.
TEST(Donations, WhereThePlanDoesNotAllowItTheResultHasItsOwnMemory) {
  const Tensor w = Tensor::arange(9).cast(DType::Float32).reshape({3, 3}).realize();
  const auto body = [&](const Tensor& h) { return matmul(w, h).tanh(); };
  auto plain = capture(body), donating = capture(body);
  const int line = __LINE__ - 1;
  donating.donate("input 0");
  Tensor h = floats({0.1f, 0.2f, 0.3f}).reshape({3, 1}).contiguous().realize();
  Tensor other = floats({0.1f, 0.2f, 0.3f}).reshape({3, 1}).contiguous().realize();
  for (int i = 0; i < 3; i++) {
    const Tensor before = h;
    h = donating(h);
    other = plain(other);
    EXPECT_EQ(h.to_vector<float>(), other.to_vector<float>());
    expect_donated([&] { before.sum(); }, __LINE__, line);
  }
  EXPECT_EQ(donating.step().summary().kernels, plain.step().summary().kernels);
}

TEST(Donations, AValueThatIsReturnedTwiceTakesMemoryOnce) {
  auto twice = capture([](const Tensor& x, const Tensor& z) {
    const Tensor y = x * 2 + z;
    return std::vector<Tensor>{y, y, y.reshape({2, 1}), y + 1};
  });
  twice.donate("input 0").donate("input 1");
  twice(floats({1, 2}), floats({1, 1}));
  const std::vector<Tensor> results = twice(floats({3, 4}), floats({1, 1}));
  for (int i = 0; i < 3; i++) EXPECT_EQ(results[i].to_vector<float>(), (Floats{7, 9}));
  EXPECT_EQ(results[3].to_vector<float>(), (Floats{8, 10}));
  Tensor first = results[0];
  first += 100;
  EXPECT_EQ(first.to_vector<float>(), (Floats{107, 109}));
  for (int i = 1; i < 3; i++) EXPECT_EQ(results[i].to_vector<float>(), (Floats{7, 9}));
}

// Two states that swap: neither can be overwritten before the other is read.
TEST(Donations, StatesThatSwapAreRight) {
  auto swap = capture([](const Tensor& a, const Tensor& b) { return std::pair(b * 2, a + 1); });
  swap.donate("input 0").donate("input 1");
  Tensor a = floats({1, 2}).realize(), b = floats({10, 20}).realize();
  for (int i = 0; i < 4; i++) {
    const Floats x = a.to_vector<float>(), y = b.to_vector<float>();
    std::tie(a, b) = swap(a, b);
    EXPECT_EQ(a.to_vector<float>(), (Floats{2 * y[0], 2 * y[1]}));
    EXPECT_EQ(b.to_vector<float>(), (Floats{x[0] + 1, x[1] + 1}));
  }
}

TEST(Donations, ASizeMayBeOpen) {
  auto step = capture([](const Tensor& x) { return x * 2 + 1; });
  step.open("input 0", 0, Dim("length", 1, 100)).donate("input 0");
  std::set<std::int64_t> lengths;
  for (std::int64_t length : {3, 7, 12, 3, 50, 12, 50}) {
    const Tensor x = Tensor::ones({length}).contiguous().realize();
    const void* const memory = address_of(x);
    const bool is_first = lengths.insert(length).second;  // when it is recorded
    const Tensor y = step(x);
    EXPECT_EQ(y.to_vector<float>(), Floats(static_cast<std::size_t>(length), 3));
    EXPECT_EQ(address_of(y) == memory, !is_first) << length;
  }
}

// ---- what others see --------------------------------------------------------------------------

TEST(Donations, WhatWasRecordedFromTheInputKeepsItsValue) {
  auto step = capture([](const Tensor& x) { return x * 10; });
  step.donate("input 0");
  step(floats({0, 0}));
  const Tensor x = floats({1, 2}).realize();
  const Tensor recorded = x + 1, same = x.contiguous();
  const Tensor computed = (x + 5).realize();
  EXPECT_EQ(step(x).to_vector<float>(), (Floats{10, 20}));
  EXPECT_EQ(recorded.to_vector<float>(), (Floats{2, 3}));
  EXPECT_EQ(same.to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(computed.to_vector<float>(), (Floats{6, 7}));
}

// The same expression again finds no value where the result stands now.
TEST(Donations, AnExpressionThatWasComputedInTheMemoryIsComputedAgain) {
  auto step = capture([](const Tensor& x) { return x * 10; });
  step.donate("input 0");
  step(floats({0, 0}));
  const Tensor a = floats({1, 2}).realize();
  Tensor sum = (a + 1).realize();
  const Tensor twin = (a + 1).realize();  // found, not computed
  const Tensor result = step(sum);
  EXPECT_EQ(result.to_vector<float>(), (Floats{20, 30}));
  EXPECT_EQ(twin.to_vector<float>(), (Floats{2, 3}));
  EXPECT_EQ((a + 1).to_vector<float>(), (Floats{2, 3}));
}

TEST(Donations, ATensorThatSharesAFoundValueIsCopied) {
  auto step = capture([](const Tensor& x) { return x * 10; });
  step.donate("input 0");
  step(floats({0, 0}));
  const Tensor a = floats({1, 2}).realize();
  const Tensor first = (a + 1).realize(), second = (a + 1).realize();
  EXPECT_EQ(step(second).to_vector<float>(), (Floats{20, 30}));
  EXPECT_EQ(first.to_vector<float>(), (Floats{2, 3}));
}

TEST(Donations, MemoryOfTheUserIsNotWritten) {
  auto step = capture([](const Tensor& x) { return x + 1; });
  const int line = __LINE__ - 1;
  step.donate("input 0");
  step(floats({0, 0}));
  const Floats mine = {1, 2};
  const Tensor x = Tensor::from_blob(mine.data(), {2}, DType::Float32, nullptr);
  EXPECT_EQ(step(x).to_vector<float>(), (Floats{2, 3}));
  EXPECT_EQ(mine, (Floats{1, 2}));
  expect_donated([&] { x + 1; }, __LINE__, line);
}

TEST(Donations, GradientsThatNeedTheOldValueAreRefused) {
  auto step = capture([](const Tensor& x) { return x + 1; });
  step.donate("input 0");
  step(floats({0, 0}));
  const Tensor w = floats({3, 4}).realize();
  Tensor x = floats({1, 2}).realize();
  const Tensor y = (w * x).sum().realize();
  x = step(x);
  const std::string error = error_of([&] { y.gradient({w}); });
  EXPECT_NE(error.find("before it was assigned to"), std::string::npos) << error;
}

// ---- what is refused --------------------------------------------------------------------------

TEST(Donations, ADonatedTensorHasNoValueAfterwards) {
  auto step = capture([](const Tensor& x, const Tensor& y) { return x * 2 + y; });
  const int line = __LINE__ - 1;
  step.donate("input 0");
  for (int call = 0; call < 2; call++) {
    Tensor x = floats({1, 2}).realize();
    const Tensor y = floats({1, 2}).realize(), handle = x;
    const Tensor result = step(x, y);
    expect_donated([&] { x.to_vector<float>(); }, __LINE__, line);
    expect_donated([&] { x + 1; }, __LINE__, line);
    expect_donated([&] { y + x; }, __LINE__, line);
    expect_donated([&] { x.shape(); }, __LINE__, line);
    expect_donated([&] { x.assign(y); }, __LINE__, line);
    expect_donated([&] { handle.realize(); }, __LINE__, line);
    expect_donated([&] { result.sum().gradient({x}); }, __LINE__, line);
    expect_donated([&] { step(x, y); }, line, line);
    EXPECT_EQ(y.to_vector<float>(), (Floats{1, 2}));
    x = result;  // the variable is free for another one
    EXPECT_EQ(x.to_vector<float>(), (Floats{3, 6}));
  }
}

TEST(Donations, NoOtherInputMayBeTheSameMemory) {
  for (bool is_traced : {false, true}) {
    auto step = capture([](const Tensor& x, const Tensor& y) { return x * 2 + y; });
    step.donate("input 0");
    if (is_traced) step(floats({1, 2}), floats({3, 4}));
    const Tensor x = floats({1, 2}).realize();
    const std::string error = error_of([&] { step(x, x); });
    EXPECT_NE(
        error.find("input 1 of a captured step is the same memory as input 0, which is donated"),
        std::string::npos)
        << error;
    EXPECT_EQ(x.to_vector<float>(), (Floats{1, 2})) << "nothing was taken";
  }
}

TEST(Donations, ViewsAreRefused) {
  for (bool is_traced : {false, true}) {
    auto step = capture([](const Tensor& x) { return x * 2; });
    step.donate("input 0");
    if (is_traced) step(floats({1, 2}));
    const Tensor x = floats({1, 2, 3, 4}).realize();
    const std::string of_view = error_of([&] { step(x.narrow(0, 0, 2)); });
    EXPECT_NE(of_view.find("input 0 of a captured step is donated, but it is a view"),
              std::string::npos)
        << of_view;
    const Tensor pair = floats({1, 2}).realize(), view = pair.detach();
    const std::string seen = error_of([&] { step(pair); });
    EXPECT_NE(seen.find("another tensor is a view of it"), std::string::npos) << seen;
    EXPECT_EQ(pair.to_vector<float>(), (Floats{1, 2}));
  }
}

TEST(Donations, WhatTheFunctionUsesItselfCannotBeDonated) {
  const Tensor w = floats({1, 2}).realize();
  auto step = capture([&](const Tensor& x) { return x * w; });
  step.donate("input 0");
  for (int call = 0; call < 2; call++) {
    const std::string error = error_of([&] { step(w); });
    EXPECT_NE(error.find("the function uses that tensor beside its inputs"), std::string::npos)
        << error;
    EXPECT_EQ(step(floats({5, 5})).to_vector<float>(), (Floats{5, 10}));
  }
  EXPECT_EQ(w.to_vector<float>(), (Floats{1, 2}));
}

// One step's state is another one's input.
TEST(Donations, AStepThatUsesADonatedTensorIsToldSo) {
  const Tensor w = floats({1, 2}).realize();
  auto reads = capture([&](const Tensor& x) { return x * w; });
  reads(floats({1, 1}));
  auto takes = capture([](const Tensor& x) { return x + 1; });
  takes.donate("input 0");
  takes(w);
  const std::string error = error_of([&] { reads(floats({1, 1})); });
  EXPECT_NE(error.find("donated to the captured step"), std::string::npos) << error;
}

TEST(Donations, PlacesAreThoseOfTensors) {
  struct Pair {
    Tensor a;
    std::map<std::string, Tensor> b;
  };
  auto step = capture([](const Pair& p, const Tensor& c) { return p.a + p.b.at("x") + c; });
  step.donate("input 0.b");
  const Pair p{floats({1}).realize(), {{"x", floats({2}).realize()}}};
  EXPECT_EQ(step(p, floats({3})).item<float>(), 6);
  EXPECT_EQ(p.a.item<float>(), 1);
  EXPECT_NE(error_of([&] { p.b.at("x") + 1; }).find("donated"), std::string::npos);

  auto wrong = capture([](const Tensor& x) { return x + 1; });
  wrong.donate("input 7");
  const std::string error = error_of([&] { wrong(floats({1})); });
  EXPECT_NE(error.find("input 7 of a captured step is donated, which is no tensor: the tensors are "
                       "input 0"),
            std::string::npos)
      << error;
  const std::string late = error_of([&] { step.donate("input 1"); });
  EXPECT_NE(late.find("input 1 is donated after the first call"), std::string::npos) << late;
}

TEST(Donations, AFailedFirstCallTakesNothing) {
  auto step = capture([](const Tensor& x) { return matmul(x, Tensor::ones({3})); });
  step.donate("input 0");
  const Tensor x = floats({1, 2}).realize();
  EXPECT_NE(error_of([&] { step(x); }), "");
  EXPECT_EQ(x.to_vector<float>(), (Floats{1, 2}));
}

// ---- who makes something else of a step -------------------------------------------------------

TEST(Donations, WhatIsRecordedIsTheSameWithoutThem) {
  const auto body = [](const Tensor& a, const Tensor& b, Tensor c) {
    c += b;
    return std::vector<Tensor>{b * 2, a, c};
  };
  auto plain = capture(body), donating = capture(body);
  donating.donate("input 0").donate("input 1").donate("input 2");
  for (auto* step : {&plain, &donating}) (*step)(floats({1}), floats({2}), floats({3}));
  const StepRecording x = plain.step().recording(), y = donating.step().recording();
  ASSERT_EQ(x.results.size(), y.results.size());
  EXPECT_EQ(x.graph.key, y.graph.key);
}

}  // namespace
}  // namespace croze
