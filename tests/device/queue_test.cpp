// queue_test.cpp -- queues over a device whose kernels are functions of the test.
#include "croze/device/queue.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "croze/device/host_device.h"
#include "croze/device/task_program.h"
#include "support/errors.h"

namespace croze {
namespace {

using test::message_of;

class HostFunctions final : public HostDevice {
 public:
  HostFunctions() : HostDevice("FUNCTIONS", 0) {}

  std::string description() const override { return "functions of a test"; }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { fail_internal({}, "there is nothing to render"); }
  std::string compile(const std::string&, const std::string& source) override { return source; }
  std::unique_ptr<Program> load(const ProgramInfo&, std::string_view) override { return nullptr; }

 private:
  Caps caps_;
};

// A kernel of one task over one buffer.
class FunctionProgram final : public TaskProgram {
 public:
  using Function = std::function<void(std::int32_t*)>;
  FunctionProgram(std::string name, Function function)
      : TaskProgram({.name = std::move(name), .launch = {}, .num_buffers = 1}, pool_),
        function_(std::move(function)) {}
  void run(void* const* buffers, std::span<const std::int64_t>, std::int64_t) const override {
    function_(static_cast<std::int32_t*>(buffers[0]));
  }

 private:
  ThreadPool pool_{1};
  Function function_;
};

// A few integers on the device.
class Integers {
 public:
  explicit Integers(Device& device, std::int64_t count = 4)
      : device_(device), view_{device.allocate(count * 4), 0, count * 4} {
    const std::vector<std::int32_t> zeros(static_cast<std::size_t>(count));
    device.copy_in(view_, std::as_bytes(std::span(zeros)));
  }
  ~Integers() { device_.release(view_.memory); }
  Integers(const Integers&) = delete;
  Integers& operator=(const Integers&) = delete;

  const MemoryView& view() const { return view_; }
  std::vector<std::int32_t> values() {
    std::vector<std::int32_t> values(static_cast<std::size_t>(view_.bytes / 4));
    device_.copy_out(std::as_writable_bytes(std::span(values)), view_);
    return values;
  }

