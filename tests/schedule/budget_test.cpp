// budget_test.cpp -- values that are made again to stay below a budget.
#include <algorithm>

#include "croze/schedule/explain/explanation.h"
#include "schedule/scheduled.h"

namespace croze::test {
namespace {

constexpr std::int64_t rows = 64, columns = 32;

UOp square(UOp x) { return x * x; }

// Nothing of it fits into memory of blocks: each nest is a launch.
Caps apart() {
  Caps caps = cpu_shaped_caps();
  caps.joins_nests = false;
  return caps;
}

// A chain of stages and its way back, which wants what each stage has computed:
//   forward:   h[i+1] = f(h[i]), a reduction behind an expression that is not cheap
//   backward:  g[i] = h(g[i+1], f(h[i]))
struct Chain {
  Scheduled s;
  std::vector<UOp> roots;

  explicit Chain(int stages, const Caps& caps = apart()) : s(caps) {
    UOp x = s.buffer({rows, columns}, DType::Int32);
    std::vector<UOp> kept;
    for (int i = 0; i < stages; i++) {
      UOp inner = square(x) + 1;
      for (int k = 0; k < 4; k++) inner = s.graph.alu(Op::Max, {inner * 3 % 101, x + k});
      kept.push_back(s.contiguous(inner));
      // Sums of rows and columns, so that no stage can be taken into the next.
      const UOp down = s.expand(s.reduce(Op::Max, kept.back(), {0}), {rows, columns});
      x = s.contiguous(s.flip(s.graph.alu(Op::Max, {kept.back(), down}) % 17, {1, 1}));
    }
    UOp g = x;
    for (int i = stages; i-- > 0;) {
      const UOp across = s.expand(s.reduce(Op::Max, g, {1}), {rows, columns});
      const UOp wanted = kept[static_cast<std::size_t>(i)];
      g = s.contiguous(s.flip(s.graph.alu(Op::Max, {across, wanted}) % 13 + 1, {1, 1}));
    }
    roots = {g};
  }
};

std::int64_t bytes_of(const Schedule& schedule) {
  return schedule.arenas.empty() ? 0 : schedule.arenas[0].lower_bound;
}

bool makes_again(const Schedule& schedule) {
  return std::ranges::any_of(schedule.buffers, [](const ScheduleBuffer& b) {
    return b.reason.cause == BufferCause::OverBudget;
  });
}

TEST(Budget, ValuesAreMadeAgainUntilThePlanFits) {
  Chain chain(12);
  const Schedule free = chain.s.expect_right({chain.roots[0]});
  EXPECT_FALSE(makes_again(free));
  chain.s.settings.memory_budget = bytes_of(free) / 2;
  const Schedule tight = chain.s.expect_right({chain.roots[0]});
  EXPECT_TRUE(makes_again(tight));
  EXPECT_LE(bytes_of(tight), bytes_of(free) * 3 / 4);
  EXPECT_GT(work_of(tight), work_of(free));
}

// One step makes a stage's value and the base of a Scatter, and one step reads both: the values
// that were scattered are in the base that was made first.
TEST(Budget, ABaseThatIsScatteredIntoIsNotMadeAgain) {
  Scheduled s(apart());
  const UOp at = s.expand(s.buffer({3, 9, 40, 63}, {4, 1}, DType::Int32), {4, columns});
  const UOp column = s.expand(s.reshape(s.graph.iota(columns), {1, columns}), {4, columns});
  UOp x = s.buffer({rows, columns}, DType::Int32);
  std::vector<std::pair<UOp, UOp>> kept;
  for (int i = 0; i < 8; i++) {
    const UOp value = s.contiguous(square(x) % 101);
    const UOp src[] = {square(x) % 103, s.buffer({4, columns}, DType::Int32), at, column};
    const UOp scattered = s.graph.make(Op::Scatter, DType::Int32, src, Arg(std::int64_t{0}));
    kept.emplace_back(value, scattered);
    const UOp down = s.expand(s.reduce(Op::Max, value, {0}), {rows, columns});
    x = s.contiguous(s.flip(s.graph.alu(Op::Max, {value, down}) % 17, {1, 1}));
  }
  UOp g = x;
  for (; !kept.empty(); kept.pop_back()) {
    const UOp across = s.expand(s.reduce(Op::Max, g, {1}), {rows, columns});
    const UOp wanted = kept.back().first + kept.back().second;
    g = s.contiguous(s.flip(s.graph.alu(Op::Max, {across, wanted}) % 13 + 1, {1, 1}));
  }
  s.settings.memory_budget = 1;
  EXPECT_TRUE(makes_again(s.expect_right({g})));
}

TEST(Budget, NothingChangesWhereThereIsRoom) {
  Chain chain(6);
  const Schedule free = chain.s.expect_right({chain.roots[0]});
  chain.s.settings.memory_budget = bytes_of(free) + 1'000'000;
  const Schedule roomy = chain.s.expect_right({chain.roots[0]});
  EXPECT_FALSE(makes_again(roomy));
  EXPECT_EQ(roomy.steps.size(), free.steps.size());
}

TEST(Budget, OneThatCannotBeKeptIsApproached) {
  Chain chain(8);
  const Schedule free = chain.s.expect_right({chain.roots[0]});
  chain.s.settings.memory_budget = 1;
  const Schedule least = chain.s.expect_right({chain.roots[0]});
  EXPECT_LT(bytes_of(least), bytes_of(free));
}

// So little cache that all of it is worth freeing.
Caps small_caches() {
  Caps caps = apart();
  caps.l2_bytes = 256;
  return caps;
}

TEST(Budget, WithoutOneALittleTimeIsGivenForMemoryThatCachesDoNotHold) {
  Chain chain(12, small_caches());
  const Schedule none = chain.s.expect_right({chain.roots[0]});
  EXPECT_FALSE(makes_again(none));
  chain.s.settings.recompute_percent = 5;
  const Schedule little = chain.s.expect_right({chain.roots[0]});
  EXPECT_TRUE(makes_again(little));
  EXPECT_LT(bytes_of(little), bytes_of(none));
  EXPECT_LE(static_cast<double>(work_of(little)), 1.1 * static_cast<double>(work_of(none)));
  chain.s.settings.recompute_percent = 50;
  EXPECT_LT(bytes_of(chain.s.expect_right({chain.roots[0]})), bytes_of(little));
}

TEST(Budget, WithoutOneWhatTheCachesHoldIsKept) {
  Chain chain(12);
  chain.s.settings.recompute_percent = 50;
  EXPECT_FALSE(makes_again(chain.s.expect_right({chain.roots[0]})));
}

}  // namespace
}  // namespace croze::test
