// task_program_test.cpp -- launches on a pool of threads: their order, their blocks, their errors.
#include "croze/device/task_program.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <list>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "support/errors.h"

namespace croze {
namespace {

using test::message_of;

using Numbers = std::vector<std::int64_t>;

MemoryView view_of(Numbers& numbers) {
  const auto bytes = static_cast<std::int64_t>(numbers.size() * sizeof(std::int64_t));
  return {{numbers.data(), bytes}, 0, bytes};
}

// A kernel of some tasks over buffers of integers.
class FunctionProgram final : public TaskProgram {
 public:
  using Buffers = std::int64_t* const*;
  using Function =
      std::function<void(Buffers, std::span<const std::int64_t> variables, std::int64_t task)>;

  FunctionProgram(std::string name, std::int64_t tasks, int buffers, ThreadPool& pool, Function f)
      : TaskProgram({.name = std::move(name), .launch = {.tasks = tasks}, .num_buffers = buffers},
                    pool),
        function_(std::move(f)) {}
  void run(void* const* buffers, std::span<const std::int64_t> variables,
           std::int64_t task) const override {
    function_(reinterpret_cast<Buffers>(buffers), variables, task);
  }

 private:
  Function function_;
};

// Launches over memory of the test, with what they point into.
class Launches {
 public:
  void add(FunctionProgram& program, Numbers& numbers) {
    Parts& parts = parts_.emplace_back();
    parts.views = {view_of(numbers)};
    parts.addresses = {numbers.data()};
    parts.nests = {{&program, parts.views, {}, parts.addresses}};
    parts.sequences = {{parts.nests}};
    launches_.push_back({parts.sequences, program.info().launch.tasks.value({})});
  }
  std::span<const BoundLaunch> all() const { return launches_; }

 private:
  struct Parts {
    std::vector<MemoryView> views;
    std::vector<void*> addresses;
    std::vector<Nest> nests;
    std::vector<Sequence> sequences;
  };
  std::list<Parts> parts_;
  std::vector<BoundLaunch> launches_;
};

TEST(LaunchTasksInOrder, EachWaitsForTheOneBefore) {
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    // Every task reads what all tasks of the launch before have written.
    const auto add_sum = [](FunctionProgram::Buffers b, std::span<const std::int64_t>,
                            std::int64_t task) {
      std::int64_t* const from = b[0] + 1;
      const std::int64_t turn = b[0][0];
      from[(turn + 1) % 2 * 8 + task] =
          std::accumulate(from + turn % 2 * 8, from + turn % 2 * 8 + 8, std::int64_t{0}) % 1000 +
          task;
    };
    FunctionProgram sum("sum", 8, 1, pool, add_sum);
    FunctionProgram turn(
        "turn", 1, 1, pool,
        [](FunctionProgram::Buffers b, std::span<const std::int64_t>, std::int64_t) { b[0][0]++; });
    Numbers together(17, 1), one_by_one(17, 1);
    Launches launches;
    for (int i = 0; i < 50; i++) {
      launches.add(sum, together);
      // Some ends are single tasks, and some are not.
      for (int k = 0; k < 1 + i % 3; k++) launches.add(turn, together);
      if (i % 3 == 1) launches.add(turn, together);
    }
    launch_tasks_in_order(launches.all(), pool);
    for (const BoundLaunch& l : launches.all()) {
      const TaskProgram& p = static_cast<const TaskProgram&>(*l.sequences[0].nests[0].program);
      void* const address = one_by_one.data();
      for (std::int64_t i = 0; i < l.tasks; i++) p.run(&address, {}, i);
    }
    EXPECT_EQ(together, one_by_one) << threads << " threads";
  }
}

TEST(LaunchTasksInOrder, ErrorsNameTheKernelAndEndTheRest) {
  ThreadPool pool(2);
  std::atomic<int> later = 0;
  FunctionProgram broken("broken", 4, 1, pool,
                         [](FunctionProgram::Buffers, std::span<const std::int64_t>,
                            std::int64_t t) { check(t != 2, "no luck"); });
  FunctionProgram after(
      "after", 4, 1, pool,
      [&](FunctionProgram::Buffers, std::span<const std::int64_t>, std::int64_t) { later++; });
  Numbers numbers(4, 0);
  Launches launches;
  launches.add(broken, numbers);
  launches.add(after, numbers);
  EXPECT_EQ(message_of([&] { launch_tasks_in_order(launches.all(), pool); }),
            "kernel broken: no luck");
  EXPECT_EQ(later, 0);
}

// Two sequences of blocks, whose nests pass a number to each other in memory of the block; the
// prelude of the first makes a number that stays.
TEST(LaunchTasks, BlocksPassOnWhatTheyMakeAndAPreludeIsMadeAgainAfterOthers) {
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    std::atomic<int> preludes = 0;
    FunctionProgram seven("seven", 1, 1, pool,
                          [&](FunctionProgram::Buffers b, std::span<const std::int64_t>,
                              std::int64_t) { preludes++, b[0][0] = 7; });
    FunctionProgram square("square", 1, 1, pool,
                           [](FunctionProgram::Buffers b, std::span<const std::int64_t> v,
                              std::int64_t) { b[0][0] = v[0] * v[0]; });
    FunctionProgram add("add", 1, 3, pool,
                        [](FunctionProgram::Buffers b, std::span<const std::int64_t> v,
                           std::int64_t) { b[2][v[0]] = *b[0] + *b[1] + v[1]; });
    Numbers first(40, 0), second(30, 0);
    const auto block = [](std::int64_t offset) { return MemoryView{{}, offset, 8, true}; };
    const std::int64_t plus = 100;
    const MemoryView made[] = {block(0)}, squared[] = {block(64)};
    const MemoryView of_first[] = {block(0), block(64), view_of(first)};
    const MemoryView of_second[] = {block(0), block(0), view_of(second)};
    const Nest nests[] = {
        {&seven, made, {}}, {&square, squared, {}}, {&add, of_first, std::span(&plus, 1)}};
    const Nest others[] = {{&square, made, {}}, {&add, of_second, std::span(&plus, 1)}};
    const std::int64_t blocks_of_first[] = {40}, blocks_of_second[] = {30};
    const Sequence sequences[] = {
        {nests, blocks_of_first, 128, 1, 2},
        {others, blocks_of_second, 128},
    };
    launch_tasks(sequences, pool);
    for (std::int64_t i = 0; i < 40; i++) EXPECT_EQ(first[i], 7 + i * i + 100);
    for (std::int64_t i = 0; i < 30; i++) EXPECT_EQ(second[i], 2 * i * i + 100);
    EXPECT_LE(preludes, 40);
  }
}

}  // namespace
}  // namespace croze
