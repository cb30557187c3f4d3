// Numbers of the program that change: from the second value on they are passed to the kernels, and
// give what they give as constants of a graph that nobody has seen before, to the last bit.
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "croze/croze.h"
#include "croze/run/devices.h"
#include "croze/run/execute.h"

namespace croze {
namespace {

using Bytes = std::vector<std::byte>;

// What a loop over numbers computes in each turn.
struct Work {
  std::string name;
  std::function<Tensor(const Tensor& x, double s)> function;
  DType dtype = DType::Float32;
  // At most, for any number of values: with constants, with numbers passed, and a copy of a value
  // that is still known where two turns give the same number.
  std::int64_t schedules = 3;
};

Tensor input(const Work& work, const std::string& device) {
  std::vector<float> values;
  for (int i = 0; i < 6 * 37; i++) values.push_back(static_cast<float>((i * 7) % 41 - 20) / 3);
  return Tensor::from_data(values, {6, 37}, {.dtype = {}, .device = device})
      .cast(work.dtype)
      .realize();
}

double number(int turn) { return 0.1 * turn - 0.7; }

Bytes compute(const Work& work, const std::string& device, double s) {
  return work.function(input(work, device), s).to_bytes();
}

class ChangingNumbers : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!is_available(GetParam())) GTEST_SKIP() << "no " << GetParam() << " here";
    clear_run_caches();
  }

  static bool is_available(const std::string& device) {
    try {
      croze::device(device_index(device));
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  // The results of 50 turns.
  std::vector<Bytes> loop(const Work& work) {
    const Tensor x = input(work, GetParam());
    const std::int64_t before = run_statistics().schedules_built;
    std::vector<Bytes> results;
    for (int i = 0; i < 50; i++) results.push_back(work.function(x, number(i)).to_bytes());
    EXPECT_LE(run_statistics().schedules_built - before, work.schedules) << work.name;
    return results;
  }

  // Each value alone, as the constant that it is in a graph that was never seen.
  void expect_as_constants(const Work& work, const std::vector<Bytes>& results, int step) {
    for (int i = 0; i < 50; i += step) {
      clear_run_caches();
      EXPECT_EQ(results[static_cast<std::size_t>(i)], compute(work, GetParam(), number(i)))
          << work.name << " of " << number(i);
    }
  }

  void check(const std::vector<Work>& list) {
    const int step = GetParam() == "INTERP" ? 1 : 17;  // 17: number() is 1
    for (const Work& work : list) expect_as_constants(work, loop(work), step);
  }
};

std::vector<Work> arithmetic() {
  return {
      {"x * s", [](const Tensor& x, double s) { return x * s; }},
      {"s - x", [](const Tensor& x, double s) { return s - x; }},
      {"x / s", [](const Tensor& x, double s) { return x / s; }},
      {"s / x", [](const Tensor& x, double s) { return s / x; }},
      {"s ^ x", [](const Tensor& x, double s) { return pow(s + 0.05, x); }},
      {"|x| ^ s", [](const Tensor& x, double s) { return abs(x).pow(s + 0.05); }},
      {"max", [](const Tensor& x, double s) { return maximum(x, s); }},
      {"exp", [](const Tensor& x, double s) { return (x * s).exp() + x; }},
      {"mixture", [](const Tensor& x, double s) { return x * s + x.flip({0}) * (1 - s); }},
      // Without a factor of 1 the products are not rounded before they are added.
      {"sum of products", [](const Tensor& x, double s) { return (x * x.flip({1}) * s).sum(1); },
       DType::Float32, 4},
      {"sum of -products", [](const Tensor& x, double s) { return (-(x * s)).sum(); }},
      {"softmax", [](const Tensor& x, double s) { return (x * s).softmax(-1); }},
      {"matmul",
       [](const Tensor& x, double s) { return matmul(x * s, x.transpose() + s) * (1 / (s + 9)); }},
  };
}

TEST_P(ChangingNumbers, GiveWhatConstantsGive) { check(arithmetic()); }

TEST_P(ChangingNumbers, KeepTheDtypeOfTheTensor) {
  std::vector<Work> list;
  for (DType t : {DType::Float16, DType::BFloat16, DType::Float8E4M3, DType::Float64, DType::Int8,
                  DType::UInt8, DType::Int32, DType::Int64, DType::UInt64}) {
    const auto function = [](const Tensor& x, double s) {
      const auto n = static_cast<std::int64_t>(s * 101) * 10'000'000'001;
      return is_float(x.dtype()) ? x * s + 3 * s : floor_divide(x * n + x, n);
    };
    // A coarse type holds one of the two numbers of x * s + 3 * s while the other changes.
    list.push_back({std::string(name_of(t)), function, t, is_float8(t) ? 5 : 3});
  }
  check(list);
}

TEST_P(ChangingNumbers, MayBeOutOfTheRangeOfTheDtype) {
  check({
      {"inf", [](const Tensor& x, double s) { return x * (s * 1e39) + 65505 * s; }, DType::Float16,
       4},  // of two numbers that change at different times
      {"nan", [](const Tensor& x,
                 double s) { return x + (s > 1 ? std::numeric_limits<double>::quiet_NaN() : s); }},
      {"wraps", [](const Tensor& x, double s) { return x + static_cast<std::int64_t>(s * 1e4); },
       DType::Int8},
  });
}

TEST_P(ChangingNumbers, MayDecideMasks) {
  check({
      {"where", [](const Tensor& x, double s) { return where(x > s, x, -x); }},
      {"count", [](const Tensor& x, double s) { return (x < s).sum(1); }},
      {"choice", [](const Tensor& x, double s) { return where(x > 0, x * x, s).sum(0); }},
      {"clamp", [](const Tensor& x, double s) { return x.clamp(s - 2, s + 2); }},
      {"integers",
       [](const Tensor& x, double s) {
         return where(x.cast(DType::Int32) == static_cast<std::int64_t>(s * 10), x, 0);
       }},
  });
}

TEST_P(ChangingNumbers, MayFillTensors) {
  check({
      {"full",
       [](const Tensor& x, double s) {
         return Tensor::full({5, 3}, s, {.dtype = {}, .device = x.device()}).contiguous();
       }},
      {"linspace", [](const Tensor& x, double s) { return x + Tensor::linspace(0, s, 37); }},
      {"pad",
       [](const Tensor& x, double s) {
         return pad(x, {1, 2}, s);
       }},
      {"assignment",
       [](const Tensor& x, double s) {
         Tensor y = Tensor::zeros_like(x).realize();
         y.select(0, 2).assign(x.select(0, 1) * s);
         y.select(0, 3).assign(Tensor::full({37}, s, {.dtype = {}, .device = x.device()}));
         return y;
       }},
  });
}

// A learning rate: the same number in the update of every parameter.
TEST_P(ChangingNumbers, MayStandInGradients) {
  check({
      {"loss",
       [](const Tensor& x, double s) {
         const Tensor loss = (matmul(x, x.transpose()) * 0.01).tanh().square().mean() * s;
         return loss.gradient({x})[0];
       }},
      {"rate",
       [](const Tensor& x, double s) { return x - s * (x * 0.3).sin().sum().gradient({x})[0]; }},
      {"step",
       [](const Tensor& x, double s) {
         Tensor w = (x.transpose() * 0.1).realize(), b = (x.sum(1) * 0.1).realize();
         const std::vector<Tensor> g = (matmul(x, w) + b).tanh().mean().gradient({w, b});
         w -= s * g[0];
         b -= s * g[1];
         realize({w, b});
         return cat({w, b.unsqueeze(0)}, 0);
       },
       DType::Float32, 5},  // two for w and b, one for the result
      {"power",
       [](const Tensor& x, double s) { return abs(x).pow(s + 0.05).sum().gradient({x})[0]; }},
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, ChangingNumbers, testing::Values("CPU", "INTERP"),
                         [](const auto& test) { return test.param; });

// Its compiler takes its time.
class ChangingNumbersInOpenCl : public ChangingNumbers {};

TEST_P(ChangingNumbersInOpenCl, GiveWhatConstantsGive) {
  const auto affine = [](const Tensor& x, double s) { return x * s + s; };
  check({{"float32", affine}, {"float16", affine, DType::Float16}});
}

INSTANTIATE_TEST_SUITE_P(Devices, ChangingNumbersInOpenCl, testing::Values("OPENCL"),
                         [](const auto& test) { return test.param; });

Tensor ramp() { return Tensor::arange(8).cast(DType::Float32).realize(); }

std::vector<float> ramp_times(float s) {
  std::vector<float> result;
  for (int i = 0; i < 8; i++) result.push_back(static_cast<float>(i) * s);
  return result;
}

// No kernel is compiled when the rate changes again.
TEST(ChangingNumbersTogether, AScheduleOfTheLearningRateCompilesNothing) {
  Tensor w = Tensor::ones({8, 4}).realize(), b = Tensor::ones({4}).realize();
  const Tensor x = ramp().reshape({1, 8});
  const auto step = [&](double rate) {
    const Tensor loss = (matmul(x, w) + b).sigmoid().square().mean();
    const std::vector<Tensor> g = loss.gradient({w, b});
    w -= rate * g[0];
    b -= rate * g[1];
    realize({w, b});
  };
  for (double rate : {0.1, 0.09}) step(rate);
  const RunStatistics before = run_statistics();
  for (int i = 0; i < 20; i++) step(0.08 / (1 + i));
  EXPECT_EQ(run_statistics().schedules_built, before.schedules_built);
  EXPECT_EQ(run_statistics().kernels_compiled, before.kernels_compiled);
}

TEST(ChangingNumbersTogether, ThatAreEqualForAWhileAreToldApart) {
  const Tensor x = ramp(), y = (x + 1).realize();
  const auto result = [&](float s, float t) { return (x * s + y * t).to_vector<float>(); };
  for (auto [s, t] : {std::pair(2.f, 2.f), {3.f, 3.f}, {5.f, 7.f}, {7.f, 5.f}, {4.f, 4.f}}) {
    const std::vector<float> sums = result(s, t);
    for (int i = 0; i < 8; i++) {
      const auto k = static_cast<float>(i);
      EXPECT_EQ(sums[static_cast<std::size_t>(i)], k * s + (k + 1) * t);
    }
  }
}

// A kernel has room for so many; more stay constants.
TEST(ChangingNumbersTogether, MayBeMany) {
  const Tensor x = ramp();
  for (int turn = 0; turn < 3; turn++) {
    Tensor sum = x * 0;
    float expected = 0;
    for (int i = 0; i < 60; i++) {
      const int factor = (turn + 1) * i + turn;
      sum = (sum + x * factor).relu();
      expected += static_cast<float>(factor);
    }
    EXPECT_EQ(sum.to_vector<float>(), ramp_times(expected));
  }
}

// Numbers and the place of a block reach the same kernels.
TEST(ChangingNumbersTogether, ReachTheNestsOfABlock) {
  const auto numbers = [](std::int64_t seed) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < 8 * 64 * 32; i++) {
      values.push_back(static_cast<float>((i * 7 + seed * 13) % 41 - 20) / 64);
    }
    return Tensor::from_data(values, {8, 64, 32}).realize();
  };
  const Tensor q = numbers(1), k = numbers(2), v = numbers(3);
  const auto attention = [&](double s) {
    return (matmul((matmul(q, k.transpose()) * s).softmax(-1), v) + s).to_bytes();
  };
  std::vector<Bytes> passed;
  for (int i = 0; i < 6; i++) passed.push_back(attention(number(i)));
  for (int i = 0; i < 6; i++) {
    clear_run_caches();
    EXPECT_EQ(passed[static_cast<std::size_t>(i)], attention(number(i))) << i;
  }
}

TEST(ChangingNumbersTogether, OfSeveralThreads) {
  clear_run_caches();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&wrong, t] {
      const Tensor x = ramp();
      for (int i = 0; i < 100; i++) {
        const auto s = static_cast<float>(t * 100 + i);
        wrong[static_cast<std::size_t>(t)] += (x * s).to_vector<float>() != ramp_times(s);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace croze
