// What a loop refuses, what it says then, and what it lets go of.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "croze/base/options.h"
#include "croze/croze.h"
#include "croze/jit/scan.h"
#include "croze/run/buffers.h"
#include "croze/tensor/registry.h"
#include "support/errors.h"

namespace croze {
namespace {

using Floats = std::vector<float>;
using Tensors = std::vector<Tensor>;
using test::error_of;

Tensor random(const Shape& shape) { return Tensor::uniform(shape, -1, 1).realize(); }

TEST(ScanLimits, NamesAStateThatChanges) {
  const Tensor s = Tensor::zeros({2, 3}), x = Tensor::zeros({4, 3});
  const auto error = [&](const std::function<Tensor(const Tensor&)>& next) {
    return error_of([&] {
      scan([&](const Tensor& h, const Tensor& row) { return std::pair(next(h), row); }, s, x);
    });
  };
  const std::string shape = error([](const Tensor& h) { return h.sum(0); });
  EXPECT_NE(shape.find("state 0, float32 of shape (2, 3), becomes float32 of shape (3,)"),
            std::string::npos)
      << shape;
  EXPECT_NE(shape.find("scan_limits_test.cpp"), std::string::npos) << shape;
  const std::string dtype = error([](const Tensor& h) { return h.cast(DType::Float64); });
  EXPECT_NE(dtype.find("becomes float64 of shape (2, 3)"), std::string::npos) << dtype;
  EXPECT_NE(error([](const Tensor&) { return Tensor(); }).find("not defined"), std::string::npos);
  const std::string computed = error([](const Tensor& h) { return h * h.sum().item<float>(); });
  EXPECT_NE(computed.find("computed or read"), std::string::npos) << computed;
}

TEST(ScanLimits, NamesInputsThatDoNotFit) {
  const auto f = [](const Tensors& s, const Tensors&) { return std::pair(s, Tensors()); };
  const Tensors s{Tensor::zeros({2})};
  const auto error = [&](const Tensors& xs) { return error_of([&] { scan(f, s, xs); }); };
  EXPECT_NE(error({Tensor::zeros({4, 3}), Tensor::zeros({5})}).find("input 1 has 5 rows"),
            std::string::npos);
  EXPECT_NE(error({Tensor::scalar(1.f)}).find("no axis"), std::string::npos);
  EXPECT_NE(error({}).find("the number of steps is an option"), std::string::npos);
}

TEST(ScanLimits, TakesBackAnAssignmentThatItRefuses) {
  Tensor total = Tensor::zeros({2}).realize();
  const Tensor s = Tensor::zeros({2}), x = Tensor::ones({4, 2});
  const std::string error = error_of([&] {
    scan(
        [&](const Tensor& h, const Tensor& row) {
          total += row;
          return std::pair(h, row);
        },
        s, x);
  });
  EXPECT_NE(error.find("assigns to a tensor of shape (2,)"), std::string::npos) << error;
  EXPECT_EQ(total.to_vector<float>(), (Floats{0, 0}));
}

TEST(ScanLimits, WhatTheFunctionThrowsIsThrownAndAllIsAsBefore) {
  struct Mistake {};
  Tensor total = Tensor::zeros({2}).realize();
  const Tensor s = Tensor::zeros({2}), x = Tensor::ones({4, 2});
  const auto run = [&](bool wrong) {
    return scan(
        [&](const Tensor& h, const Tensor& row) {
          if (wrong) {
            total += row;
            throw Mistake();
          }
          return std::pair(h + row, row);
        },
        s, x);
  };
  EXPECT_THROW(run(true), Mistake);
  EXPECT_EQ(total.to_vector<float>(), (Floats{0, 0}));
  EXPECT_EQ(run(false).first.to_vector<float>(), (Floats{4, 4}));
  const std::string error = error_of([&] {
    scan([&](const Tensor& h, const Tensor& row) { return std::pair(matmul(h, row), row); },
         Tensor::zeros({2, 3}), Tensor::zeros({5, 2, 3}));
  });
  EXPECT_NE(error.find("matmul"), std::string::npos) << error;
}

TEST(ScanLimits, WhatTheFunctionStoresElsewhereHasNoValue) {
  Tensor inside, row_inside;
  scan(
      [&](const Tensor& h, const Tensor& row) {
        inside = h * 2.;
        row_inside = row;
        return std::pair(h, row);
      },
      Tensor::zeros({2}), Tensor::ones({4, 2}));
  for (const Tensor& t : {inside, row_inside}) {
    const std::string error = error_of([&] { t.to_vector<float>(); });
    EXPECT_NE(error.find("return it from the function"), std::string::npos) << error;
  }
}

TEST(ScanLimits, RunsTheFunctionStepByStepWhileNansAreLookedFor) {
  const Tensor x = Tensor::from_data({2.f, 1.f, 0.f, -1.f}, {4});
  const auto run = [&] {
    return scan(
               [&](const Tensor& h, const Tensor& row) {
                 const Tensor next = h + row.sqrt();
                 return std::pair(next, next);
               },
               Tensor::scalar(0.f), x)
        .second.to_vector<float>();
  };
  EXPECT_TRUE(std::isnan(run()[3]));
  const Options::Scope looking{{Option::CheckNan, true}};
  const std::string error = error_of(run);
  EXPECT_NE(error.find("sqrt"), std::string::npos) << error;
  EXPECT_NE(error.find("scan_limits_test.cpp"), std::string::npos) << error;
}

TEST(ScanLimits, AResultThatWasAssignedToIsNotWhatAGradientNeeds) {
  const Tensor s = random({2}), x = random({3, 2});
  auto [last, ys] = scan(
      [](const Tensor& h, const Tensor& row) {
        const Tensor next = h * 0.5 + row;
        return std::pair(next, next);
      },
      s, x);
  const Tensor loss = (ys * ys).sum().realize(), linear = (ys * 3.).sum().realize();
  const Floats before = linear.gradient({x})[0].to_vector<float>();
  ys += 1;
  ys.realize();
  EXPECT_EQ(linear.gradient({x})[0].to_vector<float>(), before);
  EXPECT_NE(error_of([&] { loss.gradient({x}); }).find("before it was assigned to"),
            std::string::npos);
}

TEST(ScanLimits, OfWhatWasOverwrittenSinceIsAnErrorNotAWrongGradient) {
  Tensor w = random({3});
  const Tensor s = random({3}), x = random({4, 3});
  const Tensor last =
      scan([&](const Tensor& h,
               const Tensor& row) { return std::pair(tanh(h * w + row), Tensors()); },
           s, x)
          .first;
  const Tensor loss = last.sum();
  const Floats before = loss.gradient({s})[0].to_vector<float>();
  w += 1;
  EXPECT_EQ(loss.gradient({s})[0].to_vector<float>(), before) << "not overwritten yet";
  w.realize();
  EXPECT_NE(error_of([&] { loss.gradient({s}); }).find("assigned to at"), std::string::npos);
  EXPECT_NE(error_of([&] { loss.gradient({w}); }).find("assigned to at"), std::string::npos);
}

TEST(ScanLimits, KeepsTwoStatesIfItIsToldTo) {
  const auto peak = [](bool keep) {
    const Tensor s = random({1000}), w = random({1000});
    const std::int64_t before = memory_use().bytes;
    const auto [last, y] =
        scan([&](const Tensor& h, const Tensors&) { return std::pair(sin(h * w), Tensors()); }, s,
             Tensors(), {.keep_states = keep, .length = 500});
    return memory_use().bytes - before;
  };
  EXPECT_GE(peak(true), 500 * 4000);
  EXPECT_LE(peak(false), 4 * 4000);
}

TEST(ScanLimits, LetsGoOfItsStatesWhenNobodyCanAskForAGradient) {
  const Tensor w = random({1000});
  Registry::instance().collect();
  const std::int64_t before = memory_use().bytes;
  const auto kept = [&](int scans, bool detached) {
    Tensor s = random({1000});
    for (int i = 0; i < scans; i++) {
      s = scan([&](const Tensor& h, const Tensors&) { return std::pair(sin(h * w), Tensors()); }, s,
               Tensors(), {.length = 50})
              .first;
      if (detached) s = s.detach();
    }
    Registry::instance().collect();
    return (memory_use().bytes - before) / (50 * 4000);
  };
  EXPECT_EQ(kept(5, false), 5);
  EXPECT_LE(kept(5, true), 1);
  Registry::instance().collect();
  EXPECT_EQ(memory_use().bytes, before);
}

}  // namespace
}  // namespace croze
