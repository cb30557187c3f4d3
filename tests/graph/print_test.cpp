// The text forms, read back.
#include "croze/graph/text/print.h"

#include <gtest/gtest.h>

#include <cmath>

#include "croze/base/error.h"
#include "croze/graph/graph.h"

namespace croze {
namespace {

using i64 = std::int64_t;

UOp sample(Graph& graph) {
  const UOp i = graph.range(0, 16, LoopKind::Parallel), k = graph.range(1, 8, LoopKind::Reduce);
  const UOp p = graph.param(DType::Float16, 1, 128), out = graph.param(DType::Float16, 0, 16);
  const UOp gate = less(i, 10);
  const UOp value =
      graph.load(graph.place(p, i * 8 + k, gate)) * graph.constant(DType::Float16, -0.1);
  const UOp sum = graph.reduce(Op::Add, value, std::span(&k, 1));
  const UOp special =
      sum + graph.constant(DType::Float16, INFINITY) + graph.constant(DType::Float16, NAN);
  const UOp store = graph.store(graph.place(out, i), special, std::span(&i, 1));
  return graph.sink(std::span(&store, 1));
}

TEST(Print, ReadsBackWhatItWrote) {
  Graph graph;
  const UOp u = sample(graph);
  const std::string text = print_graph(u);
  EXPECT_EQ(parse_graph(graph, text), u) << text;
  Graph other;
  const UOp copy = parse_graph(other, text);
  EXPECT_EQ(copy.key(), u.key());
  EXPECT_EQ(print_graph(copy), text);
}

TEST(Print, KeepsEveryKindOfConstantAndText) {
  Graph graph;
  for (DType t : {DType::Bool, DType::Int8, DType::UInt64, DType::Float32, DType::Float64,
                  DType::Float8E4M3}) {
    for (double v : {0.0, -0.0, 1.0, -3.0, 0.1, 1e300}) {
      const UOp c = graph.constant(t, v);
      EXPECT_EQ(parse_graph(graph, print_graph(c)), c) << print_graph(c);
    }
  }
  const UOp all = graph.constant_bits(DType::UInt64, -1);
  EXPECT_EQ(parse_graph(graph, print_graph(all)), all);
  const std::string name = "a \"b\" \\ # c\n";
  const UOp copy = graph.make(Op::Copy, DType::Float32, {graph.constant(DType::Float32, 1.0)},
                              Arg(std::string_view(name)));
  EXPECT_EQ(parse_graph(graph, print_graph(copy)), copy);
}

TEST(Print, WritesIndexArithmeticAsAnExpression) {
  Graph graph;
  const UOp i = graph.range(0, 16, LoopKind::Parallel);
  const UOp p = graph.param(DType::Float32, 1, 128);
  EXPECT_EQ(to_string(i * 4 + 3), "((r0 * 4) + 3)");
  EXPECT_EQ(to_string(graph.load(graph.place(p, i / 3, less(i, 9)))), "p1[(r0 / 3) if (r0 < 9)]");
  UOp deep = graph.load(graph.place(p, i));
  for (int n = 0; n < 100000; n++) deep = deep + deep;
  EXPECT_LT(to_string(deep).size(), 20000u);
}

TEST(Print, NamesTheLineThatCannotBeRead) {
  Graph graph;
  for (const char* text :
       {"%0 = nonsense index", "%0 = range index [0, 4, 0]\n%1 = add index %0 %7",
        "%0 = const float99 3", "%1 = const index 3", "%0 = const index x", "", "%0 = add index",
        "%0 = const index 3 4"}) {
    EXPECT_THROW(parse_graph(graph, text), Error) << text;
  }
}

}  // namespace
}  // namespace croze
