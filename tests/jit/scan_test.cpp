// Loops over rows, compared with the same steps recorded one by one.
#include "croze/jit/scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "croze/croze.h"
#include "croze/jit/capture.h"
#include "croze/run/statistics.h"
#include "croze/tensor/gradient.h"

namespace croze {
namespace {

using Floats = std::vector<float>;
using Tensors = std::vector<Tensor>;
using Pair = std::pair<Tensors, Tensors>;
using Step = std::function<Pair(const Tensors& state, const Tensors& row)>;

Tensor random(const Shape& shape) { return Tensor::uniform(shape, -1, 1).realize(); }

CellWeights weights(std::int64_t in, std::int64_t hidden, std::int64_t gates) {
  const std::int64_t rows = gates * hidden;
  return {random({rows, in}), random({rows, hidden}), random({rows}), random({rows})};
}

// The meaning of scan.
Pair steps_one_by_one(const Step& f, Tensors state, const Tensors& xs, const ScanOptions& options) {
  const std::int64_t length = xs.empty() ? options.length : xs[0].size(0);
  std::vector<Tensors> ys;
  for (std::int64_t t = 0; t < length; t++) {
    const std::int64_t r = options.reverse ? length - 1 - t : t;
    Tensors row;
    for (const Tensor& x : xs) row.push_back(x.select(0, r));
    Pair next = f(state, row);
    state = next.first;
    for (Tensor& s : state) s = s.contiguous().contiguous_backward();  // steps are kernels
    ys.resize(next.second.size(), Tensors(length));
    for (std::size_t i = 0; i < ys.size(); i++) ys[i][r] = next.second[i];
  }
  Tensors stacked;
  for (const Tensors& y : ys) stacked.push_back(stack(y));
  return {state, stacked};
}

// A number that depends on all elements of all float tensors, each in its own way.
Tensor loss_of(const Pair& result) {
  Tensor loss = Tensor::scalar(0.f);
  double phase = 0.3;
  for (const Tensors* list : {&result.first, &result.second}) {
    for (const Tensor& t : *list) {
      if (!is_float(t.dtype())) continue;
      const Tensor places = Tensor::arange(t.numel()).cast(DType::Float32).reshape(t.shape());
      loss = loss + (t.cast(DType::Float32) * sin(places * 0.7 + phase)).sum();
      phase += 1;
    }
  }
  return loss;
}

void expect_near(const Tensor& actual, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  ASSERT_EQ(actual.dtype(), expected.dtype()) << what;
  const double tolerance = size_of(actual.dtype()) == 2 ? 0.03 : 2e-5;
  const std::vector<double> a = actual.to_vector<double>(), e = expected.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); i++) {
    ASSERT_NEAR(a[i], e[i], tolerance * (1 + std::abs(e[i]))) << what << ", element " << i;
  }
}

// Results and gradients by the targets agree with the steps one by one.
void expect_as_one_by_one(const Step& f, const Tensors& state, const Tensors& xs,
                          const Tensors& targets) {
  for (int variant = 0; variant < 2; variant++) {
    const ScanOptions options{.reverse = variant == 1, .keep_states = variant == 0};
    const std::string name = " in variant " + std::to_string(variant);
    const Pair expected = steps_one_by_one(f, state, xs, options);
    const Pair actual = scan(f, state, xs, options);
    ASSERT_EQ(actual.first.size(), expected.first.size());
    ASSERT_EQ(actual.second.size(), expected.second.size());
    for (std::size_t i = 0; i < expected.first.size(); i++) {
      expect_near(actual.first[i], expected.first[i], "state " + std::to_string(i) + name);
    }
    for (std::size_t i = 0; i < expected.second.size(); i++) {
      expect_near(actual.second[i], expected.second[i], "y " + std::to_string(i) + name);
    }
    if (targets.empty()) continue;
    const Tensors by_scan = loss_of(actual).gradient(targets);
    const Tensors by_steps = loss_of(expected).gradient(targets);
    for (std::size_t i = 0; i < targets.size(); i++) {
      expect_near(by_scan[i], by_steps[i], "gradient " + std::to_string(i) + name);
    }
  }
}

