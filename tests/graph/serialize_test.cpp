// serialize_test.cpp -- graphs to bytes and back.
#include "croze/graph/text/serialize.h"

#include <gtest/gtest.h>

#include <random>

#include "croze/base/error.h"
#include "croze/base/hash.h"
#include "croze/graph/rules/transport.h"
#include "croze/graph/tuple.h"

namespace croze {
namespace {

// A tensor graph with every kind of argument.
std::vector<UOp> sample(Graph& g) {
  const std::int64_t shape[] = {3, 4}, order[] = {1, 0}, padding[] = {0, 1, 2, 0}, axes[] = {1};
  UOp x = g.buffer(DType::Float32, 7, 12, 0);
  x = g.movement(Op::Permute, g.movement(Op::Reshape, x, shape), order);
  const UOp y = g.movement(Op::Pad, x * x + g.constant(DType::Float32, -2.5), padding);
  const UOp copied = g.make(Op::Copy, DType::Float32, {y}, Arg(std::string_view("CPU")));
  const UOp kernel_index = g.range(3, 12, LoopKind::Loop) * 5 + g.variable(0, -4, 1 << 30);
  const UOp loaded = g.load(g.place(g.param(DType::Int64, 1, 90), kernel_index));
  const TupleForm form{4, {{Op::Max}, {Op::Add, exponential_law, 0}}};
  const UOp values[] = {g.constant(DType::Float32, 1.5), g.constant(DType::Float32, 2.5)};
  const UOp loops[] = {g.range(5, 8, LoopKind::Reduce)};
  const UOp sum = part_of(tuple_reduce(form, values, loops), 1);
  const UOp tile = g.local(DType::Int8, 0, 1024, Space::Group), at = g.index(0);
  const std::int64_t box[] = {90, 1, 128, 8, 96, 8};
  const UOp boxed =
      g.make(Op::CopyBox, DType::Void,
             {g.place(tile, at), g.param(DType::Int8, 2, 768), loops[0], at, loops[0]},
             Arg(std::span(box)));
  return {g.reduce_axes(Op::Add, copied, axes), loaded, x, loaded, sum, boxed,
          g.constant(DType::Int64, INT64_MIN)};
}

TEST(Serialize, GivesBackTheSameNodes) {
  Graph g, h;
  const std::vector<UOp> nodes = sample(g);
  const std::string bytes = serialize(nodes);
  const std::vector<UOp> copies = deserialize(h, bytes);
  ASSERT_EQ(copies.size(), nodes.size());
  for (std::size_t i = 0; i < nodes.size(); i++) EXPECT_EQ(copies[i], h.import(nodes[i]));
  EXPECT_EQ(serialize(copies), bytes);
}

TEST(Serialize, EqualGraphsGiveEqualBytesWhateverWasBuiltBefore) {
  Graph g, h;
  for (int i = 0; i < 100; i++) h.constant(DType::Int32, std::int64_t{i});
  EXPECT_EQ(serialize(sample(g)), serialize(sample(h)));
}

TEST(Serialize, DifferentGraphsGiveDifferentBytes) {
  Graph g;
  const UOp x = g.buffer(DType::Float32, 1, 8, 0), y = g.buffer(DType::Float32, 2, 8, 0);
  const std::vector<UOp> one{x + y}, other{x + x}, longer{x + y, x};
  EXPECT_NE(serialize(one), serialize(other));
  EXPECT_NE(serialize(one), serialize(longer));
}

TEST(Serialize, EmptyListIsAllowed) {
  Graph g;
  EXPECT_TRUE(deserialize(g, serialize({})).empty());
}

TEST(Serialize, DeepGraphsNeedNoStack) {
  Graph g, h;
  UOp x = g.buffer(DType::Float32, 1, 8, 0);
  for (int i = 0; i < 1'000'000; i++) x = g.make(Op::Neg, DType::Float32, {x});
  const std::vector<UOp> nodes{x};
  const std::vector<UOp> copies = deserialize(h, serialize(nodes));
  EXPECT_EQ(copies[0].key(), x.key());
}

// Damage never does worse than an Error: it may also give another graph.
TEST(Serialize, DamagedBytesNeverDoWorseThanAnError) {
  Graph g;
  const std::string bytes = serialize(sample(g));
  auto read = [](std::string_view damaged) {
    Graph h;
    try {
      deserialize(h, damaged);
    } catch (const Error&) {
    }
  };
  for (std::size_t size = 0; size < bytes.size(); size++) {
    Graph h;
    EXPECT_THROW(deserialize(h, std::string_view(bytes).substr(0, size)), Error) << size;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; i++) {
    std::string damaged = bytes;
    for (unsigned n = 1 + random() % 4; n > 0; n--) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    read(damaged);
  }
}

}  // namespace
}  // namespace croze
