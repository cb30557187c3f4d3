// The thread pool: every index once, nested and concurrent calls, exceptions, shutdown.
#include "croze/base/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "croze/base/options.h"

namespace croze {
namespace {

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<int> hits(static_cast<size_t>(count), 0);
      pool.run(count, [&](int64_t i) { ++hits[static_cast<size_t>(i)]; });
      EXPECT_EQ(std::count(hits.begin(), hits.end(), 1), count) << threads << " threads";
    }
  }
}

TEST(ThreadPool, ManyShortCallsSeeEachOthersResults) {
  ThreadPool pool(4);
  std::vector<int64_t> values(16, 0);
  for (int64_t call = 0; call < 20000; ++call) {
    // Plain memory: each call must see all that the one before wrote, on whatever thread.
    pool.run(16, [&](int64_t i) {
      int64_t& value = values[static_cast<size_t>((i + call) % 16)];
      value += 1;
    });
  }
  EXPECT_EQ(values, std::vector<int64_t>(16, 20000));
}

TEST(ThreadPool, WorkersTakePartAndWakeAfterSleeping) {
  ThreadPool pool(2);
  for (int round = 0; round < 3; ++round) {
    // Two indices that wait for each other: this ends only if two threads run at once.
    std::atomic<int> arrived{0};
    pool.run(2, [&](int64_t) {
      arrived.fetch_add(1);
      while (arrived.load() < 2) std::this_thread::yield();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST(ThreadPool, SharesAreConsecutiveAndAsLargeAsEachOther) {
  for (int parts : {1, 2, 3, 8}) {
    for (int64_t count : {int64_t{0}, int64_t{1}, int64_t{7}, int64_t{1000}, INT64_MAX}) {
      int64_t end = 0;
      for (int part = 0; part < parts; ++part) {
        const IndexRange share = share_of(count, part, parts);
        EXPECT_EQ(share.first, end);
        EXPECT_LE(std::abs(share.size() - count / parts), 1);
        end = share.end;
      }
      EXPECT_EQ(end, count);
    }
  }
}

TEST(ThreadPool, AThreadTakesItsOwnShareFirst) {
  ThreadPool pool(2);
  for (int call = 0; call < 3; ++call) {
    std::vector<std::thread::id> ran(100);
    std::atomic<int> arrived{0};
    pool.run(100, [&](int64_t i) {
      ran[static_cast<size_t>(i)] = std::this_thread::get_id();
      // The first of each share waits for the other, so both threads are there.
      if (i != 0 && i != 50) return;
      arrived.fetch_add(1);
      while (arrived.load() < 2) std::this_thread::yield();
    });
    EXPECT_EQ(ran[0], std::this_thread::get_id());
    EXPECT_NE(ran[50], std::this_thread::get_id());
  }
}

TEST(ThreadPool, AThreadThatIsDoneTakesFromTheOthers) {
  ThreadPool pool(2);
  std::atomic<int> done{0};
  // The first index ends after all others, those of its own share too.
  pool.run(100, [&](int64_t i) {
    while (i == 0 && done.load() < 99) std::this_thread::yield();
    done.fetch_add(1);
  });
  EXPECT_EQ(done.load(), 100);
}

TEST(ThreadPool, NestedCallsRunInPlace) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  pool.run(10, [&](int64_t i) {
    auto outer = std::this_thread::get_id();
    pool.run(10, [&](int64_t j) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      sum += 10 * i + j;
    });
  });
  EXPECT_EQ(sum, 99 * 100 / 2);
}

TEST(ThreadPool, ConcurrentCallersAllFinish) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int call = 0; call < 500; ++call) pool.run(8, [&](int64_t i) { sum += i; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 500 * 28);
}

TEST(ThreadPool, TheFirstExceptionReachesTheCallerAndThePoolLivesOn) {
  ThreadPool pool(4);
  for (int round = 0; round < 100; ++round) {
    std::atomic<int64_t> done{0};
    try {
      pool.run(1000000, [&](int64_t i) {
        if (i == 10) throw std::runtime_error("ten");
        done += 1;
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "ten");
    }
    EXPECT_LT(done, 999999);
    done = 0;
    pool.run(100, [&](int64_t) { done += 1; });
    EXPECT_EQ(done, 100);
  }
}

TEST(ThreadPool, StagesFollowEachOther) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int64_t stages : {1, 2, 7, 300}) {
      // Plain memory: each index reads what all of the stage before have written.
      std::vector<int64_t> values(9, 0);
      std::vector<int64_t> next(9, 0);
      pool.run_stages(stages, [&](int64_t stage, ThreadPool::Indices& indices) {
        std::vector<int64_t>& from = stage % 2 == 0 ? values : next;
        std::vector<int64_t>& to = stage % 2 == 0 ? next : values;
        indices.begin(9);
        for (int64_t i = 0; indices.take(i);) {
          const int64_t least = *std::ranges::min_element(from);
          EXPECT_EQ(least, *std::ranges::max_element(from));
          to[static_cast<size_t>(i)] = least + 1;
        }
      });
      EXPECT_EQ(stages % 2 == 0 ? values : next, std::vector<int64_t>(9, stages));
    }
  }
}

TEST(ThreadPool, StagesHaveAnyNumberOfIndices) {
  ThreadPool pool(3);
  const int64_t counts[] = {0, 1, 5, 0, 0, 1, 1000, 2};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int64_t>> done(8);
    pool.run_stages(8, [&](int64_t stage, ThreadPool::Indices& indices) {
      indices.begin(counts[stage]);
      for (int64_t i = 0; indices.take(i);) ++done[static_cast<size_t>(stage)];
    });
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(done[i], counts[i]);
  }
}

TEST(ThreadPool, NoStageIsBegunAfterAnException) {
  ThreadPool pool(3);
  std::atomic<int64_t> later{0};
  const auto fail_in_third = [&](int64_t stage, ThreadPool::Indices& indices) {
    indices.begin(6);
    for (int64_t i = 0; indices.take(i);) {
      if (stage == 2 && i == 3) throw std::runtime_error("third");
      if (stage > 2) ++later;
    }
  };
  for (int round = 0; round < 100; ++round) {
    EXPECT_THROW(pool.run_stages(50, fail_in_third), std::runtime_error);
  }
  EXPECT_EQ(later, 0);
}

TEST(ThreadPool, AWorkerThatSleepsThroughAStageComesToALaterOne) {
  ThreadPool pool(2);
  std::atomic<int> arrived{0};
  pool.run_stages(2, [&](int64_t stage, ThreadPool::Indices& indices) {
    indices.begin(stage == 0 ? 1 : 2);
    for (int64_t i = 0; indices.take(i);) {
      if (stage == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        continue;
      }
      // Two indices that wait for each other.
      arrived.fetch_add(1);
      while (arrived.load() < 2) std::this_thread::yield();
    }
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadPool, EndsWhetherItsWorkersSpinOrSleep) {
  for (int round = 0; round < 2000; ++round) {
    ThreadPool pool(3);
    if (round % 3 != 0) pool.run(3, [](int64_t) {});
    if (round % 500 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST(ThreadPool, TheOptionSetsTheDefaultThreadCount) {
  Options::Scope scope{{Option::Threads, 5}};
  EXPECT_EQ(default_thread_count(), 5);
  EXPECT_EQ(ThreadPool().thread_count(), 5);
  Options::Scope automatic{{Option::Threads, 0}};
  EXPECT_GE(default_thread_count(), 1);
}

}  // namespace
}  // namespace croze