TEST(Scan, SumsAsCumsumDoes) {
  const Tensor x = random({50, 3});
  const auto [last, sums] = scan(
      [](const Tensor& s, const Tensor& row) {
        const Tensor next = s + row;
        return std::pair(next, next);
      },
      Tensor::zeros({3}), x);
  expect_near(sums, x.cumsum(0), "sums");
  expect_near(last, x.sum(0), "the last");
  const Tensor w = random({50, 3});
  expect_near((sums * w).sum().gradient({x})[0], (x.cumsum(0) * w).sum().gradient({x})[0],
              "gradient");
}

TEST(Scan, OfAnAffineStepIsThatStepByStep) {
  const Tensor a = random({4}), b = random({4}), start = random({4}), x = random({7, 4});
  expect_as_one_by_one(
      [&](const Tensors& s, const Tensors& row) -> Pair {
        const Tensor next = s[0] * a + row[0] * b;
        return {{next}, {next * row[0] + a}};
      },
      {start}, {x}, {a, b, start, x});
}

TEST(Scan, OfRecurrentCellsIsThatStepByStep) {
  const CellWeights of_rnn = weights(3, 5, 1), of_lstm = weights(3, 5, 4),
                    of_gru = weights(3, 5, 3);
  const Tensor x = random({3, 2, 3}), h = random({2, 5}), c = random({2, 5});
  const auto targets = [&](const CellWeights& w) {
    return Tensors{x, h, w.ih, w.hh, w.bias_ih, w.bias_hh};
  };
  expect_as_one_by_one(
      [&](const Tensors& s, const Tensors& row) -> Pair {
        const Tensor next = rnn_cell(row[0], s[0], of_rnn);
        return {{next}, {next}};
      },
      {h}, {x}, targets(of_rnn));
  expect_as_one_by_one(
      [&](const Tensors& s, const Tensors& row) -> Pair {
        const Tensor next = gru_cell(row[0], s[0], of_gru);
        return {{next}, {next}};
      },
      {h}, {x}, targets(of_gru));
  Tensors with_c = targets(of_lstm);
  with_c.push_back(c);
  expect_as_one_by_one(
      [&](const Tensors& s, const Tensors& row) -> Pair {
        const LstmState next = lstm_cell(row[0], {s[0], s[1]}, of_lstm);
        return {{next.h, next.c}, {next.h}};
      },
      {h, c}, {x}, with_c);
}

TEST(Scan, AgreesWithTheRecurrentLayer) {
  const CellWeights of_gru[] = {weights(3, 5, 3)};
  const Tensor x = random({6, 2, 3});
  const auto [last, ys] = scan(
      [&](const Tensor& h, const Tensor& row) {
        const Tensor next = gru_cell(row, h, of_gru[0]);
        return std::pair(next, next);
      },
      Tensor::zeros({2, 5}), x);
  const SequenceResult expected = gru(x, of_gru);
  expect_near(ys, expected.output, "outputs");
  expect_near(last, expected.h.squeeze(0), "last");
}

TEST(Scan, CarriesStatesOfManyKinds) {
  const Tensor x = random({5, 2, 3}), n = Tensor::arange(5).reshape({5, 1}).realize();
  const Tensor w = random({3, 3}), s = random({2, 3}), half = random({4}).cast(DType::Float16);
  const Tensor begin = half.realize();
  expect_as_one_by_one(
      [&](const Tensors& state, const Tensors& row) -> Pair {
        const Tensor next = tanh(matmul(state[0], w) + row[0]);
        const Tensor count = state[1] + row[1];
        const Tensor third = state[2] * 0.5 + next.sum().cast(DType::Float16);
        return {{next, count, third}, {next.sum(0), count * 2, third, state[0], row[0]}};
      },
      {s, Tensor::zeros({1}, DType::Int64), begin}, {x, n}, {x, s, w, begin});
}

