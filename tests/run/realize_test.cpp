// realize_test.cpp -- graphs to results: what realize and prepare promise.
#include <gtest/gtest.h>

#include <vector>

#include "croze/graph/graph.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/run/execute.h"

namespace croze {
namespace {

// A graph whose buffers are released with it.
class RunTest : public testing::Test {
 protected:
  ~RunTest() override {
    graph_.collect({}, [](UOp buffer, void*) { release_buffer(buffer.buffer_id()); });
  }

  UOp floats(const std::vector<float>& values, const char* device = "CPU") {
    const UOp b = new_buffer(graph_, DType::Float32, std::ssize(values), device_index(device));
    write_buffer(b, std::as_bytes(std::span(values)));
    return b;
  }

  static std::vector<float> read(UOp u) {
    while (u.is(Op::Reshape)) u = u.src(0);
    std::vector<float> values(static_cast<std::size_t>(u.elements()));
    read_buffer(u, std::as_writable_bytes(std::span(values)));
    return values;
  }

  std::vector<UOp> realize(std::vector<UOp> roots) { return croze::realize(roots); }

  UOp move(Op op, UOp x, std::vector<std::int64_t> arg) { return graph_.movement(op, x, arg); }

  Graph graph_;
};

using Floats = std::vector<float>;

TEST_F(RunTest, RootsAreComputedTogetherAndReturnedInOrder) {
  const UOp x = floats({1, 2, 3, 4}), y = floats({10, 20, 30, 40});
  const std::vector<UOp> r = realize({x + y, move(Op::Reshape, x * 2, {2, 2}), x + y});
  EXPECT_EQ(read(r[0]), (Floats{11, 22, 33, 44}));
  EXPECT_EQ(read(r[1]), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(std::vector<std::int64_t>(r[1].shape().begin(), r[1].shape().end()),
            (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(r[0], r[2]);
}

TEST_F(RunTest, NoRootsAreNoWork) { EXPECT_TRUE(realize({}).empty()); }

TEST_F(RunTest, ABufferIsItsOwnResult) {
  const UOp x = floats({1, 2, 3, 4});
  const UOp view = move(Op::Reshape, x, {2, 2});
  const std::int64_t before = run_statistics().kernels;
  EXPECT_EQ(realize({x, view}), (std::vector<UOp>{x, view}));
  EXPECT_EQ(run_statistics().kernels, before);
}

TEST_F(RunTest, AnAssignedBufferIsTheResultOfItsAssignment) {
  const UOp x = floats({1, 2, 3, 4});
  const UOp part = move(Op::Shrink, x, {1, 3});
  const UOp effects[] = {graph_.store(part, part * 10)};
  const UOp after = graph_.after(x, effects);
  EXPECT_EQ(realize({after})[0], x);
  EXPECT_EQ(read(x), (Floats{1, 20, 30, 4}));
}

TEST_F(RunTest, AResultOfNoElementsIsABufferOfNone) {
  const UOp x = floats({1, 2, 3});
  const UOp r = realize({move(Op::Shrink, x, {2, 2}) * 2})[0];
  EXPECT_EQ(r.elements(), 0);
  EXPECT_TRUE(read(r).empty());
  EXPECT_EQ(read(realize({graph_.reduce_axes(Op::Add, move(Op::Shrink, x, {2, 2}),
                                             std::vector<std::int64_t>{0})})[0]),
            Floats{0});
}

TEST_F(RunTest, ValuesMoveBetweenDevices) {
  const UOp x = floats({1, 2, 3});
  const UOp there = graph_.make(Op::Copy, DType::Float32, {x * 2},
                                Arg(static_cast<std::int64_t>(device_index("INTERP"))));
  const UOp back = graph_.make(Op::Copy, DType::Float32, {there + 1},
                               Arg(static_cast<std::int64_t>(device_index("CPU"))));
  const std::vector<UOp> r = realize({there, back * 10});
  EXPECT_EQ(r[0].buffer_device(), device_index("INTERP"));
  EXPECT_EQ(r[1].buffer_device(), device_index("CPU"));
  EXPECT_EQ(read(r[0]), (Floats{2, 4, 6}));
  EXPECT_EQ(read(r[1]), (Floats{30, 50, 70}));
}

// What no buffer is below belongs to no device, even if it is stored as a result of its own.
TEST_F(RunTest, ConstantsServeEveryDevice) {
  const UOp there = floats({1, 2, 3}, "INTERP"), here = floats({10, 20, 30});
  const UOp three = graph_.constant(DType::Float32, 3.0);
  const UOp numbers =
      graph_.make(Op::Contiguous, DType::Float32, {graph_.cast(graph_.iota(3), DType::Float32)});
  const std::vector<UOp> r =
      realize({three, numbers, there * three + numbers, here * three + numbers});
  EXPECT_EQ(read(r[0]), Floats{3});
  EXPECT_EQ(read(r[1]), (Floats{0, 1, 2}));
  EXPECT_EQ(r[2].buffer_device(), device_index("INTERP"));
  EXPECT_EQ(read(r[2]), (Floats{3, 7, 11}));
  EXPECT_EQ(r[3].buffer_device(), device_index("CPU"));
  EXPECT_EQ(read(r[3]), (Floats{30, 61, 92}));
}

TEST_F(RunTest, AGraphOfKnownFormIsNotScheduledAgain) {
  const UOp x = floats({1, 2, 3}), y = floats({4, 5, 6});
  realize({x * 7 + 1});
  const RunStatistics before = run_statistics();
  EXPECT_EQ(read(realize({y * 7 + 1})[0]), (Floats{29, 36, 43}));
  EXPECT_EQ(run_statistics().schedules_built, before.schedules_built);
  EXPECT_EQ(run_statistics().kernels, before.kernels + 1);
  realize({y * 8 + 1});
  EXPECT_EQ(run_statistics().schedules_built, before.schedules_built + 1);
}

TEST_F(RunTest, APreparedRunServesOtherBuffers) {
  const UOp x = floats({1, 2, 3}), y = floats({4, 5, 6}), z = floats({7, 8, 9});
  const UOp roots[] = {x * 2 + y};
  const auto prepared = prepare(roots);
  std::vector<UOp> inputs(inputs_of(*prepared).begin(), inputs_of(*prepared).end());
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(summary_of(*prepared).kernels, 1);
  const UOp first = run(*prepared, inputs, graph_)[0];
  for (UOp& b : inputs) b = b == y ? z : b;
  const UOp second = run(*prepared, inputs, graph_)[0];
  EXPECT_EQ(read(first), (Floats{6, 9, 12}));
  EXPECT_EQ(read(second), (Floats{9, 12, 15}));
}

TEST_F(RunTest, EveryDeviceAgreesOnAReduction) {
  for (const DeviceEntry& entry : list_devices()) {
    if (!entry.available || entry.name == "NULL") continue;
    Floats rows;
    for (int i = 0; i < 6 * 37; i++) rows.push_back(static_cast<float>(i % 11));
    const UOp x = move(Op::Reshape, floats(rows, entry.name.c_str()), {6, 37});
    const UOp sums = realize({graph_.reduce_axes(Op::Add, x, std::vector<std::int64_t>{1})})[0];
    Floats expected(6, 0);
    for (std::size_t i = 0; i < rows.size(); i++) expected[i / 37] += rows[i];
    EXPECT_EQ(read(sums), expected) << entry.name;
  }
}

}  // namespace
}  // namespace croze
