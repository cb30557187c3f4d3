// Interning and collection: what a long-lived graph keeps, and that no order depends on identities.
#include <gtest/gtest.h>

#include "croze/graph/graph.h"

namespace croze {
namespace {

constexpr std::int64_t elements = 8;

TEST(Collect, MemoryOfDroppedNodesIsUsedAgain) {
  Graph graph;
  const UOp kept = graph.buffer(DType::Float32, 0, elements, 0);
  std::int64_t bytes = 0;
  for (std::int64_t id = 1; id <= 100; id++) {
    const UOp dropped = graph.buffer(DType::Float32, id, elements, 0);
    (void)(dropped + kept);
    graph.collect(std::span(&kept, 1));
    EXPECT_EQ(graph.size(), 1u);
    if (id == 1) bytes = graph.bytes();
  }
  EXPECT_EQ(graph.bytes(), bytes);
}

TEST(Collect, NodesThatStayKeepTheirContents) {
  Graph graph;
  const std::int64_t shape[] = {2, 4};
  const UOp kept = graph.movement(Op::Reshape, graph.buffer(DType::Float32, 7, elements, 0), shape);
  const std::int64_t other[] = {4, 2};
  (void)graph.movement(Op::Reshape, graph.buffer(DType::Float32, 9, elements, 0), other);
  graph.collect(std::span(&kept, 1));
  (void)graph.movement(Op::Reshape, graph.buffer(DType::Float32, 11, elements, 0), other);
  EXPECT_EQ(kept.src(0).buffer_id(), 7);
  EXPECT_EQ(kept.shape()[0], 2);
  EXPECT_EQ(kept.shape()[1], 4);
  EXPECT_EQ(graph.movement(Op::Reshape, kept.src(0), shape), kept);
}

// Otherwise a step over new inputs would now and then be another graph, and be compiled again.
TEST(Graph, TheOrderOfOperandsDoesNotDependOnWhichBuffersTheyRead) {
  Graph graph;
  for (std::int64_t id = 0; id < 100; id += 3) {
    const UOp x = graph.buffer(DType::Float32, id, elements, 0);
    const UOp y = graph.buffer(DType::Float32, id + 1, elements, 0);
    const UOp z = graph.buffer(DType::Float32, id + 2, elements, 0);
    const UOp product = x * y, sum = graph.alu(Op::Sqrt, {z}) + product;
    EXPECT_EQ(product.src(0), x);
    EXPECT_EQ(sum, product + graph.alu(Op::Sqrt, {z}));
    EXPECT_EQ(sum.key(), (graph.alu(Op::Sqrt, {x}) + y * z).key());
  }
}

}  // namespace
}  // namespace croze