 private:
  Device& device_;
  MemoryView view_;
};

void launch(Queue& queue, Program& program, const Integers& integers) {
  const Nest nest{&program, std::span(&integers.view(), 1), {}};
  const Sequence sequence{std::span(&nest, 1)};
  queue.launch(std::span(&sequence, 1));
}

class QueueTest : public ::testing::Test {
 protected:
  HostFunctions device_;
  Integers x_{device_};
  FunctionProgram twice_{"twice", [](std::int32_t* x) { x[0] *= 2; }};
  FunctionProgram next_{"next", [](std::int32_t* x) { x[0] += 1; }};
  FunctionProgram broken_{"broken", [](std::int32_t*) { check(false, "no luck"); }};
};

TEST_F(QueueTest, CommandsAreDoneInOrder) {
  std::vector<std::int32_t> in = {3, 4, 5, 6}, out(4);
  Integers y(device_);
  {
    Queue queue(device_);
    queue.copy_in(x_.view(), std::as_bytes(std::span(in)));
    launch(queue, twice_, x_);
    launch(queue, next_, x_);
    launch(queue, twice_, x_);
    queue.copy(y.view(), x_.view());
    queue.copy_out(std::as_writable_bytes(std::span(out)), y.view());
  }  // waits
  EXPECT_EQ(out, (std::vector<std::int32_t>{14, 4, 5, 6}));
}

TEST_F(QueueTest, EnqueuingDoesNotWaitForTheWork) {
  const Timeline go;
  FunctionProgram waiting("waiting", [&](std::int32_t* x) {
    go.wait(1);
    x[0] = 7;
  });
  Queue queue(device_);
  launch(queue, waiting, x_);
  const Timestamp end = queue.timestamp();
  EXPECT_FALSE(end.is_taken());  // it cannot be: nobody has let the kernel go
  go.signal(1);
  queue.synchronize();
  EXPECT_TRUE(end.is_taken());
  EXPECT_EQ(x_.values()[0], 7);
}

// The kernel ends when the copy has been made, so the two must be at work at once.
TEST_F(QueueTest, ACopyOverlapsWithAKernel) {
  const Timeline begun, copied;
  FunctionProgram long_kernel("long", [&](std::int32_t*) {
    begun.signal(1);
    copied.wait(1);
  });
  Integers y(device_, 1 << 18);
  const std::vector<std::int32_t> from(1 << 18, 5);
  Queue kernels(device_), copies(device_);
  const Timestamp kernel_begins = kernels.timestamp();
  launch(kernels, long_kernel, x_);
  const Timestamp kernel_ends = kernels.timestamp();
  copies.wait(begun, 1);
  const Timestamp copy_begins = copies.timestamp();
  copies.copy_in(y.view(), std::as_bytes(std::span(from)));
  const Timestamp copy_ends = copies.timestamp();
  copies.signal(copied, 1);
  kernels.synchronize();
  EXPECT_LE(kernel_begins.time(), copy_begins.time());
  EXPECT_LT(copy_begins.time(), copy_ends.time());
  EXPECT_LE(copy_ends.time(), kernel_ends.time());
  EXPECT_EQ(y.values(), from);
}

TEST_F(QueueTest, TwoQueuesAreOrderedBySignalAndWait) {
  Queue first(device_), second(device_);
  const Timeline there, back;
  std::int32_t expected = 0;
  for (std::uint64_t i = 1; i <= 20; i++) {
    launch(first, next_, x_);
    first.signal(there, i);
    second.wait(there, i);
    launch(second, twice_, x_);
    second.signal(back, i);
    first.wait(back, i);
    expected = (expected + 1) * 2;
  }
  back.wait(20);
  EXPECT_EQ(x_.values()[0], expected);
}

TEST_F(QueueTest, AnErrorOfAKernelSurfacesAtTheWaitAndNamesIt) {
  Queue queue(device_);
  launch(queue, next_, x_);
  launch(queue, broken_, x_);
  launch(queue, next_, x_);  // given up
  const Timestamp after = queue.timestamp();
  const Timeline done;
  queue.signal(done, 1);
  EXPECT_EQ(message_of([&] { done.wait(1); }), "kernel broken: no luck");
  EXPECT_EQ(message_of([&] { after.time(); }), "kernel broken: no luck");
  EXPECT_EQ(message_of([&] { queue.synchronize(); }), "kernel broken: no luck");
  EXPECT_EQ(x_.values()[0], 1);
  launch(queue, next_, x_);  // the error has been told
  queue.synchronize();
  EXPECT_EQ(x_.values()[0], 2);
}

TEST_F(QueueTest, AFailureReachesTheQueuesThatWaitForIt) {
  Queue first(device_), second(device_);
  const Timeline done;
  launch(first, broken_, x_);
  first.signal(done, 1);
  second.wait(done, 1);
  launch(second, next_, x_);
  EXPECT_EQ(message_of([&] { second.synchronize(); }), "kernel broken: no luck");
  EXPECT_EQ(x_.values()[0], 0);
}

TEST_F(QueueTest, ABatchIsRecordedOnceAndRunsAsOftenAsItIsSubmitted) {
  const auto batch = std::make_shared<RecordedBatch>();
  {
    // What describes it need not live on.
    const std::vector<MemoryView> views = {x_.view()};
    const std::vector<Nest> nests = {{&next_, views, {}}};
    const std::vector<Sequence> sequences = {{nests}};
    batch->launch(sequences);
    batch->launch(sequences);
  }
  std::int32_t last = 0;
  batch->copy_out(std::as_writable_bytes(std::span(&last, 1)), {x_.view().memory, 0, 4});
  Queue queue(device_);
  for (int i = 0; i < 10; i++) queue.submit(batch);
  queue.synchronize();
  EXPECT_EQ(last, 20);
}

TEST_F(QueueTest, AFullQueueMakesTheNextCommandWait) {
  const Timeline go;
  std::atomic<int> done = 0;
  Queue queue(device_);
  queue.call([&](DeviceStream&) { go.wait(1); });
  std::thread filling([&] {
    for (std::size_t i = 0; i < 3 * Queue::most_waiting; i++) {
      queue.call([&](DeviceStream&) { done++; });
    }
  });
  go.signal(1);
  filling.join();
  queue.synchronize();
  EXPECT_EQ(done, 3 * static_cast<int>(Queue::most_waiting));
}

TEST_F(QueueTest, ManyThreadsMayEnqueue) {
  Queue queue(device_);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; i++) launch(queue, next_, x_);
    });
  }
  for (std::thread& t : threads) t.join();
  queue.synchronize();
  EXPECT_EQ(x_.values()[0], 400);
}

TEST_F(QueueTest, AForkedChildIsToldThatTheQueueIsNotThere) {
  Queue queue(device_);
  queue.synchronize();
  const pid_t child = fork();
  if (child == 0) {
    const std::string message = message_of([&] { queue.synchronize(); });
    _exit(message.find("before this process was forked") == std::string::npos);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Timeline, OnlyGoesForward) {
  const Timeline t;
  EXPECT_EQ(t.value(), 0u);
  t.signal(5);
  t.wait(5);
  t.wait(2);
  EXPECT_EQ(message_of([&] { t.signal(5); }), "a timeline is to reach 5, but it is at 5 already");
  t.fail(std::make_exception_ptr(Error("it broke")));
  t.wait(5);
  EXPECT_EQ(message_of([&] { t.wait(6); }), "it broke");
  const Timeline same = t;
  EXPECT_EQ(same.value(), 5u);
}

}  // namespace
}  // namespace croze