TEST(Scan, TakesStatesAndRowsThatAreViewsConstantsOrRecorded) {
  const Tensor x = random({3, 6}), s = random({4, 2}), w = random({4});
  const Tensor half_w = w * 0.5;  // recorded, and read by the function
  expect_as_one_by_one(
      [&](const Tensors& state, const Tensors& row) -> Pair {
        const Tensor next = state[0] * half_w + row[0].sum() + row[1];
        return {{next, state[1]}, {state[1] + next, Tensor::ones({2}) * 3.}};
      },
      {s.select(1, 1), Tensor::zeros({4})}, {x.transpose(), Tensor::ones({6, 4})}, {x, s, w});
}

TEST(Scan, OfOneStepAndOfNone) {
  const Tensor w = random({3}), s = random({3}), one = random({1, 3});
  const Step f = [&](const Tensors& state, const Tensors& row) -> Pair {
    const Tensor next = state[0] * w + row[0];
    return {{next}, {next.square()}};
  };
  expect_as_one_by_one(f, {s}, {one}, {w, s, one});
  const Tensor none = Tensor::zeros({0, 3});
  const Pair nothing = scan(f, Tensors{s}, Tensors{none});
  EXPECT_EQ(nothing.first[0].to_vector<float>(), s.to_vector<float>());
  EXPECT_EQ(nothing.second[0].shape(), (Shape{0, 3}));
  EXPECT_EQ((nothing.first[0] * 2.).sum().gradient({s})[0].to_vector<float>(), (Floats{2, 2, 2}));
}

TEST(Scan, WithoutInputsTakesSoManySteps) {
  const Tensor w = Tensor::from_data({2.f}, {1});
  const auto [last, powers] = scan(
      [&](const Tensor& s, const Tensors& row) {
        EXPECT_TRUE(row.empty());
        return std::pair(s * w, s);
      },
      Tensor::ones({1}), Tensors(), {.length = 5});
  EXPECT_EQ(powers.to_vector<float>(), (Floats{1, 2, 4, 8, 16}));
  EXPECT_EQ(last.item<float>(), 32);
  EXPECT_EQ(last.sum().gradient({w})[0].item<float>(), 80);
}

TEST(Scan, GradientsAgreeWithDifferences) {
  const DType f64 = DType::Float64;
  Tensor w = random({2, 2}).cast(f64).realize();
  const Tensor x = random({4, 2}).cast(f64).realize(), s = random({2}).cast(f64).realize();
  const auto loss = [&] {
    const auto [last, ys] = scan(
        [&](const Tensor& h, const Tensor& row) {
          const Tensor next = tanh(matmul(w, h) + row);
          return std::pair(next, next.square().sum());
        },
        s, x);
    return (last.sum() + (ys * ys).sum());
  };
  for (const Tensor& target : {w, x, s}) {
    const std::vector<double> g = loss().gradient({target})[0].to_vector<double>();
    const std::vector<double> at = target.to_vector<double>();
    for (std::size_t i = 0; i < at.size(); i++) {
      const auto moved = [&](double by) {
        std::vector<double> values = at;
        values[i] += by;
        Tensor(target).assign(Tensor::from_data(values, target.shape())).realize();
        return loss().item<double>();
      };
      const double h = 1e-5, difference = (moved(h) - moved(-h)) / (2 * h);
      moved(0);
      EXPECT_NEAR(g[i], difference, 1e-7);
    }
  }
}

TEST(Scan, CanBeDifferentiatedAgain) {
  const Tensor w = random({3}), s = random({3}), x = random({4, 3});
  const Step f = [&](const Tensors& state, const Tensors& row) -> Pair {
    const Tensor next = sin(state[0] * w + row[0]);
    return {{next}, {next * state[0] * w}};
  };
  for (bool keep : {true, false}) {
    const auto second = [&](const Pair& result) {
      const Tensors first = loss_of(result).gradient({w, s, x});
      const Tensor sum = loss_of({{}, first});
      return sum.gradient({w, s, x});
    };
    const ScanOptions options{.keep_states = keep};
    const Tensors actual = second(scan(f, Tensors{s}, Tensors{x}, options));
    const Tensors expected = second(steps_one_by_one(f, {s}, {x}, options));
    for (std::size_t i = 0; i < 3; i++) {
      expect_near(actual[i], expected[i], "second gradient " + std::to_string(i));
    }
  }
}

