// corpus_test.cpp -- whatever the compiler is asked for elsewhere computes the same when it is
// prepared.
#include <cstdint>

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

// Up to what another order of additions does, which training steps multiply.
void expect_like(const std::vector<double>& values, const std::vector<double>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  double most = 0, apart = 0;
  for (std::size_t i = 0; i < values.size(); i++) {
    ASSERT_EQ(std::isfinite(values[i]), std::isfinite(expected[i])) << i;
    if (!std::isfinite(values[i])) continue;
    most = std::max(most, std::abs(expected[i]));
    apart = std::max(apart, std::abs(values[i] - expected[i]));
  }
  EXPECT_LE(apart, 1e-3 * most);
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
    const std::vector<Tensor> expected = run_as_step(step, compute);
    instance.run();
    for (std::size_t i = 0; i < expected.size(); i++) {
      if (expected[i].numel() == 0) continue;
      const auto number = static_cast<std::int64_t>(i);
      expect_like(doubles_of(instance.result(number), prepared.results()[i]),
                  expected[i].cast(DType::Float64).to_vector<double>());
    }
    graphs++;
  }
  EXPECT_GT(graphs, 20);
}

}  // namespace
}  // namespace croze
