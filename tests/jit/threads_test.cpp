// threads_test.cpp -- threads that create, compute, assign, capture, differentiate and drop at
// once.
//
// Each thread draws its programs from a seed of its own and knows every result beforehand.  How
// long they go on is THREADS_SECONDS, 2 if not given.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "croze/jit/capture.h"
#include "croze/jit/scan.h"
#include "croze/run/buffers.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {
namespace {

using Numbers = std::vector<float>;
using Clock = std::chrono::steady_clock;

std::chrono::seconds duration() {
  const char* seconds = std::getenv("THREADS_SECONDS");
  return std::chrono::seconds(seconds ? std::atoi(seconds) : 2);
}

template <typename F>
void in_threads(int count, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; i++) threads.emplace_back(f, i);
  for (std::thread& t : threads) t.join();
}

Tensor vector(const Numbers& values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}

// Programs of one thread.  Sizes are few, so that threads want the same plans.
class Programs {
 public:
  explicit Programs(int seed) : random_(static_cast<unsigned>(seed)) {}

  void run_one() {
    switch (pick(7)) {
      case 0: return compute();
      case 1: return assign();
      case 2: return replay();
      case 3: return differentiate();
      case 4: return keep();
      case 5: return loop();
      default: return drop();
    }
  }

 private:
  int pick(int count) { return std::uniform_int_distribution(0, count - 1)(random_); }

  Numbers numbers() {
    Numbers values(static_cast<std::size_t>(1 + pick(5)));
    for (float& v : values) v = static_cast<float>(pick(100));
    return values;
  }

  template <typename F>
  static Numbers each(Numbers values, F f) {
    for (float& v : values) v = f(v);
    return values;
  }

  void compute() {
    const Numbers x = numbers();
    const Tensor t = vector(x) * 2 + 1;
    if (pick(2)) t.realize();
    EXPECT_EQ((t - 3).to_vector<float>(), each(x, [](float v) { return v * 2 - 2; }));
  }

  void assign() {
    const Numbers x = numbers();
    Tensor t = vector(x);
    const Tensor before = t * 3;
    t += 1;
    const Tensor after = t * 3;
    t.assign(t * 2);
    EXPECT_EQ(t.to_vector<float>(), each(x, [](float v) { return v * 2 + 2; }));
    EXPECT_EQ(before.to_vector<float>(), each(x, [](float v) { return v * 3; }));
    EXPECT_EQ(after.to_vector<float>(), each(x, [](float v) { return v * 3 + 3; }));
  }

  void replay() {
    Tensor total = Tensor::zeros({2}).contiguous().realize();
    auto step = capture([&](const Tensor& x) {
      total += x;
      return total * 2;
    });
    float sum = 0;
    for (int i = 0; i < 4; i++) {
      const auto value = static_cast<float>(pick(10));
      sum += value;
      EXPECT_EQ(step(vector({value, 1})).to_vector<float>(),
                (Numbers{2 * sum, static_cast<float>(2 * (i + 1))}));
    }
    EXPECT_EQ(total.to_vector<float>(), (Numbers{sum, 4}));
  }

  void differentiate() {
    const Numbers x = numbers();
    const Tensor t = vector(x);
    const Tensor square = t * t;
    if (pick(2)) square.realize();
    const Tensor loss = (square * 3).sum();
    if (pick(2)) loss.realize();
    EXPECT_EQ(loss.gradient({t})[0].to_vector<float>(), each(x, [](float v) { return 6 * v; }));
  }

  void keep() {
    const Numbers x = numbers();
    kept_.emplace_back((vector(x) + 7), each(x, [](float v) { return v + 7; }));
  }

  void loop() {
    const Numbers x = numbers();
    const float factor = static_cast<float>(1 + pick(3));
    const Tensor w = vector({factor}), rows = vector(x);
    const auto [last, sums] = scan(
        [&](const Tensor& sum, const Tensor& row) {
          const Tensor next = sum + row * w;
          return std::pair(next, next);
        },
        Tensor::zeros({1}), rows, {.reverse = false, .keep_states = pick(2) == 0});
    Numbers expected;
    float sum = 0;
    for (float v : x) expected.push_back((sum += v) * factor);
    EXPECT_EQ(sums.to_vector<float>(), expected);
    const std::vector<Tensor> gradients = last.gradient({w, rows});
    EXPECT_EQ(gradients[0].to_vector<float>(), Numbers{sum});
    EXPECT_EQ(gradients[1].to_vector<float>(), Numbers(x.size(), factor));
  }

  void drop() {
    if (kept_.empty()) return;
    const std::size_t at = static_cast<std::size_t>(pick(static_cast<int>(kept_.size())));
    EXPECT_EQ(kept_[at].first.to_vector<float>(), kept_[at].second);
    kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  std::mt19937 random_;
  std::vector<std::pair<Tensor, Numbers>> kept_;  // with their values
};

TEST(Threads, EachSeesItsOwnValues) {
  const Clock::time_point end = Clock::now() + duration();
  std::atomic<std::int64_t> programs = 0;
  in_threads(8, [&](int seed) {
    Programs mine(seed);
    while (Clock::now() < end && !testing::Test::HasFailure()) {
      mine.run_one();
      programs++;
    }
  });
  RecordProperty("programs", std::to_string(programs));
  EXPECT_GE(programs, 8);
}

// All elements of a tensor that another thread assigns to are of one assignment, whoever reads.
TEST(Threads, AssignmentsToOneTensorAreSeenWhole) {
  Tensor shared = Tensor::zeros({64, 64}).contiguous().realize();
  std::atomic<bool> is_written = false;
  in_threads(6, [&](int thread) {
    if (thread == 0) {
      for (int i = 0; i < 100; i++) (shared += 1).realize();
      is_written = true;
      return;
    }
    float last = 0;
    while (!is_written) {
      const Numbers values = (thread % 2 ? shared : shared * 1).to_vector<float>();
      for (float v : values) ASSERT_EQ(v, values[0]);
      EXPECT_GE(values[0], last);
      last = values[0];
    }
  });
  EXPECT_EQ(shared.to_vector<float>()[17], 100);
}

// While one thread computes, or a step is replayed, others compute too.
TEST(Threads, AComputationThatLastsKeepsNobodyElseWaiting) {
  const Tensor x = vector({1, 2}), y = vector({3, 4});
  auto step = capture([](const Tensor& t) { return t * 5; });
  step(y);
  const MemoryAccess::Use use[] = {{x.node(), true}};
  MemoryAccess lasting(use);  // what reads x has to wait
  std::thread computing([&] { EXPECT_EQ((x * 2).to_vector<float>(), (Numbers{2, 4})); });
  std::thread replaying([&] { EXPECT_EQ(step(x).to_vector<float>(), (Numbers{5, 10})); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ((y + 1).to_vector<float>(), (Numbers{4, 5}));
  EXPECT_EQ(step(y).to_vector<float>(), (Numbers{15, 20}));
  lasting.end();
  computing.join();
  replaying.join();
}

// The same value asked for by all: it is there for all, and computed by whoever comes first.
TEST(Threads, OneTensorMayBeComputedByAll) {
  for (int round = 0; round < 20; round++) {
    const Tensor x = Tensor::full({16, 16}, round).contiguous();
    const Tensor product = matmul(x, x).sum();
    in_threads(4, [&](int) {
      EXPECT_EQ(product.item<float>(), static_cast<float>(16 * 16 * 16 * round * round));
    });
  }
}

}  // namespace
}  // namespace croze
