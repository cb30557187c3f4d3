// Captured steps: the same results as running the function each time, and errors where that cannot
// be.
#include "croze/jit/capture.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "croze/croze.h"
#include "croze/run/statistics.h"
#include "croze/tensor/custom_gradient.h"
#include "croze/tensor/registry.h"
#include "support/errors.h"

namespace croze {
namespace {

using Floats = std::vector<float>;

Tensor floats(const Floats& values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}

using test::error_of;

TEST(Capture, RunsTheFunctionOnce) {
  int calls = 0;
  auto twice = capture([&](const Tensor& x) {
    calls++;
    return x * 2;
  });
  for (float v : {1.f, 2.f, 3.f}) {
    EXPECT_EQ(twice(floats({v, v + 10})).to_vector<float>(), (Floats{2 * v, 2 * v + 20}));
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(twice.step().summary().kernels, 1);
}

// What the first call runs is what was prepared for replays, though it assigns to a tensor that its
// result follows from.
TEST(Capture, IsScheduledOnce) {
  Tensor seen = floats({0, 0}).realize();
  auto next = capture([&](const Tensor& x) {
    seen += x;
    return seen.square();
  });
  const Tensor x = floats({1, 2}).realize();
  const auto before = run_statistics().schedules_built;
  EXPECT_EQ(next(x).to_vector<float>(), (Floats{1, 4}));
  EXPECT_EQ(run_statistics().schedules_built - before, 1);
}

// Also where the number is passed to a kernel that other steps launch, too.
TEST(Capture, KeepsTheNumbersOfTheFirstCall) {
  double factor = 2;
  const auto scaled = [&](const Tensor& x) { return x * factor; };
  auto first = capture(scaled), second = capture(scaled), third = capture(scaled);
  const auto of = [](auto& step) { return step(floats({1, 10})).template to_vector<float>(); };
  EXPECT_EQ(of(first), (Floats{2, 20}));
  factor = 3;
  EXPECT_EQ(of(second), (Floats{3, 30}));
  factor = 4;
  EXPECT_EQ(of(third), (Floats{4, 40}));
  EXPECT_EQ(of(first), (Floats{2, 20}));
  EXPECT_EQ(of(second), (Floats{3, 30}));
}

TEST(Capture, ReplaysAssignments) {
  Tensor sum = floats({0, 0}).realize(), count = floats({0}).realize();
  auto add = capture([&](const Tensor& x) {
    sum += x;
    count += 1;
    return sum / count;
  });
  EXPECT_EQ(add(floats({1, 2})).to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(add(floats({3, 6})).to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(add(floats({5, 10})).to_vector<float>(), (Floats{3, 6}));
  EXPECT_EQ(sum.to_vector<float>(), (Floats{9, 18}));
  EXPECT_EQ(count.item<float>(), 3);
}

TEST(Capture, TrainsExactlyAsWithoutCapture) {
  const Tensor data = floats({1, -1, 2, 0.5});
  const auto train = [&](bool captured) {
    Tensor w = floats({0.3f, 0.2f, -0.1f, 1}).realize();
    const auto body = [&](const Tensor& x) {
      const Tensor loss = ((w * x).sum() - 1).square();
      const Tensor g = loss.gradient({w})[0];
      w -= 0.05 * g;
      if (!captured) realize({loss, w});
      return loss;
    };
    auto step = capture(body);
    std::vector<float> losses;
    for (int i = 0; i < 10; i++) {
      const Tensor x = data * (1 + 0.1 * i);
      losses.push_back((captured ? step(x) : body(x)).item<float>());
    }
    for (float v : w.to_vector<float>()) losses.push_back(v);
    return losses;
  };
  EXPECT_EQ(train(true), train(false));
}

TEST(Capture, DrawsTheRandomNumbersThatTheFunctionWould) {
  const auto draw = [](bool captured) {
    manual_seed(3);
    const auto body = [](const Tensor& x) {
      return x + Tensor::rand({2}) + 10 * Tensor::rand({2});
    };
    auto step = capture(body);
    std::vector<Floats> values;
    for (int i = 0; i < 4; i++) {
      const Tensor x = floats({0, 0});
      values.push_back((captured ? step(x) : body(x)).to_vector<float>());
    }
    return values;
  };
  const auto captured = draw(true);
  EXPECT_EQ(captured, draw(false));
  EXPECT_NE(captured[1], captured[2]);
}

TEST(Capture, GivesListsOfResultsOrNone) {
  auto both = capture([](const Tensor& a, const Tensor& b) {
    return std::vector<Tensor>{a + b, a * b};
  });
  both(floats({1}), floats({1}));
  const auto results = both(floats({3}), floats({4}));
  EXPECT_EQ(results[0].item<float>(), 7);
  EXPECT_EQ(results[1].item<float>(), 12);

  Tensor x = floats({1}).realize();
  auto increment = capture([&] { x += 1; });
  for (int i = 0; i < 3; i++) increment();
  EXPECT_EQ(x.item<float>(), 4);
}

TEST(Capture, ResultsStayWhatTheyWere) {
  Tensor x = floats({1}).realize();
  auto step = capture([&] {
    x += 1;
    return std::vector<Tensor>{x, x * 10, Tensor::full({1}, 5.f)};
  });
  std::vector<std::vector<Tensor>> all;
  for (int i = 0; i < 3; i++) all.push_back(step());
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(all[i][0].item<float>(), static_cast<float>(i + 2));
    EXPECT_EQ(all[i][1].item<float>(), static_cast<float>(10 * (i + 2)));
    EXPECT_EQ(all[i][2].item<float>(), 5);
  }
}

TEST(Capture, AResultThatIsReturnedTwiceIsTwoTensors) {
  auto twice = capture([](const Tensor& x) {
    const Tensor y = x * 2 + 1;
    return std::vector<Tensor>{y, y};
  });
  for (int call = 0; call < 3; call++) {
    std::vector<Tensor> results = twice(floats({1, 2}));
    results[0] += 100;
    EXPECT_EQ(results[0].to_vector<float>(), (Floats{103, 105}));
    EXPECT_EQ(results[1].to_vector<float>(), (Floats{3, 5}));
    results[1] += 10;
    EXPECT_EQ(results[1].to_vector<float>(), (Floats{13, 15}));
  }
}

TEST(Capture, TheMemoryOfAResultIsFreedWithIt) {
  const auto held = [] { return memory_use().bytes; };
  auto add = capture([](const Tensor& x) { return x + 1; });
  const Tensor x = Tensor::ones({64}).realize();
  add(x);
  const std::int64_t before = held();
  for (int i = 0; i < 3; i++) {
    const Tensor y = add(add(x));
    EXPECT_EQ(held(), before + 64 * 4);
  }
  EXPECT_EQ(held(), before);
}

// The next one is given the same Buffer, which a collection between them may not take away.
TEST(Capture, ResultsThatFollowEachOtherMakeTheGraphNoLarger) {
  auto add = capture([](const Tensor& x) { return x + 1; });
  const Tensor x = Tensor::ones({64}).realize();
  Tensor y = add(add(x));
  Registry& registry = Registry::instance();
  const auto nodes = registry.graph.size();
  for (int i = 0; i < 50; i++) {
    if (i % 20 == 19) registry.collect();
    y = add(y);
    EXPECT_LE(registry.graph.size(), nodes + 4) << i;
  }
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(64, 53));
}

TEST(Capture, TheMemoryOfAResultStaysWhileSomethingIsMadeOfIt) {
  auto add = capture([](const Tensor& x) { return std::pair{x + 1, x + 1}; });
  const Tensor x = Tensor::ones({2}).realize();
  Tensor recorded, same, view, other, of_view, turned;
  auto square = capture([](const Tensor& a) { return a + 1; });
  const Tensor grid = Tensor::ones({2, 3}).realize();
  for (int i = 0; i < 2; i++) {
    recorded = add(x).first * 3;
    of_view = add(x).first.reshape({2, 1}) * 3;
    turned = square(grid).permute({1, 0}).reshape({6});  // no view

    same = add(x).first.cast(DType::Float32);
    view = add(x).first.narrow(0, 1, 1);
    other = add(x).second;
  }
  add(x), add(x), square(grid), square(grid);  // would take memory that is free
  EXPECT_EQ(recorded.to_vector<float>(), (std::vector<float>{6, 6}));
  EXPECT_EQ(same.to_vector<float>(), (std::vector<float>{2, 2}));
  EXPECT_EQ(view.to_vector<float>(), (std::vector<float>{2}));
  EXPECT_EQ(other.to_vector<float>(), (std::vector<float>{2, 2}));
  EXPECT_EQ(of_view.to_vector<float>(), (std::vector<float>{6, 6}));
  EXPECT_EQ(turned.to_vector<float>(), std::vector<float>(6, 2));
}

TEST(Capture, AResultCanBeAnInputAndAnInputAResult) {
  auto step = capture([](const Tensor& x) { return std::vector<Tensor>{x, x + 1}; });
  Tensor x = floats({1});
  for (int i = 1; i < 5; i++) {
    const auto results = step(x);
    EXPECT_EQ(results[0].item<float>(), static_cast<float>(i));
    x = results[1];
  }
  EXPECT_EQ(x.item<float>(), 5);
}

TEST(Capture, InputsMayBeViewsConstantsAndRecordedWork) {
  auto total = capture([](const Tensor& x) { return (x * floats({1, 10})).sum(); });
  EXPECT_EQ(total(floats({1, 2})).item<float>(), 21);
  EXPECT_EQ(total(floats({3, 4}).flip(0)).item<float>(), 34);
  EXPECT_EQ(total(Tensor::full({2}, 2.f)).item<float>(), 22);
  EXPECT_EQ(total(floats({1, 1}) + 4).item<float>(), 55);
  const Tensor grid = Tensor::from_data({1.f, 2.f, 3.f, 4.f}, {2, 2}).realize();
  EXPECT_EQ(total(grid[1]).item<float>(), 43);
  EXPECT_EQ(total(grid.index({Slice{}, 0})).item<float>(), 31);
}

TEST(Capture, AnInputMayBeATensorThatTheStepChanges) {
  Tensor w = floats({1, 2}).realize();
  auto step = capture([&](const Tensor& x) {
    w += x;
    return (w * x).sum();
  });
  EXPECT_EQ(step(w).item<float>(), 2 * 1 + 4 * 2);
  EXPECT_EQ(w.to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(step(w).item<float>(), 4 * 2 + 8 * 4);
  EXPECT_EQ(w.to_vector<float>(), (Floats{4, 8}));
}

TEST(Capture, TensorsRecordedFromOldContentsKeepThemAndViewsFollow) {
  Tensor w = floats({1}).realize();
  auto step = capture([&] { w += 1; });
  step();
  const Tensor before = w * 100, view = w.reshape({1, 1});
  EXPECT_EQ(view.item<float>(), 2);
  step();
  const Tensor after = w * 100;
  EXPECT_EQ(before.item<float>(), 200);
  EXPECT_EQ(view.item<float>(), 3);
  EXPECT_EQ(after.item<float>(), 300);
  step();
  EXPECT_EQ((w * 100).item<float>(), 400);
}

// Nobody has looked at the state between replays until something is made of it.
TEST(Capture, WhatIsMadeOfAStateAfterReplaysHoldsWhatItWasThen) {
  Tensor w = floats({1, 2}).realize();
  auto step = capture([&](const Tensor& x) {
    w += x;
    return w * 10;
  });
  const Tensor one = floats({1, 1});
  for (int i = 0; i < 5; i++) step(one);
  const Tensor recorded = w * 2, view = w.narrow(0, 1, 1), turned = w.flip(0);
  const Tensor gradient = (w * w).sum().gradient({w})[0];
  for (int i = 0; i < 3; i++) step(one);
  EXPECT_EQ(recorded.to_vector<float>(), (Floats{12, 14}));
  EXPECT_EQ(gradient.to_vector<float>(), (Floats{12, 14}));
  EXPECT_EQ(turned.to_vector<float>(), (Floats{7, 6}));
  EXPECT_EQ(view.to_vector<float>(), (Floats{10}));
  EXPECT_EQ(w.to_vector<float>(), (Floats{9, 10}));
  w.assign(floats({0, 0}));
  for (int i = 0; i < 2; i++) step(one);
  EXPECT_EQ(w.to_vector<float>(), (Floats{2, 2}));
}

TEST(Capture, ViewsOfWhatTheStepAssignsToFollowFromTheFirstCallOn) {
  Tensor w = floats({1, 2}).realize();
  const Tensor view = w[1];
  auto step = capture([&](const Tensor& x) {
    w.assign(x - w);
    return w;
  });
  EXPECT_EQ(step(floats({5, 5})).to_vector<float>(), (Floats{4, 3}));
  EXPECT_EQ(view.item<float>(), 3);
  EXPECT_EQ(step(floats({5, 6})).to_vector<float>(), (Floats{1, 3}));
  EXPECT_EQ(view.item<float>(), 3);
}

TEST(Capture, ReadsAViewInItsMemoryAtEveryCall) {
  Tensor w = floats({5, 6, 7}).realize();
  Tensor window = w.unfold(0, 3, 1);
  window.realize();
  auto step = capture([&](const Tensor& x) { window.assign(x - window); });
  const Floats expected[] = {{-5, -6, -7}, {5, 6, 7}, {-5, -6, -7}};
  for (const Floats& values : expected) {
    step(floats({0, 0, 0}));
    EXPECT_EQ(w.to_vector<float>(), values);
    EXPECT_EQ(window.to_vector<float>(), values);
  }
}

TEST(Capture, SeesAssignmentsMadeBetweenCalls) {
  Tensor w = floats({1}).realize(), scale = floats({1}).realize();
  auto step = capture([&] {
    w += scale;
    return w * 1;
  });
  step();
  scale.assign(10);
  EXPECT_EQ(step().item<float>(), 12);
  w.assign(0);
  EXPECT_EQ(step().item<float>(), 10);
}

TEST(Capture, ComputesWhatWasPendingBeforeIt) {
  Tensor w = floats({1}).realize();
  w += 5;
  const Tensor recorded = w * 2;
  auto step = capture([&] { return recorded + w; });
  EXPECT_EQ(step().item<float>(), 18);
  EXPECT_EQ(step().item<float>(), 18);
  EXPECT_EQ(w.item<float>(), 6);
}

TEST(Capture, ATensorThatEscapesHoldsTheFirstValue) {
  Tensor kept;
  auto step = capture([&](const Tensor& x) {
    kept = x * 3;
    return x;
  });
  step(floats({1}));
  EXPECT_EQ(kept.item<float>(), 3);
  step(floats({2}));
  EXPECT_EQ(kept.item<float>(), 3);
}

TEST(Capture, KeepsWhatItReadsAlive) {
  auto step = capture([constant = floats({5}).realize()](const Tensor& x) { return x + constant; });
  auto moved = capture([step = std::move(step)](const Tensor& x) mutable { return x; });
  auto with_local = [] {
    Tensor local = floats({7}).realize();
    auto inner = std::make_unique<Captured<Tensor (*)(const Tensor&)>>(
        +[](const Tensor& x) { return x + floats({7}); });
    (*inner)(floats({1}));
    return inner;
  }();
  for (int i = 0; i < 50; i++) (Tensor::rand({1000}) + 1).realize();
  EXPECT_EQ((*with_local)(floats({2})).item<float>(), 9);
}

// The forward function rounds, so without the given gradient nothing would be learned.
TEST(Capture, HonoursCustomGradients) {
  const auto rounded =
      custom_gradient([](const Tensor& x) { return round(x); },
                      [](const Tensor&, const Tensor&, const Tensor& g) { return g; });
  const auto train = [&](bool captured) {
    Tensor w = floats({0.2f, 0.9f}).realize();
    const auto body = [&](const Tensor& x) {
      const Tensor loss = (rounded(w * 4) * x - 3).square().sum();
      w -= 0.01 * loss.gradient({w})[0];
      return loss;
    };
    auto step = capture(body);
    for (int i = 0; i < 5; i++) {
      const Tensor x = floats({1, 0.5f * static_cast<float>(i)});
      realize({captured ? step(x) : body(x), w});
    }
    return w.to_vector<float>();
  };
  EXPECT_EQ(train(true), train(false));
  EXPECT_NE(train(true), (Floats{0.2f, 0.9f}));
}

// ---- errors -----------------------------------------------------------------------------------

TEST(Capture, RefusesInputsOfAnotherShapeOrDtypeOrNumber) {
  auto step = capture([](const Tensor& x) { return x + 1; });
  step(floats({1, 2}));
  const std::string shape = error_of([&] { step(floats({1, 2, 3})); });
  EXPECT_NE(shape.find("(2,)"), std::string::npos) << shape;
  EXPECT_NE(shape.find("(3,)"), std::string::npos) << shape;
  const std::string dtype = error_of([&] { step(Tensor::from_data({1, 2}, {2})); });
  EXPECT_NE(dtype.find("int32"), std::string::npos) << dtype;
  EXPECT_NE(error_of([&] {
              step(Tensor::from_data({1.f, 2.f}, {2}, {.device = "NULL"}));
            }).find("NULL"),
            std::string::npos);
  EXPECT_EQ(step(floats({3, 4})).to_vector<float>(), (Floats{4, 5}));
}

TEST(Capture, RefusesToComputeInside) {
  Tensor w = floats({1}).realize();
  const auto inside = [&](auto body) {
    auto step = capture([&](const Tensor& x) {
      body(x);
      return x;
    });
    return error_of([&] { step(floats({1})); });
  };
  EXPECT_NE(inside([](const Tensor& x) { x.item<float>(); }).find("captured"), std::string::npos);
  EXPECT_NE(inside([](const Tensor& x) { (x + 1).to_vector<float>(); }).find("captured"),
            std::string::npos);
  EXPECT_NE(inside([&](const Tensor&) { w.item<float>(); }).find("captured"), std::string::npos);
  EXPECT_NE(inside([&](const Tensor& x) { (x + w).realize(); }).find("captured"),
            std::string::npos);
  auto other = capture([](const Tensor& x) { return x; });
  EXPECT_NE(inside([&](const Tensor& x) { other(x); }).find("captured"), std::string::npos);
  EXPECT_EQ(w.item<float>(), 1);
}

TEST(Capture, AFailedFirstCallLeavesNoTrace) {
  Tensor w = floats({1}).realize();
  bool fails = true;
  auto step = capture([&](const Tensor& x) {
    w += x;
    check(!fails, "on purpose");
    return w * 2;
  });
  EXPECT_EQ(error_of([&] { step(floats({5})); }), "on purpose");
  EXPECT_FALSE(is_capturing());
  EXPECT_EQ(w.item<float>(), 1);
  fails = false;
  EXPECT_EQ(step(floats({5})).item<float>(), 12);
  EXPECT_EQ(w.item<float>(), 6);
}

TEST(Capture, RefusesToAssignToWhatHasNoMemory) {
  Tensor constant = Tensor::zeros({1});
  auto count = capture([&] { constant += 1; });
  EXPECT_NE(error_of([&] { count(); }).find("realize()"), std::string::npos);
}

// What it made anew in each call a replay would find changed by the last one.
TEST(Capture, RefusesToAssignToDataThatTheFunctionItselfHasMade) {
  auto step = capture([](const Tensor& x) {
    Tensor state = floats({1, 2});
    state += x;
    return state * 2;
  });
  for (int i = 0; i < 2; i++) {
    EXPECT_NE(error_of([&] { step(floats({1, 1})); }).find("made from data"), std::string::npos);
  }
  auto constant = capture([](const Tensor& x) {
    Tensor state = Tensor::zeros({2});
    state += x;
    return state * 2;
  });
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(constant(floats({1, 2})).to_vector<float>(), (Floats{2, 4}));
  }
}

TEST(Capture, ARefusedFirstCallLeavesTensorsWithoutMemoryAsTheyWere) {
  const Tensor a = floats({1, 2});
  Tensor doubled = a * 2.f;
  const Tensor view = doubled[1];
  auto step = capture([&] { doubled += 1; });
  EXPECT_NE(error_of([&] { step(); }).find("realize()"), std::string::npos);
  EXPECT_EQ(doubled.to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(view.item<float>(), 4);
}

TEST(Capture, AnInputThatTheFunctionAssignsToIsACopyAtEveryCall) {
  auto step = capture([](const Tensor& x) {
    Tensor mine = x;
    mine += 1;
    return mine * 10;
  });
  for (float v : {1.f, 2.f, 3.f}) {
    const Tensor x = floats({v}).realize();
    EXPECT_EQ(step(x).item<float>(), 10 * (v + 1));
    EXPECT_EQ(x.item<float>(), v);
  }
}

TEST(Capture, ResultsOfNoElementsAndConstantsStayOnTheirDevice) {
  auto step = capture([](const Tensor& x) {
    return std::vector<Tensor>{x.narrow(0, 0, 0), Tensor::full({1}, 5.f, {.device = "INTERP"})};
  });
  for (int i = 0; i < 3; i++) {
    const auto results = step(Tensor::from_data({1.f}, {1}, {.device = "INTERP"}));
    EXPECT_EQ(results[0].device(), "INTERP");
    EXPECT_EQ(results[0].shape(), (Shape{0}));
    EXPECT_EQ(results[1].device(), "INTERP");
    EXPECT_EQ(results[1].item<float>(), 5);
  }
}

TEST(Capture, HasNoSummaryBeforeItsFirstCall) {
  auto step = capture([](const Tensor& x) { return x; });
  EXPECT_NE(error_of([&] { step.step().summary(); }), "");
}

TEST(Capture, AssignsThroughADetachedTensor) {
  Tensor x = Tensor::from_data({1., 2., 3., 4.}, {2, 2});
  auto step = capture([&](const Tensor& v) {
    Tensor d = x.detach();
    d += v;
    return d.sum();
  });
  EXPECT_EQ(step(Tensor::ones({2, 2})).item<double>(), 14);
  EXPECT_EQ(step(Tensor::ones({2, 2})).item<double>(), 18);
  EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{3, 4, 5, 6}));
}

}  // namespace
}  // namespace croze
