// corpus_test.cpp -- whatever the compiler is asked for elsewhere computes the same when it is
// prepared.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "corpus/graphs.h"
#include "croze/base/options.h"
#include "prepared.h"
#include "support/corpus_step.h"

namespace croze {
namespace {

using namespace croze::test;

std::vector<double> doubles_of(std::span<const std::byte> bytes, const StepValue& value) {
  return Tensor::from_bytes(bytes, value.dtype, value.shape)
      .cast(DType::Float64)
      .to_vector<double>();
}

double magnitude_of(std::span<const double> values) {
  double most = 0;
  for (const double v : values) {
    if (std::isfinite(v)) most = std::max(most, std::abs(v));
  }
  return most;
}

// Up to what another order of additions does, which training steps multiply.  What is nothing but
// rounding beside the other results of a graph (the gradient of the bias of keys, which a softmax
// does not see) may be any other rounding.
void expect_like(const std::vector<double>& values, const std::vector<double>& expected,
                 double rounding) {
  ASSERT_EQ(values.size(), expected.size());
  double apart = 0;
  for (std::size_t i = 0; i < values.size(); i++) {
    ASSERT_EQ(std::isfinite(values[i]), std::isfinite(expected[i])) << i;
    if (!std::isfinite(values[i])) continue;
    apart = std::max(apart, std::abs(values[i] - expected[i]));
  }
  EXPECT_LE(apart, 1e-3 * std::max(magnitude_of(expected), rounding));
}

TEST(PreparedCorpus, EveryGraphComputesWhatItsStepComputes) {
  std::int64_t graphs = 0;
  for (const corpus::CorpusGraph& graph : corpus::graphs()) {
    if (graph.name.starts_with("trace_")) continue;  // makes inside what it assigns to
    SCOPED_TRACE(graph.name);
    const corpus::Computation compute = graph.prepare();
    Step step;
    run_as_step(step, compute);
    const PreparedStep prepared = prepare(step);
    StepInstance instance = prepared.instance();
    std::vector<std::vector<double>> expected;
    double most = 0;
    for (const Tensor& t : run_as_step(step, compute)) {
      expected.push_back(t.cast(DType::Float64).to_vector<double>());
      most = std::max(most, magnitude_of(expected.back()));
    }
    instance.run();
    for (std::size_t i = 0; i < expected.size(); i++) {
      if (expected[i].empty()) continue;
      const auto number = static_cast<std::int64_t>(i);
      expect_like(doubles_of(instance.result(number), prepared.results()[i]), expected[i],
                  std::numeric_limits<float>::epsilon() * most);
    }
    graphs++;
  }
  EXPECT_GT(graphs, 20);
}

}  // namespace
}  // namespace croze
