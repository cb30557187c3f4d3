// Long reductions and scatters on a device whose items run in warps: in parts, which mean the same.
#include <algorithm>
#include <limits>

#include "croze/base/options.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/matrix_unit.h"
#include "croze/schedule/fuse.h"
#include "croze/schedule/parts/parts.h"
#include "schedule/products.h"
#include "schedule/scheduled.h"

namespace croze::test {
namespace {

// Few enough that small graphs feed them, and more than these have results.
Caps many_groups() {
  Caps caps = gpu_shaped_caps();
  caps.threads = 16;
  return caps;
}

std::vector<double> some_numbers(std::int64_t count) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < count; i++) numbers.push_back(static_cast<double>(i * 37 % 19 - 9));
  return numbers;
}

constexpr std::int64_t overwriting = 0, adding = static_cast<std::int64_t>(Op::Add),
                       taking_the_greatest = static_cast<std::int64_t>(Op::Max);

UOp scattered(Scheduled& s, std::int64_t how, UOp base, UOp values, UOp places) {
  std::vector<UOp> src{base, values, places};
  if (base.rank() == 2) {
    const UOp columns = s.reshape(s.graph.iota(base.shape()[1]), {1, base.shape()[1]});
    src[2] =
        s.expand(s.reshape(places, {values.shape()[0], 1}), {values.shape()[0], values.shape()[1]});
    src.push_back(s.expand(columns, {values.shape()[0], values.shape()[1]}));
  }
  return s.graph.make(Op::Scatter, values.dtype(), src, Arg(how));
}

UOp places(Scheduled& s, std::int64_t count, std::int64_t of) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < count; i++) numbers.push_back(static_cast<double>(i * i % of));
  return s.buffer(numbers, {count}, DType::Int32);
}

TEST(InParts, ASumOfAnyLengthIsSharedByGroups) {
  for (std::int64_t size : {std::int64_t{1} << 18, std::int64_t{262147}}) {
    Scheduled s(many_groups());
    const UOp x = s.buffer(some_numbers(size), {size}, DType::Float32);
    EXPECT_EQ(s.expect_right({s.reduce(Op::Add, x, {0})}).steps.size(), 2u) << size;
  }
}

// What fills up the last part must not be greater than what is negative.
TEST(InParts, AGreatestOfNegativeNumbersIsOneOfThem) {
  Scheduled s(many_groups());
  std::vector<double> numbers = some_numbers(262147);
  for (double& n : numbers) n -= 100;
  const UOp x = s.buffer(numbers, {262147}, DType::Float32);
  EXPECT_EQ(s.expect_right({s.reduce(Op::Max, x, {0})}).steps.size(), 2u);
}

TEST(InParts, RowsAndColumnsThatAreFewAreCutAndManyAreNot) {
  const auto steps = [](std::int64_t rows, std::int64_t columns, std::int64_t axis) {
    Scheduled s(many_groups());
    const UOp x = s.buffer(some_numbers(rows * columns), {rows, columns}, DType::Float32);
    return s.expect_right({s.reduce(Op::Add, x, {axis})}).steps.size();
  };
  EXPECT_EQ(steps(3, 100000, 1), 2u);
  EXPECT_EQ(steps(20000, 32, 0), 2u);
  EXPECT_EQ(steps(512, 600, 1), 1u);
}

// Threads share the columns where there are enough, and rows that a cache holds.
TEST(InParts, LongColumnsAreSharedByThreadsWhereRowsAreShort) {
  const Caps caps = cpu_shaped_caps();
  const auto parts = [&](std::int64_t rows, std::int64_t columns, std::int64_t axis) {
    Scheduled s(caps);
    const UOp x = s.graph.buffer(DType::Float32, 0, rows * columns, 0);
    return parts_of(s.reduce(Op::Add, s.reshape(x, {rows, columns}), {axis}), caps).most;
  };
  EXPECT_GT(parts(131072, 128, 0), 1);
  EXPECT_EQ(parts(131072, 128, 1), 1);
  EXPECT_EQ(parts(8192, 2048, 0), 1);
  EXPECT_EQ(parts(1024, 128, 0), 1);
}

