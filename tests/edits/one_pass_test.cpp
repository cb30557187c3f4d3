// Reductions that go along with those they depend on come to what two passes come to: to the last
// bit where that is infinite or no number, and no further from the truth elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "croze/codegen/edits/enumerate.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"
#include "support/schedule_runner.h"

namespace croze {
namespace {

using namespace test;

constexpr std::int64_t rows = 8, terms = 24;
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

using Row = std::vector<double>;

// A kernel that reduces each row of x, beside which stand weights.
struct RowKernel {
  const char* name;
  std::function<UOp(Graph&, std::function<UOp(UOp)> x, std::function<UOp(UOp)> weight)> result;
  std::function<double(const Row& x, const Row& weight)> truth;
};

std::vector<UOp> list(UOp range) { return {range}; }
UOp loop(Graph& g, std::int64_t id) { return g.range(id, terms, LoopKind::Reduce); }

UOp shifted_exp(Graph& g, UOp x, UOp centre) { return g.alu(Op::Exp, {x - centre}); }

double greatest(const Row& x) {
  double m = -inf;
  for (double v : x) m = std::isnan(v) || std::isnan(m) ? nan : std::max(m, v);
  return m;
}

double sum(std::size_t n, const std::function<double(std::size_t)>& term) {
  double total = 0;
  for (std::size_t i = 0; i < n; i++) total += term(i);
  return total;
}

const RowKernel kernels[] = {
    {"softmax's sum",
     [](Graph& g, auto x, auto) {
       const UOp j = loop(g, 1), k = loop(g, 2);
       const UOp m = g.reduce(Op::Max, x(j), list(j));
       return g.reduce(Op::Add, shifted_exp(g, x(k), m), list(k));
     },
     [](const Row& x, const Row&) {
       const double m = greatest(x);
       return sum(x.size(), [&](std::size_t i) { return std::exp(x[i] - m); });
     }},
    {"logsumexp",
     [](Graph& g, auto x, auto) {
       const UOp j = loop(g, 1), k = loop(g, 2);
       const UOp m = g.reduce(Op::Max, x(j), list(j));
       const UOp zero = constant_like(m, 0);
       const UOp bound = g.constant(DType::Float32, static_cast<double>(inf));
       const UOp shift = where(less(max(m, -m), bound), m, zero);
       const UOp s = g.reduce(Op::Add, shifted_exp(g, x(k), shift), list(k));
       return g.alu(Op::Log, {s}) + shift;
     },
     [](const Row& x, const Row&) {
       const double m = greatest(x), shift = std::isfinite(m) ? m : 0;
       return std::log(sum(x.size(), [&](auto i) { return std::exp(x[i] - shift); })) + shift;
     }},
    {"attention",
     [](Graph& g, auto x, auto weight) {
       const UOp j = loop(g, 1), k = loop(g, 2);
       const UOp m = g.reduce(Op::Max, x(j), list(j));
       const UOp e = shifted_exp(g, x(k), m);
       const UOp o = g.reduce(Op::Add, e * (weight(k) * weight(k)), list(k));
       return o / g.reduce(Op::Add, e, list(k));
     },
     [](const Row& x, const Row& w) {
       const double m = greatest(x);
       return sum(x.size(), [&](auto i) { return std::exp(x[i] - m) * w[i] * w[i]; }) /
              sum(x.size(), [&](auto i) { return std::exp(x[i] - m); });
     }},
    {"masked",
     [](Graph& g, auto x, auto weight) {
       const UOp j = loop(g, 1), k = loop(g, 2);
       const UOp m = g.reduce(Op::Max, x(j), list(j));
       const UOp e = shifted_exp(g, x(k), m);
       const UOp zero = constant_like(e, 0);
       return g.reduce(Op::Add, where(less(weight(k), zero), -e, zero), list(k));
     },
     [](const Row& x, const Row& w) {
       const double m = greatest(x);
       return sum(x.size(), [&](auto i) { return w[i] < 0 ? -std::exp(x[i] - m) : 0; });
     }},
    {"argmax",
     [](Graph& g, auto x, auto) {
       const UOp j = loop(g, 1), k = loop(g, 2);
       const UOp m = g.reduce(Op::Max, x(j), list(j));
       const UOp is_best = equal(x(k), m) | not_equal(x(k), x(k));
       const UOp none = g.constant(DType::Int32, terms);
       const UOp first = g.reduce(Op::Min, where(is_best, g.cast(k, DType::Int32), none), list(k));
       return g.cast(first, DType::Float32);
     },
     [](const Row& x, const Row&) {
       const double m = greatest(x);
       std::size_t i = 0;
       while (!std::isnan(x[i]) && x[i] != m) i++;
       return static_cast<double>(i);
     }},
    {"ties",
     [](Graph& g, auto x, auto) {
       const UOp j = loop(g, 1), k = loop(g, 2);
       const UOp m = g.reduce(Op::Max, x(j), list(j));
       const UOp one = constant_like(m, 1), zero = constant_like(m, 0);
       return g.reduce(Op::Add, where(equal(x(k), m), one, zero), list(k));
     },
     [](const Row& x, const Row&) {
       const double m = greatest(x);
       return sum(x.size(), [&](auto i) { return x[i] == m ? 1 : 0; });
     }},
    {"variance",
     [](Graph& g, auto x, auto) {
       const UOp j = loop(g, 1), k = loop(g, 2);
       const UOp count = g.constant(DType::Float32, terms);
       const UOp mean = g.reduce(Op::Add, x(j), list(j)) / count;
       const UOp d = x(k) - mean;
       return g.reduce(Op::Add, d * d, list(k)) / count;
     },
     [](const Row& x, const Row&) {
       const double mean = sum(x.size(), [&](auto i) { return x[i]; }) / terms;
       return sum(x.size(), [&](auto i) { return (x[i] - mean) * (x[i] - mean); }) / terms;
     }},
};

std::vector<float> interesting_rows() {
  std::vector<float> x;
  for (std::int64_t i = 0; i < rows * terms; i++) {
    x.push_back(static_cast<float>(i * 37 % 61) / 8 - 3);  // with ties
  }
  const auto set = [&](std::int64_t row, std::int64_t from, std::int64_t to, float value) {
    for (std::int64_t i = from; i < to; i++) x[static_cast<std::size_t>(row * terms + i)] = value;
  };
  set(1, 0, terms, -inf);
  set(2, 0, terms / 2, -inf);      // numbers come late ...
  set(2, terms / 2, terms, -200);  // ... and are small
  set(3, 7, 8, inf);
  set(4, 13, 14, nan);
  set(5, 0, 5, 90);  // exp(90) is no float
  set(6, 0, terms, 1e30F);
  set(7, 3, 4, inf);
  set(7, 20, 21, -inf);
  return x;
}

UOp sink_of(Graph& g, const RowKernel& kernel) {
  const UOp i = g.range(0, rows, LoopKind::Parallel);
  const auto row_of = [&g, i](std::int64_t slot) {
    const UOp memory = g.param(DType::Float32, slot, rows * terms);
    return [&g, i, memory](UOp j) { return g.load(g.place(memory, i * terms + j)); };
  };
  const UOp value = kernel.result(g, row_of(1), row_of(2));
  const UOp out = g.place(g.param(DType::Float32, 0, rows), i);
  return g.sink(std::vector<UOp>{g.store(out, value, std::vector<UOp>{i})});
}

std::vector<float> run(Device& device, UOp sink, const Chooser& choose) {
  std::vector<float> out(rows), x = interesting_rows(), weight;
  for (std::int64_t i = 0; i < rows * terms; i++) {
    weight.push_back(static_cast<float>(i % 7) - 3);
  }
  const std::span<std::byte> buffers[] = {std::as_writable_bytes(std::span(out)),
                                          std::as_writable_bytes(std::span(x)),
                                          std::as_writable_bytes(std::span(weight))};
  const bool weighted =
      std::ranges::any_of(toposort(sink), [](UOp u) { return u.is(Op::Param) && u.slot() == 2; });
  run_kernel(device, sink, std::span(buffers).first(weighted ? 3 : 2), choose);
  return out;
}

void expect_near(float result, float two_passes, double truth, const std::string& what) {
  if (std::isnan(two_passes) || std::isinf(two_passes)) {
    const bool same = std::isnan(two_passes) ? std::isnan(result) : result == two_passes;
    EXPECT_TRUE(same) << what << ": " << result << " instead of " << two_passes;
    return;
  }
  // As good as two passes, or some roundings away.
  const double bound = std::max(std::abs(two_passes - truth), 8e-7 * std::abs(truth));
  EXPECT_NEAR(result, truth, bound) << what;
}

std::vector<Edit> passes_of(UOp sink, const Caps& caps) {
  std::vector<Edit> edits;
  make_program(sink, caps, [&](KernelState& k) { edits = enumerate_edits(k, EditKind::OnePass); });
  return edits;
}

TEST(OnePass, ComesToWhatTwoPassesComeTo) {
  for (const Caps& caps : {scalar_caps(), cpu_shaped_caps()}) {
    const std::unique_ptr<Device> device = make_interpreter(caps);
    for (const RowKernel& kernel : kernels) {
      Graph g;
      const UOp sink = sink_of(g, kernel);
      const std::vector<float> two_passes = run(*device, sink, [](KernelState&) {});
      const std::vector<Edit> edits = passes_of(sink, device->caps());
      ASSERT_EQ(edits.size(), 7) << kernel.name;  // the divisors of 24, itself left out
      const std::vector<float> numbers = interesting_rows();
      for (const Edit& edit : edits) {
        auto choose = [&](KernelState& k) { apply(k, edit); };
        const std::vector<float> result = run(*device, sink, choose);
        for (std::int64_t r = 0; r < rows; r++) {
          const auto n = static_cast<std::size_t>(r);
          const auto row = numbers.begin() + r * terms;
          Row weight;
          for (std::int64_t i = r * terms; i < (r + 1) * terms; i++) {
            weight.push_back(static_cast<double>(i % 7) - 3);
          }
          expect_near(
              result[n], two_passes[n], kernel.truth(Row(row, row + terms), weight),
              std::string(kernel.name) + ", row " + std::to_string(r) + ": " + to_text(edit));
        }
      }
    }
  }
}

// Terms taken one by one are their own maximum, so that what a turn adds to the place is its
// number, alike for all rows; what becomes of it depends on each row's maximum.
TEST(OnePass, PartsThatAddTheSameForAllRowsFollowTheirOwnLeaders) {
  const SmallKernel kernel = position_kernel();
  for (const char* edits :
       {"bind r0 unroll; one_pass r1 r2 by 1", "bind r0 lane; one_pass r1 r2 by 1"}) {
    const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
    const auto choose = [&](KernelState& k) { apply_all(k, parse_edits(edits)); };
    EXPECT_EQ(run_edited(*device, kernel, choose).result, kernel.expected) << edits;
  }
}

}  // namespace
}  // namespace croze
