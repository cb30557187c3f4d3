// queue_scope_test.cpp -- runs that go on beside the thread that asked for them.
#include "croze/run/queue_scope.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/graph.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/run/execute.h"
#include "support/errors.h"

namespace croze {
namespace {

using test::message_of;

constexpr std::int64_t count = 1000;

UOp buffer_of(Graph& graph, float value) {
  const std::vector<float> values(count, value);
  const UOp x = new_buffer(graph, DType::Float32, count, default_device());
  write_buffer(x, std::as_bytes(std::span(values)));
  return x;
}

float first_of(UOp buffer) {
  std::vector<float> values(count);
  read_buffer(buffer, std::as_writable_bytes(std::span(values)));
  return values[0];
}

UOp realized(UOp root) { return realize(std::span(&root, 1))[0]; }

TEST(QueueScope, RunsAreEnqueuedAndReadingWaitsForThem) {
  Graph graph;
  const UOp x = buffer_of(graph, 3);
  Queue queue = make_queue();
  const Timeline go;
  UOp y, z;
  {
    const QueueScope scope(queue);
    queue.wait(go, 1);
    y = realized(x * 2);  // returns, though nothing can have been computed
    z = realized(y + 1);
  }
  go.signal(1);
  EXPECT_EQ(first_of(z), 7);
  EXPECT_EQ(first_of(y), 6);
}

TEST(QueueScope, RunsOutsideWaitForWhatTheyRead) {
  Graph graph;
  const UOp x = buffer_of(graph, 3);
  Queue queue = make_queue();
  const Timeline go;
  UOp y;
  {
    const QueueScope scope(queue);
    queue.wait(go, 1);
    y = realized(x * 2);
  }
  std::thread later([&] { go.signal(1); });
  EXPECT_EQ(first_of(realized(y * y)), 36);
  later.join();
}

TEST(QueueScope, AWriteWaitsForThoseThatReadOnAnotherQueue) {
  Graph graph;
  const UOp x = buffer_of(graph, 3);
  Queue reading = make_queue(), writing = make_queue();
  const Timeline go;
  UOp y;
  {
    const QueueScope scope(reading);
    reading.wait(go, 1);
    y = realized(x * 2);
  }
  {
    const QueueScope scope(writing);
    const UOp effects[] = {graph.store(x, x * 10)};
    realized(graph.after(x, effects));
  }
  go.signal(1);
  EXPECT_EQ(first_of(x), 30);
  EXPECT_EQ(first_of(y), 6);
}

TEST(QueueScope, AnErrorSurfacesWhereTheValueIsAskedFor) {
  Graph graph;
  const UOp x = buffer_of(graph, 3);
  Queue queue = make_queue();
  queue.call([](DeviceStream&) { fail({}, "kernel r_10: no luck"); });
  UOp y;
  {
    const QueueScope scope(queue);
    y = realized(x * 2);
  }
  EXPECT_EQ(message_of([&] { first_of(y); }), "kernel r_10: no luck");
  EXPECT_EQ(message_of([&] { realized(y + 1); }), "kernel r_10: no luck");
  EXPECT_EQ(message_of([&] { queue.synchronize(); }), "kernel r_10: no luck");
  const QueueScope scope(queue);
  EXPECT_EQ(first_of(realized(x * 2)), 6);
}

TEST(QueueScope, ScopesNestAndAQueueHasOneThread) {
  Queue outer = make_queue(), inner = make_queue("cpu");
  EXPECT_EQ(QueueScope::current(), nullptr);
  {
    const QueueScope a(outer), b(outer);
    {
      const QueueScope c(inner);
      EXPECT_EQ(QueueScope::current(), &inner);
    }
    EXPECT_EQ(QueueScope::current(), &outer);
    std::thread([&] {
      EXPECT_NE(message_of([&] { const QueueScope d(outer); }).find("of another thread"),
                std::string::npos);
    }).join();
  }
  EXPECT_EQ(QueueScope::current(), nullptr);
  std::thread([&] { const QueueScope d(outer); }).join();
}

}  // namespace
}  // namespace croze
