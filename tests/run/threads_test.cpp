// threads_test.cpp -- several threads that schedule, compile and launch at once.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/run/execute.h"

namespace croze {
namespace {

constexpr int num_threads = 4;

void in_threads(void (*f)(int)) {
  std::vector<std::thread> threads;
  for (int i = 0; i < num_threads; i++) threads.emplace_back(f, i);
  for (std::thread& t : threads) t.join();
}

// The sums of the rows of x + 1, taken from x, and then the sum of squares: two kernels at least,
// with a temporary between them.  x[i] = i % modulus, of 64 rows.
float sum_of_squares(std::int64_t columns, std::int64_t modulus) {
  Graph graph;
  std::vector<float> values;
  for (std::int64_t i = 0; i < 64 * columns; i++) values.push_back(static_cast<float>(i % modulus));
  const UOp x = new_buffer(graph, DType::Float32, std::ssize(values), default_device());
  write_buffer(x, std::as_bytes(std::span(values)));
  const std::int64_t shape[] = {64, columns}, columns_axis[] = {1}, rows_axis[] = {0};
  const UOp rows = graph.reduce_axes(Op::Add, graph.movement(Op::Reshape, x, shape), columns_axis);
  const UOp stored = graph.make(Op::Contiguous, DType::Float32, {rows});
  const UOp root = graph.reduce_axes(Op::Add, stored * stored, rows_axis);
  UOp result = realize(std::span(&root, 1))[0];
  while (!result.is(Op::Buffer)) result = result.src(0);
  float sum = 0;
  read_buffer(result, std::as_writable_bytes(std::span(&sum, 1)));
  graph.collect({}, [](UOp buffer, void*) { release_buffer(buffer.buffer_id()); });
  return sum;
}

float expected_sum(std::int64_t columns, std::int64_t modulus) {
  float sum = 0;
  for (std::int64_t row = 0; row < 64; row++) {
    float total = 0;
    for (std::int64_t c = 0; c < columns; c++) {
      total += static_cast<float>((row * columns + c) % modulus);
    }
    sum += total * total;
  }
  return sum;
}

TEST(RunThreads, DifferentGraphsAreComputedAtOnceEachWithItsOwnArena) {
  in_threads([](int thread) {
    for (int i = 0; i < 40; i++) {
      const std::int64_t columns = 8 + thread * 5 + i % 4;
      EXPECT_EQ(sum_of_squares(columns, 3 + i % 8), expected_sum(columns, 3 + i % 8));
    }
  });
}

TEST(RunThreads, OneGraphIsPreparedOnceForAll) {
  const std::int64_t before = run_statistics().schedules_built;
  in_threads([](int) { EXPECT_EQ(sum_of_squares(77, 5), expected_sum(77, 5)); });
  EXPECT_EQ(run_statistics().schedules_built, before + 1);
}

TEST(RunThreads, RunsOverOneMemoryHappenInTheOrderInWhichTheyWereBound) {
  Graph graph;
  const UOp x = new_buffer(graph, DType::Float32, 4, default_device());
  const std::vector<float> start = {1, 2, 3, 4};
  write_buffer(x, std::as_bytes(std::span(start)));
  const UOp effects[] = {graph.store(x, x * 10)};
  const UOp store[] = {graph.after(x, effects)}, read[] = {x + 1};
  const auto writing = prepare(store), reading = prepare(read);
  BoundRun before(*reading, inputs_of(*reading), graph);
  BoundRun write(*writing, inputs_of(*writing), graph);
  BoundRun after(*reading, inputs_of(*reading), graph);
  std::thread last([&] { after.launch(); });
  std::thread second([&] { write.launch(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  before.launch();
  second.join();
  last.join();
  std::vector<float> values(4);
  read_buffer(before.values()[0], std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, (std::vector<float>{2, 3, 4, 5}));
  read_buffer(after.values()[0], std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, (std::vector<float>{11, 21, 31, 41}));
}

TEST(RunThreads, CachesMayBeEmptiedWhileOthersRun) {
  in_threads([](int thread) {
    for (int i = 0; i < 10; i++) {
      if (thread == 0) clear_run_caches();
      EXPECT_EQ(sum_of_squares(30 + i % 2, 7), expected_sum(30 + i % 2, 7));
    }
  });
}

}  // namespace
}  // namespace croze