TEST(Scan, CompilesTheSameKernelsWhateverTheLength) {
  const Tensor w = random({11, 11}), s = random({2, 11});
  const auto kernels = [&](std::int64_t length) {
    const Tensor x = random({length, 2, 11});
    clear_run_caches();
    const RunStatistics before = run_statistics();
    const auto [last, ys] = scan(
        [&](const Tensor& h, const Tensor& row) {
          const Tensor next = tanh(matmul(h, w) + row);
          return std::pair(next, next * 2.);
        },
        s, x);
    const RunStatistics forward = run_statistics();
    last.sum().gradient({w})[0].realize();
    const RunStatistics after = run_statistics();
    return std::vector<std::int64_t>{forward.schedules_built - before.schedules_built,
                                     after.schedules_built - forward.schedules_built,
                                     forward.kernels - before.kernels,
                                     after.kernels - forward.kernels};
  };
  const auto few = kernels(64), many = kernels(1000);
  EXPECT_EQ(few[0], many[0]);
  EXPECT_EQ(few[1], many[1]);
  EXPECT_EQ((many[2] - few[2]) % (1000 - 64), 0);
  EXPECT_LE(many[2] - few[2], 2 * (1000 - 64));
  EXPECT_EQ((many[3] - few[3]) % (1000 - 64), 0);
  EXPECT_LE(many[3] - few[3], 4 * (1000 - 64));
}

TEST(Scan, DrawsTheRandomNumbersThatItsStepsWouldDraw) {
  const Tensor x = random({6, 4});
  const Step f = [](const Tensors& state, const Tensors& row) -> Pair {
    const Tensor next = state[0] + row[0] * Tensor::rand({4}) + Tensor::rand({4});
    return {{next}, {next * Tensor::rand({4})}};
  };
  for (bool reverse : {false, true}) {
    const ScanOptions options{.reverse = reverse};
    const Tensors start{Tensor::zeros({4})};
    manual_seed(7);
    const Pair expected = steps_one_by_one(f, start, {x}, options);
    const Tensors by_steps = loss_of(expected).gradient({x});
    manual_seed(7);
    const Pair actual = scan(f, start, Tensors{x}, options);
    expect_near(actual.second[0], expected.second[0], "y");
    expect_near(loss_of(actual).gradient({x})[0], by_steps[0], "gradient");
  }
}

TEST(Scan, InsideOfACapturedStepIsRecordedStepByStep) {
  Tensor w = random({3});
  const Tensor s = random({3}), x = random({4, 3});
  const auto loss = [&](const Tensor& rows) {
    const auto [last, ys] = scan(
        [&](const Tensor& h, const Tensor& row) {
          const Tensor next = tanh(h * w + row);
          return std::pair(next, next);
        },
        s, rows);
    return (last + ys.sum(0)).square().sum();
  };
  auto step = capture([&](const Tensor& rows) {
    const Tensor l = loss(rows);
    return Tensors{l, l.gradient({w})[0]};
  });
  for (int i = 0; i < 3; i++) {
    const Tensor rows = random({4, 3});
    const Tensors captured = step(rows);
    const Tensor now = loss(rows);
    expect_near(captured[0], now, "loss");
    expect_near(captured[1], now.gradient({w})[0], "gradient");
    w += 0.1;
  }
}

TEST(Scan, InsideOfAScanIsRecordedStepByStep) {
  const Tensor w = random({3}), s = random({3}), x = random({4, 2, 3});
  const auto inner = [&](const Tensor& h, const Tensor& row) {
    const Tensor next = tanh(h * w + row);
    return std::pair(next, next);
  };
  expect_as_one_by_one(
      [&](const Tensors& state, const Tensors& rows) -> Pair {
        const auto [last, ys] = scan(inner, state[0], rows[0]);
        return {{last}, {ys}};
      },
      {s}, {x}, {w, s, x});
}