TEST(InParts, AProductOfFewRowsAndColumnsIsCutAlongItsDepth) {
  Scheduled s(many_groups());
  const UOp a = s.buffer({16, 4096}), b = s.buffer({4096, 16});
  EXPECT_EQ(s.expect_right({product(s, a, b)}).steps.size(), 2u);
  Scheduled t(many_groups());
  const UOp c = t.buffer({128, 64}), d = t.buffer({64, 128});
  EXPECT_EQ(t.expect_right({product(t, c, d)}).steps.size(), 1u);
}

// What few values were scattered into is memory of its own, and no product of few numbers.
TEST(InParts, RowsThatWereScatteredIntoAreNotCutWhereTheyAreMany) {
  const Caps caps = many_groups();
  Scheduled s(caps);
  const UOp zero = s.reshape(s.graph.constant(DType::Float32, 0.0), {1, 1});
  const UOp rows =
      scattered(s, adding, s.expand(zero, {512, 600}), s.buffer({3, 600}), places(s, 3, 512));
  EXPECT_EQ(parts_of(s.reduce(Op::Add, rows, {1}), caps).most, 1);
}

// A fast unit waits for memory unless its tiles are large, and of large tiles there are few.
TEST(InParts, AProductByAUnitThatMayRoundIsCutIntoMore) {
  Caps caps = many_groups();
  caps.matrix_units = {find_matrix_unit("mma.sync.tf32")};
  ASSERT_EQ(caps.matrix_units[0]->threads, caps.warp_items);
  Scheduled s(caps);
  const UOp sum = strip_movement(product(s, s.buffer({256, 2048}), s.buffer({2048, 256})));
  const Parts exact = parts_of(sum, caps);
  const Options::Scope allowed{{Option::Tf32, 1}};
  const Parts rounded = parts_of(sum, caps);
  EXPECT_LT(exact.most, rounded.most);
}

// ---- reductions that need each other ----------------------------------------------------------

constexpr std::int64_t even = 1 << 18, odd = 262147;
constexpr double roundings = 1e-5;

UOp along(Scheduled& s, UOp results, UOp x) {
  return s.expand(results, {x.shape().begin(), x.shape().end()});
}

TEST(InParts, AnArgumentOfTheGreatestIsThatOfItsPart) {
  for (std::int64_t size : {even, odd}) {
    Scheduled s(many_groups());
    const UOp x = s.buffer(some_numbers(size), {1, size}, DType::Float32);
    const UOp most = along(s, s.reduce(Op::Max, x, {1}), x);
    const UOp place = cast(s.reshape(s.graph.iota(size), {1, size}), DType::Int32);
    const UOp none = s.graph.constant(DType::Int32, size);
    const UOp first = s.reduce(Op::Min, where(s.graph.alu(Op::Eq, {x, most}), place, none), {1});
    EXPECT_LE(s.expect_right({first}).steps.size(), 3u) << size;
  }
}

TEST(InParts, ASumOfExponentialsIsThatOfPartsUnderTheirOwnGreatest) {
  for (std::int64_t size : {even, odd}) {
    Scheduled s(many_groups());
    const UOp x = s.buffer(some_numbers(3 * size), {3, size}, DType::Float32);
    const UOp most = s.reduce(Op::Max, x, {1});
    const UOp power = s.graph.alu(Op::Exp, {x - along(s, most, x)});
    const UOp sum = s.reduce(Op::Add, power, {1});
    EXPECT_LE(s.expect_right({sum, most}, roundings).steps.size(), 3u) << size;
  }
}

// Where a part has nothing finite, and where nothing has.
TEST(InParts, ExponentialsOfInfinitiesAreThoseOfTheWhole) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::vector<double> numbers(even, -inf);
  for (std::int64_t i = 0; i < 100; i++) numbers[static_cast<std::size_t>(even - 1 - i)] = 1;
  for (double first : {-inf, inf}) {
    numbers[0] = first;
    Scheduled s(many_groups());
    const UOp x = s.buffer(numbers, {1, even}, DType::Float32);
    const UOp most = along(s, s.reduce(Op::Max, x, {1}), x);
    s.expect_right({s.reduce(Op::Add, s.graph.alu(Op::Exp, {x - most}), {1})}, roundings);
  }
}

