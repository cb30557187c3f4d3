// canonical_test.cpp -- what makes two tensor graphs one for the scheduler.
#include <vector>

#include "schedule/scheduled.h"

namespace croze::test {
namespace {

class KeysOfGraphs : public testing::Test {
 protected:
  // The buffer, seen as rows, after a value has been stored into it; and what is made of both.
  std::vector<UOp> update(UOp value, UOp buffer) {
    const UOp rows = s.reshape(buffer, {2, 3}), factor = s.reshape(value, {2, 3});
    const UOp store[] = {s.graph.store(rows, factor * rows)};
    const UOp after = s.graph.after(rows, store);
    return {after + factor, after};
  }
  UOp given(UOp value, UOp input, std::int64_t call) {
    const std::int64_t arg[] = {call, 0};
    return s.graph.make(Op::WithGradient, value.dtype(), {value, input}, Arg(std::span(arg)));
  }

  Scheduled s;
  UOp x = s.buffer({6}), y = s.buffer({6});
};

TEST_F(KeysOfGraphs, TheKeyIsKnownWithoutTheCopy) {
  const std::vector<UOp> roots = update(x, y);
  const CanonicalGraph graph = canonical_graph(roots);
  const CanonicalKey key = canonical_key(roots);
  EXPECT_EQ(key.key, graph.key);
  EXPECT_EQ(key.inputs, graph.inputs);
}

TEST_F(KeysOfGraphs, TheKeyTellsUsesOfBuffersApartAndNotBuffers) {
  const auto key_of = [](const std::vector<UOp>& roots) { return canonical_key(roots).key; };
  EXPECT_EQ(key_of(update(x, y)), key_of(update(y, x)));
  EXPECT_EQ(key_of({x + y}), key_of({y + x}));
  EXPECT_NE(key_of({x + y}), key_of({x + x}));
  EXPECT_NE(key_of({x + y, x}), key_of({x + y, y}));
}

TEST_F(KeysOfGraphs, CallsOfGivenGradientsDoNotEnterTheKey) {
  const std::string key = canonical_graph(std::vector{given(x * y, x, 1)}).key;
  EXPECT_EQ(canonical_graph(std::vector{given(x * y, x, 2)}).key, key);
  EXPECT_EQ(canonical_graph(std::vector{x * y}).key, key);
}

}  // namespace
}  // namespace croze::test
