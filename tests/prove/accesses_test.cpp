// Kernels stay inside their buffers, and those that do not are found out.
#include "croze/prove/accesses.h"

#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "croze/graph/graph.h"
#include "croze/prove/solver.h"

namespace croze {
namespace {

class AccessTest : public testing::Test {
 protected:
  UOp buffer(std::int64_t elements) { return graph.param(DType::Float32, slot++, elements); }
  UOp range(std::int64_t size) { return graph.range(next_range++, size, LoopKind::Parallel); }

  // out[i] = in[index], with a loop over each range.
  UOp copy(UOp place, std::initializer_list<UOp> ranges, std::int64_t elements = 1000) {
    UOp flat = graph.index(0);
    for (UOp r : ranges) flat = flat * r.range_size() + r;
    const UOp out = graph.place(buffer(elements), flat);
    const UOp store = graph.store(out, graph.load(place), std::span(ranges.begin(), ranges.size()));
    return graph.sink(std::span(&store, 1));
  }

  std::string complaint(UOp kernel) {
    try {
      prove_accesses(kernel, "copy");
    } catch (const InternalError& e) {
      return e.message();
    }
    return {};
  }

  Graph graph;
  std::int64_t slot = 0, next_range = 0;
};

TEST_F(AccessTest, BoundsDecideThePlainOnes) {
  const UOp i = range(10), j = range(10);
  const AccessProofs proofs =
      prove_accesses(copy(graph.place(buffer(100), i * 10 + j), {i, j}), "copy");
  EXPECT_EQ(proofs.by_bounds, 2);
  EXPECT_EQ(proofs.by_solver, 0);
}

TEST_F(AccessTest, TheSolverDecidesWhatBoundsCannot) {
  if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
  // A triangle: i*i/2 .. needs that j <= i.
  const UOp i = range(10), j = range(10);
  const UOp gate = less_equal(j * 2, i);
  const AccessProofs proofs =
      prove_accesses(copy(graph.place(buffer(15), i + j, gate), {i, j}), "copy");
  EXPECT_EQ(proofs.by_solver, 1);
}

// Sizes that are Variables: for all of their values.
TEST_F(AccessTest, OfOpenBuffersAreDecidedByWhatIsLeftOfTheirLoops) {
  const UOp m = graph.variable(0, 0, 1 << 20), n = graph.variable(1, 0, 1 << 20);
  const UOp i = graph.range(7, m, LoopKind::Parallel), j = graph.range(8, n, LoopKind::Parallel);
  const UOp whole = graph.param(DType::Float32, 8, std::int64_t{1} << 40, m * n);
  const auto kernel = [&](UOp place) {
    const UOp both[] = {i, j};
    const UOp out =
        graph.place(graph.param(DType::Float32, 9, std::int64_t{1} << 40, m * n), i * n + j);
    const UOp store = graph.store(out, graph.load(place), both);
    return graph.sink(std::span(&store, 1));
  };
  const AccessProofs straight = prove_accesses(kernel(graph.place(whole, j * m + i)), "transpose");
  EXPECT_EQ(straight.by_bounds, 2);
  // A loop of whole tiles under its gate.
  const UOp tiles = graph.range(9, (m + 7) / 8 * 8, LoopKind::Parallel);
  const UOp gated = graph.place(whole, tiles * n + j, less(tiles, m));
  const UOp three[] = {i, j, tiles};
  const UOp store =
      graph.store(graph.place(graph.param(DType::Float32, 9, 8, graph.index(8)), graph.index(0)),
                  graph.load(gated), three);
  EXPECT_EQ(prove_accesses(graph.sink(std::span(&store, 1)), "tiles").by_bounds, 2);
  if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
  const std::string text = complaint(kernel(graph.place(whole, i * n + j + 1)));
  EXPECT_NE(text.find("leaves it where"), std::string::npos) << text;
}

TEST_F(AccessTest, AnAccessBeyondTheEndIsNamedWithAWitness) {
  if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
  const UOp i = range(10), j = range(10);
  const std::string text = complaint(copy(graph.place(buffer(99), i * 10 + j), {i, j}));
  EXPECT_NE(text.find("kernel copy"), std::string::npos) << text;
  EXPECT_NE(text.find("99 elements"), std::string::npos) << text;
  EXPECT_NE(text.find(" 9)"), std::string::npos) << text;  // i = 9, j = 9
}

TEST_F(AccessTest, AGateThatIsTooWideIsNotEnough) {
  if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
  const UOp i = range(12);
  const UOp in = buffer(10);
  EXPECT_EQ(complaint(copy(graph.place(in, i - 1, less(graph.index(0), i) & less(i, 11)), {i})),
            "");
  EXPECT_NE(complaint(copy(graph.place(in, i - 1, less(graph.index(0), i)), {i})), "");
  EXPECT_NE(complaint(copy(graph.place(in, i - 1, less(i, 11)), {i})), "");
}

TEST_F(AccessTest, AnIndexFromMemoryCanBeAnything) {
  if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
  const UOp i = range(7);
  const UOp places = graph.param(DType::Int32, slot++, 7);
  const UOp at = graph.cast(graph.load(graph.place(places, i)), DType::Index);
  const UOp in = buffer(50);
  const UOp gate = less_equal(graph.index(0), at) & less(at, 50);
  EXPECT_EQ(complaint(copy(graph.place(in, at, gate), {i})), "");
  EXPECT_NE(complaint(copy(graph.place(in, at), {i})), "");
}

// The last place up to i that holds a positive number, as a running maximum finds it.
TEST_F(AccessTest, AMaximumIsOneOfItsValues) {
  if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
  const UOp i = range(8), j = graph.range(next_range++, 8, LoopKind::Reduce);
  const UOp numbers = graph.param(DType::Int32, slot++, 8);
  const UOp seen =
      less(graph.constant(DType::Int32, std::int64_t{0}), graph.load(graph.place(numbers, j))) &
      less_equal(j, i);
  const UOp last = graph.reduce(Op::Max, where(seen, j + i, i), std::span(&j, 1));
  EXPECT_EQ(complaint(copy(graph.place(buffer(6), last, less(i, 3)), {i})), "");  // 2i at most
  EXPECT_NE(complaint(copy(graph.place(buffer(4), last, less(i, 3)), {i})), "");
}

TEST_F(AccessTest, AStoreIsAnAccessToo) {
  if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
  const UOp i = range(7);
  EXPECT_NE(complaint(copy(graph.place(buffer(7), i), {i}, 6)), "");
}

}  // namespace
}  // namespace croze