TEST(InParts, SquaresAroundAMeanAreThoseAroundTheMeansOfParts) {
  for (std::int64_t size : {even, odd}) {
    Scheduled s(many_groups());
    const UOp x = s.buffer(some_numbers(size), {1, size}, DType::Float32);
    const UOp count = s.graph.constant(DType::Float32, static_cast<double>(size));
    const UOp mean = s.graph.alu(Op::Div, {s.reduce(Op::Add, x, {1}), count});
    const UOp off = x - along(s, mean, x);
    const Schedule schedule = s.expect_right({s.reduce(Op::Add, off * off, {1})}, roundings);
    EXPECT_LE(schedule.steps.size(), size == even ? 3u : 4u);
  }
}

// The exponentials of a row are computed for their sum and for the results, and never stored.
TEST(InParts, ALongSoftmaxStoresWhatItsPartsComeTo) {
  constexpr std::int64_t size = 1 << 17;
  Scheduled s(many_groups());
  const UOp x = s.buffer(some_numbers(2 * size), {2, size}, DType::Float32);
  const UOp power = s.graph.alu(Op::Exp, {x - along(s, s.reduce(Op::Max, x, {1}), x)});
  const UOp sum = along(s, s.reduce(Op::Add, power, {1}), x);
  const Schedule schedule = s.expect_right({s.graph.alu(Op::Div, {power, sum})}, roundings);
  EXPECT_EQ(schedule.steps.size(), 3u);
  for (const ScheduleBuffer& b : schedule.buffers) {
    if (b.kind == ScheduleBuffer::Kind::Temporary) {
      EXPECT_LE(b.elements, 1024);
    }
  }
}

TEST(InParts, BuffersHoldValuesOfTheGraphThatCameIn) {
  Scheduled s(many_groups());
  const UOp x = s.buffer(some_numbers(1 << 18), {1 << 18}, DType::Float32);
  const UOp root = s.graph.alu(Op::Sqrt, {s.reduce(Op::Add, x * x, {0})});
  const CanonicalGraph graph = canonical_graph(std::span(&root, 1));
  const auto known = graph.graph->id_limit();
  const ScheduleContext context{[](int) -> const Caps& {
    static const Caps caps = many_groups();
    return caps;
  }};
  for (const ScheduleBuffer& b : make_schedule(graph, context).buffers) {
    EXPECT_LT(b.value, known);
  }
}

TEST(InParts, ManyValuesGoToFewPlacesInParts) {
  for (std::int64_t how : {adding, taking_the_greatest}) {
    Scheduled s(many_groups());
    const UOp values = s.buffer(some_numbers(5000), {5000}, DType::Float32);
    const UOp base = s.buffer(some_numbers(10), {10}, DType::Float32);
    const UOp sum = scattered(s, how, base, values, places(s, 5000, 11));
    EXPECT_EQ(s.expect_right({sum}).steps.size(), 3u);
  }
}

// Rows go to many places, so what they go to is cut, and all values are looked at by each.
TEST(InParts, RowsThatMayMeetArePutDownInSlices) {
  for (std::int64_t how : {adding, overwriting}) {
    Scheduled s(many_groups());
    const UOp values = s.buffer(some_numbers(300 * 8), {300, 8}, DType::Float32);
    const UOp base = s.buffer(some_numbers(700 * 8), {700, 8}, DType::Float32);
    const Schedule schedule =
        s.expect_right({scattered(s, how, base, values, places(s, 300, 701))});
    ASSERT_EQ(schedule.steps.size(), 2u);
    const UOp nest = schedule.steps[1].kernel->sink;
    std::int64_t parallel = 1;
    for (UOp r : closed_ranges(nest.src(0))) {
      if (r.loop_kind() == LoopKind::Parallel) parallel *= r.range_size();
    }
    EXPECT_GE(parallel, 8 * 100) << "of 8 columns and the slices";
  }
}

}  // namespace
}  // namespace croze::test
