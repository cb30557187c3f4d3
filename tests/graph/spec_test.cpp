// What each boundary accepts and rejects.
#include "croze/graph/analysis/spec.h"

#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "croze/graph/graph.h"

namespace croze {
namespace {

using i64 = std::int64_t;

class Spec : public ::testing::Test {
 protected:
  UOp range(i64 id, i64 size, LoopKind kind = LoopKind::Parallel) {
    return graph.range(id, size, kind);
  }
  UOp kernel(UOp value, UOp over) {
    const UOp store = graph.store(graph.place(graph.param(DType::Float32, 0, 16), over), value,
                                  std::span(&over, 1));
    return graph.sink(std::span(&store, 1));
  }
  Graph graph;
};

TEST_F(Spec, AcceptsAKernelAndRejectsWhatDoesNotBelong) {
  const UOp i = range(0, 16), k = range(1, 4, LoopKind::Reduce);
  const UOp load = graph.load(graph.place(graph.param(DType::Float32, 1, 64), i * 4 + k));
  EXPECT_NO_THROW(check_kernel(kernel(graph.reduce(Op::Add, load, std::span(&k, 1)), i)));
  EXPECT_THROW(check_kernel(kernel(load, i)), InternalError);  // k is open
  EXPECT_THROW(check_kernel(load), InternalError);
  const UOp other = range(0, 4);  // the id of i
  const UOp clash = graph.load(graph.place(graph.param(DType::Float32, 1, 64), i * 4 + other));
  EXPECT_THROW(check_kernel(kernel(clash, i)), InternalError);
  const i64 shape[] = {1};
  const UOp view = graph.movement(Op::Reshape, load, shape);
  EXPECT_THROW(check_kernel(kernel(view, i)), InternalError);
}

TEST_F(Spec, AcceptsATensorGraphAndRejectsLoops) {
  const UOp b = graph.buffer(DType::Float32, 1, 12, 0);
  const i64 shape[] = {3, 4}, axes[] = {1};
  const UOp x = graph.movement(Op::Reshape, b, shape);
  EXPECT_NO_THROW(check_tensor_graph(graph.reduce_axes(Op::Add, x * x, axes)));
  EXPECT_THROW(check_tensor_graph(range(0, 4)), InternalError);
  const UOp mixed = graph.make(Op::Add, DType::Float32, {x, graph.constant(DType::Float64, 1.0)});
  try {
    check_tensor_graph(mixed);
    FAIL() << "did not throw";
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("different dtypes"), std::string::npos) << e.what();
    EXPECT_FALSE(e.details().node.empty());
  }
}

TEST_F(Spec, AcceptsAProgramAndRejectsBrokenOrder) {
  const UOp p = graph.param(DType::Float32, 0, 4);
  const UOp zero = graph.constant(DType::Int32, i64{0});
  const UOp place = graph.place(p, zero);
  const UOp load = graph.load(place), sum = load + load, store = graph.store(place, sum);
  const UOp good[] = {p, zero, load, sum, store};
  EXPECT_NO_THROW(check_program(good));
  const UOp early[] = {p, zero, sum, load, store};
  EXPECT_THROW(check_program(early), InternalError);
  const UOp counter = range(0, 4, LoopKind::Loop);
  const UOp loop = graph.make(Op::Loop, DType::Void, {counter});
  const UOp never_ends[] = {loop};
  EXPECT_THROW(check_program(never_ends), InternalError);
  const UOp unrolled[] = {range(1, 4, LoopKind::Unroll)};
  EXPECT_THROW(check_program(unrolled), InternalError);
}

TEST_F(Spec, BoxesAreRowsOf128BytesFromAParameterToAGroup) {
  const UOp from = graph.param(DType::BFloat16, 1, 4096), at = graph.constant(DType::Int32, i64{0}),
            tile = graph.local(DType::BFloat16, 0, 4096, Space::Group);
  const auto accepts = [&](UOp to, i64 in_row, UOp coordinate) {
    const i64 box[] = {64, 1, in_row, 64, 64, 8};
    const UOp copy = graph.make(Op::CopyBox, DType::Void,
                                {graph.place(to, at), from, coordinate, at}, Arg(std::span(box)));
    const UOp program[] = {from, at, to, copy};
    try {
      check_program(program);
      return true;
    } catch (const InternalError&) {
      return false;
    }
  };
  EXPECT_TRUE(accepts(tile, 64, at));
  EXPECT_FALSE(accepts(tile, 32, at));
  EXPECT_FALSE(accepts(graph.local(DType::BFloat16, 1, 4096, Space::Thread), 64, at));
  EXPECT_FALSE(accepts(tile, 64, from));
}

}  // namespace
}  // namespace croze