TEST(Scan, OfWhatAScanGaveIsDifferentiatedThroughBoth) {
  const Tensor w = random({3}), s = random({3}), x = random({4, 3});
  const Step f = [&](const Tensors& state, const Tensors& row) -> Pair {
    const Tensor next = tanh(state[0] * w + row[0]);
    return {{next}, {next * 2.}};
  };
  const Pair first = scan(f, Tensors{s}, Tensors{x});
  const Pair second = scan(f, first.first, first.second, {.reverse = true});
  const Pair a = steps_one_by_one(f, {s}, {x}, {});
  const Pair b = steps_one_by_one(f, a.first, a.second, {.reverse = true});
  const Tensors actual = loss_of(second).gradient({w, s, x});
  const Tensors expected = loss_of(b).gradient({w, s, x});
  for (std::size_t i = 0; i < 3; i++) expect_near(actual[i], expected[i], std::to_string(i));
}

TEST(Scan, ClosesOverAValueThatWasComputedFromAParameter) {
  const Tensor w = random({2, 3}), s = random({3});
  const Tensor computed = (w * w).realize();
  Tensor sum;
  {
    const Tensor dropped = (w * 3.).realize();
    sum = (dropped + computed).sum(0);
  }
  expect_as_one_by_one(
      [&](const Tensors& state, const Tensors& row) -> Pair {
        return {{state[0] * sum + computed.sum(0) * w.select(0, 0) + row[0]}, {}};
      },
      {s}, {Tensor::ones({3, 3})}, {w, s, computed});
}

TEST(Scan, HonoursGivenGradientsInsideOfTheFunction) {
  const Tensor w = random({3}), s = random({3}), x = random({5, 3});
  const auto scaled = [](const Tensor& t) {
    return with_gradient(round(t * 4.), {t},
                         [](const GradientRequest& r) { return std::vector{r.gradients[0] * 4.}; });
  };
  expect_as_one_by_one(
      [&](const Tensors& state, const Tensors& row) -> Pair {
        const Tensor next = scaled(state[0] * w) * 0.2 + row[0];
        return {{next}, {next * next}};
      },
      {s}, {x}, {w, s, x});
}

TEST(Scan, ATrainingStepLearns) {
  manual_seed(3);
  Tensor w = Tensor::full({1}, 0.2).realize();
  const Tensor x = random({20, 8, 1});
  const auto run = [&](const Tensor& weight) {
    return scan(
               [&](const Tensor& h, const Tensor& row) {
                 const Tensor next = h * weight + row;
                 return std::pair(next, next);
               },
               Tensor::zeros({8, 1}), x)
        .second;
  };
  const Tensor target = run(Tensor::full({1}, 0.7).realize());
  for (int i = 0; i < 60; i++) {
    const Tensor loss = mse_loss(run(w), target);
    w -= loss.gradient({w})[0].detach() * 0.1;
    w.realize();
  }
  EXPECT_NEAR(w.item<float>(), 0.7, 1e-3);
}

TEST(Scan, CarriesWhatHasNoElements) {
  const Tensor s = random({3}), x = random({4, 3}), none = Tensor::zeros({4, 0});
  expect_as_one_by_one(
      [&](const Tensors& state, const Tensors& row) -> Pair {
        const Tensor next = state[0] + row[0] * 2. + row[1].sum();
        return {{next, state[1] * 2.}, {row[1] + 1., next}};
      },
      {s, Tensor::zeros({2, 0})}, {x, none}, {s, x});
}

TEST(Scan, RunsOnTheDeviceOfItsTensors) {
  const auto there = [](const Shape& shape) { return random(shape).to("INTERP").realize(); };
  const Tensor w = there({3}), s = there({3}), x = there({4, 3});
  expect_as_one_by_one(
      [&](const Tensors& state, const Tensors& row) -> Pair {
        const Tensor next = state[0] * w + row[0];
        return {{next}, {next * 2.}};
      },
      {s}, {x}, {w, s, x});
  const auto [last, ys] = scan(
      [](const Tensor&, const Tensor& row) {
        return std::pair(Tensor::ones({3}), Tensors{row, Tensor::zeros({2})});
      },
      s, x);
  for (const Tensor& t : {last, ys[0], ys[1]}) EXPECT_EQ(t.device(), "INTERP");
  EXPECT_EQ(last.to_vector<float>(), (Floats{1, 1, 1}));
}

}  // namespace
}  // namespace croze
