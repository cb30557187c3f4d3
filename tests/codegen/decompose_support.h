// decompose_support.h -- what the tests of decompositions share.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>

#include "croze/base/small_vector.h"
#include "croze/codegen/decompose/decompose.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "support/evaluate.h"

namespace croze {

inline constexpr std::initializer_list<Op> decomposed_ops = {
    Op::Exp, Op::Exp2, Op::Log,      Op::Log2, Op::Sin,
    Op::Cos, Op::Pow,  Op::Threefry, Op::IDiv, Op::Mod};

// A device with all dtypes and the ops that a processor has.
inline Caps processor() {
  Caps caps;
  caps.device = "TEST";
  caps.ops = ~set_of({Op::Scale});
  for (Op op : decomposed_ops) caps.ops &= ~set_of({op});
  caps.dtypes = caps.storage = ~std::uint32_t{0};
  return caps;
}

inline Caps without_op(Caps caps, Op op) {
  caps.ops &= ~set_of({op});
  return caps;
}

inline Caps without_arithmetic(Caps caps, DType t) {
  caps.dtypes &= ~(std::uint32_t{1} << static_cast<int>(t));
  return caps;
}

inline Caps without_dtype(Caps caps, DType t) {
  caps = without_arithmetic(caps, t);
  caps.storage &= ~(std::uint32_t{1} << static_cast<int>(t));
  return caps;
}

// A value that nothing is known about but its type.
inline UOp unknown(Graph& graph, DType t, std::int64_t slot = 0) {
  return graph.load(graph.place(graph.param(t, slot, 1), graph.index(0)));
}

// Every elementwise node is an op of the device on dtypes of the device.
inline void expect_legal(UOp root, const Caps& caps) {
  for (UOp u : toposort(root)) {
    const DType t = u.dtype();
    if (u.is(Op::Load) || u.is(Op::Param)) {
      EXPECT_TRUE(caps.can_store(t)) << name_of(t);
    }
    if (!is_elementwise(u.op()) || t == DType::Index) continue;
    EXPECT_TRUE(u.is_const() || caps.has_op(u.op())) << info(u.op()).name;
    const bool converts = u.is(Op::Cast) && caps.can_store(t);
    EXPECT_TRUE(t == DType::Bool || caps.has_dtype(t) || converts) << name_of(t);
  }
}

}  // namespace croze
