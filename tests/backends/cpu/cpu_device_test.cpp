// cpu_device_test.cpp -- the device CPU: the suite of all devices, and what only it has.
#include "croze/backends/cpu/cpu_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "croze/base/error.h"
#include "croze/base/half.h"
#include "croze/base/options.h"
#include "croze/graph/eval.h"
#include "croze/render/llvm.h"
#include "support/device_suite.h"
#include "support/programs.h"

namespace croze::test {

Device* device_under_test() {
  static const std::unique_ptr<Device> device = make_cpu_device();
  return device.get();
}

namespace {

constexpr DType f32 = DType::Float32;

Device& cpu() { return *device_under_test(); }

std::vector<float> counting(std::size_t count, float start = 1) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), start);
  return values;
}

// out[i] = op(in[i]) for 16 floats.
LinearProgram unary_program(Op op, std::int64_t lanes) {
  ProgramBuilder b("unary");
  const UOp out = b.param(f32, 16), in = b.param(f32, 16);
  const UOp lane = b.lane(lanes);
  const UOp loop = b.begin_loop(16 / lanes);
  const UOp index = loop * lanes + lane;
  b.store(out, index, b.graph().alu(op, {b.load(in, index)}));
  b.end_loop(loop);
  return b.finish();
}

std::unique_ptr<Program> load(const LinearProgram& program) {
  const std::string source = cpu().renderer().render(program);
  return cpu().load(program.info, cpu().compile(program.info.name, source));
}

// By instructions that want aligned addresses; a buffer may lie anywhere.
TEST(CpuDevice, WhatIsWrittenPastTheCachesMayBeginAnywhere) {
  ProgramBuilder b("copy");
  const UOp out = b.param(f32, 64), in = b.param(f32, 64), loop = b.begin_loop(4);
  const UOp index = loop * 16 + b.lane(16);
  b.store(out, index, b.load(in, index));
  b.end_loop(loop);
  const LinearProgram program = b.finish();
  const std::string source = LlvmRenderer({.last_cache_bytes = 256}).render(program);
  ASSERT_NE(source.find("nontemporal"), std::string::npos) << source;
  const auto loaded = cpu().load(program.info, cpu().compile(program.info.name, source));
  std::vector<float> from(64);
  std::iota(from.begin(), from.end(), 1.0f);
  for (const std::size_t begin : {0, 1, 4}) {
    alignas(64) std::array<float, 80> to{};
    void* buffers[] = {to.data() + begin, from.data()};
    loaded->host_function()(buffers, nullptr, 0, nullptr);
    for (std::size_t k = 0; k < from.size(); k++) EXPECT_EQ(to[begin + k], from[k]) << begin;
    EXPECT_EQ(to[begin + 64], 0) << begin;
  }
}

TEST(CpuDevice, SaysWhatTheMachineIs) {
  const Caps& caps = cpu().caps();
  EXPECT_EQ(caps.device, "CPU");
  EXPECT_FALSE(caps.has_groups);
  EXPECT_GE(caps.threads, 1);
  EXPECT_TRUE(caps.vector_bytes == 16 || caps.vector_bytes == 32 || caps.vector_bytes == 64);
  EXPECT_GE(caps.l1_bytes, 8 << 10);
  EXPECT_GT(caps.l2_bytes, caps.l1_bytes);
  EXPECT_FALSE(caps.architecture.empty());
  EXPECT_EQ(caps.architecture, make_cpu_device()->caps().architecture);
}

// The whole suite is run a second time with CROZE_CPU_WITHOUT=avx512f.
TEST(CpuDevice, UsesNothingOfWhatIsLeftOut) {
  const Caps& caps = cpu().caps();
  constexpr std::int64_t lanes = 16;  // as many as a register of 512 bits holds
  const std::string code = load(unary_program(Op::Sqrt, lanes))->disassembly();
  if (Options::text(Option::CpuWithout) == "avx512f") {
    EXPECT_LE(caps.vector_bytes, 32);
    EXPECT_EQ(caps.vector_registers, 16);
    EXPECT_EQ(caps.extensions.find("avx512"), std::string::npos) << caps.extensions;
  }
  EXPECT_EQ(code.find("zmm") != std::string::npos, caps.vector_bytes == 64) << code;
}

TEST(CpuDevice, VectorsWithAGateReadAndWriteOnlyWhatIsInBounds) {
  for (std::int64_t lanes : {2, 4, 8, 16, 32}) {
    for (std::int64_t size : {1, 3, 15, 16, 17, 33, 63}) {
      ProgramBuilder b("tail");
      const UOp out = b.param(f32, size), in = b.param(f32, size);
      const UOp lane = b.lane(lanes);
      const UOp loop = b.begin_loop((size + lanes - 1) / lanes);
      const UOp index = loop * lanes + lane;
      const UOp gate = less(index, size);
      const UOp value = b.load(in, index, gate);
      b.store(out, index, value + value, gate);
      b.end_loop(loop);

      // Beyond the buffer lie bytes that must stay as they are.
      const auto guard = static_cast<std::size_t>(size) + 64;
      std::vector<float> x = counting(guard), y(guard, -1);
      run_program(cpu(), b.finish(), {bytes_of(y), bytes_of(x)});
      for (std::size_t i = 0; i < guard; i++) {
        EXPECT_EQ(y[i], i < static_cast<std::size_t>(size) ? 2 * x[i] : -1) << size << " at " << i;
      }
    }
  }
}

TEST(CpuDevice, StridedAndReversedAccessesTakeEveryElementOnce) {
  for (std::int64_t step : {2, 3, -1, -5}) {
    constexpr std::int64_t lanes = 8, rows = 5, count = lanes * rows;
    const std::int64_t width = count * std::abs(step);
    const std::int64_t start = step < 0 ? width - 1 : 0;
    ProgramBuilder b("strided");
    const UOp out = b.param(f32, width), in = b.param(f32, width);
    const UOp lane = b.lane(lanes);
    const UOp loop = b.begin_loop(rows);
    const UOp index = (loop * lanes + lane) * step + start;
    b.store(out, index, b.load(in, index) + b.graph().constant(f32, 0.5));
    b.end_loop(loop);

    std::vector<float> x = counting(static_cast<std::size_t>(width)), y(x.size(), -1);
    run_program(cpu(), b.finish(), {bytes_of(y), bytes_of(x)});
    std::vector<float> expected(x.size(), -1);
    for (std::int64_t k = 0; k < count; k++) {
      const auto at = static_cast<std::size_t>(start + k * step);
      expected[at] = x[at] + 0.5f;
    }
    EXPECT_EQ(y, expected) << "step " << step;
  }
}

// Behind no gate, behind one, and behind one for each lane; the last of the lanes that store to one
// place counts.
TEST(CpuDevice, LanesThatComeAgainReadAndWriteTheSamePlaces) {
  constexpr std::int64_t lanes = 8, rows = 3;
  for (const std::int64_t step : {1, 2, 4}) {
    for (const int gates : {0, 1, 2}) {
      ProgramBuilder b("again");
      const UOp out = b.param(f32, rows * lanes), last = b.param(f32, rows * lanes),
                in = b.param(f32, rows * lanes);
      const UOp lane = b.lane(lanes), loop = b.begin_loop(rows);
      const UOp low = b.graph().alu(Op::And, {lane * step, b.integer(lanes - 1)});
      const UOp place = loop * lanes + low, index = loop * lanes + lane;
      const UOp gate = gates == 0 ? UOp() : less(gates == 1 ? loop : lane, 2);
      const UOp value = b.load(in, place, gate);
      b.store(out, index, value + b.graph().constant(f32, 0.5));
      b.store(last, place, b.load(in, index));
      b.end_loop(loop);

      std::vector<float> x = counting(rows * lanes), y(x.size(), -1), z(x.size(), -1);
      run_program(cpu(), b.finish(), {bytes_of(y), bytes_of(z), bytes_of(x)});
      std::vector<float> expected(x.size(), -1), written(x.size(), -1);
      for (std::int64_t i = 0; i < rows * lanes; i++) {
        const std::int64_t row = i / lanes, k = i % lanes, at = row * lanes + k * step % lanes;
        const bool is_open = gates == 0 || (gates == 1 ? row : k) < 2;
        expected[static_cast<std::size_t>(i)] =
            (is_open ? x[static_cast<std::size_t>(at)] : 0) + 0.5f;
        written[static_cast<std::size_t>(at)] = x[static_cast<std::size_t>(i)];
      }
      EXPECT_EQ(y, expected) << step << ", " << gates << " gates";
      EXPECT_EQ(z, written) << step;
    }
  }
}

TEST(CpuDevice, BytesAreShiftedByWhatTheirLanesSay) {
  constexpr std::int64_t lanes = 32;
  for (const std::int64_t shared : {1, 2, 4, 8, 16}) {  // by up to 31, and 7, and less
    ProgramBuilder b("shifted");
    const UOp out = b.param(DType::UInt8, lanes), in = b.param(DType::UInt8, lanes);
    const UOp lane = b.lane(lanes), by = b.graph().alu(Op::CDiv, {lane, b.integer(shared)});
    b.store(out, lane, b.graph().alu(Op::Shr, {b.load(in, lane), cast(by, DType::UInt8)}));
    std::vector<std::uint8_t> x(lanes), y(lanes), expected;
    for (std::size_t k = 0; k < lanes; k++) {
      x[k] = static_cast<std::uint8_t>(255 - k * 7);
      const std::size_t amount = k / static_cast<std::size_t>(shared);
      expected.push_back(static_cast<std::uint8_t>(amount < 8 ? x[k] >> amount : 0));
    }
    run_program(cpu(), b.finish(), {bytes_of(y), bytes_of(x)});
    EXPECT_EQ(y, expected) << shared;
  }
}

TEST(CpuDevice, WordsArePutTogetherOfBytesOfTheirLanes) {
  constexpr std::int64_t lanes = 8, rows = 3;
  for (const std::int64_t step : {2, 3, 18}) {
    ProgramBuilder b("words");
    const UOp out = b.param(DType::UInt16, rows * lanes),
              in = b.param(DType::UInt8, rows * lanes * step);
    const UOp lane = b.lane(lanes), loop = b.begin_loop(rows);
    const UOp index = loop * lanes + lane;
    const auto word = [&](UOp at) { return cast(b.load(in, at), DType::UInt16); };
    const UOp high = b.graph().alu(
        Op::Shl, {word(index * step + 1), b.graph().constant(DType::UInt16, std::int64_t{8})});
    b.store(out, index, b.graph().alu(Op::Or, {word(index * step), high}));
    b.end_loop(loop);
    std::vector<std::uint8_t> x(static_cast<std::size_t>(rows * lanes * step));
    for (std::size_t i = 0; i < x.size(); i++) x[i] = static_cast<std::uint8_t>(i * 41 + 3);
    std::vector<std::uint16_t> y(rows * lanes), expected;
    for (std::size_t i = 0; i < y.size(); i++) {
      const std::size_t at = i * static_cast<std::size_t>(step);
      expected.push_back(static_cast<std::uint16_t>(x[at] | x[at + 1] << 8));
    }
    LinearProgram program = b.finish();
    program.info.written = 1;  // the first of the buffers
    run_program(cpu(), program, {bytes_of(y), bytes_of(x)});
    EXPECT_EQ(y, expected) << step;
  }
}

TEST(CpuDevice, ScattersInTheOrderOfTheLanesAndGathersBehindAGate) {
  constexpr std::int64_t lanes = 16;
  ProgramBuilder b("scatter");
  const UOp out = b.param(f32, 4), gathered = b.param(f32, lanes);
  const UOp in = b.param(f32, lanes), where_to = b.param(DType::Int32, lanes);
  const UOp lane = b.lane(lanes);
  const UOp to = b.load(where_to, lane);
  b.store(out, to, b.load(in, lane), less(to, 4));
  b.store(gathered, lane, b.load(in, to, less(to, 4)));

  std::vector<float> x = counting(lanes), y(4, -1), z(lanes, -1);
  std::vector<std::int32_t> place = {0, 1, 2, 0, 1, 2, 99, 100, 0, 1, 1 << 30, 2, 2, 0, 1, 4};
  run_program(cpu(), b.finish(), {bytes_of(y), bytes_of(z), bytes_of(x), bytes_of(place)});
  EXPECT_EQ(y, (std::vector<float>{14, 15, 13, -1}));  // the last one wins
  for (std::size_t k = 0; k < lanes; k++) {
    EXPECT_EQ(z[k], place[k] < 4 ? x[static_cast<std::size_t>(place[k])] : 0) << k;
  }
}

// Rows by number: one condition for all lanes of a vector.
TEST(CpuDevice, RowsThatAreNotThereAreZeroAndAreNotWritten) {
  constexpr std::int64_t width = 16, rows = 3, numbers = 5;
  ProgramBuilder b("rows");
  const UOp copies = b.param(f32, numbers * width), out = b.param(f32, rows * width);
  const UOp in = b.param(f32, rows * width), number = b.param(DType::Int32, numbers);
  const UOp loop = b.begin_loop(numbers);
  const UOp lane = b.lane(width);
  const UOp row = b.load(number, loop);
  const UOp gate = less(b.integer(-1), row) & less(row, rows);
  const UOp value = b.load(in, row * width + lane, gate);
  b.store(copies, loop * width + lane, value);
  b.store(out, row * width + lane, value + value, gate);
  b.end_loop(loop);

  std::vector<float> x = counting(rows * width), y(x.size(), -1), z(numbers * width, -1);
  std::vector<std::int32_t> list = {2, 3, -1, 1 << 26, 0};
  run_program(cpu(), b.finish(), {bytes_of(z), bytes_of(y), bytes_of(x), bytes_of(list)});
  for (std::size_t i = 0; i < numbers * width; i++) {
    const std::int32_t at = list[i / width];
    EXPECT_EQ(z[i], at >= 0 && at < rows ? x[static_cast<std::size_t>(at) * width + i % width] : 0);
  }
  for (std::size_t i = 0; i < y.size(); i++) EXPECT_EQ(y[i], i / width == 1 ? -1 : 2 * x[i]);
}

// LLVM 19 folds a quotient of vectors wrongly where a lane of the divisor is a constant 0 behind a
// select.
TEST(CpuDevice, DividesLanesOfWhichSomeAreKnownToBeZero) {
  for (const Op op : {Op::CDiv, Op::CMod}) {
    ProgramBuilder b("divide");
    const UOp out = b.param(DType::Int16, 4);
    const UOp in = b.param(DType::Int16, 4), also = b.param(DType::Int16, 4);
    const UOp lane = b.lane(4);
    const UOp zero = b.graph().constant(DType::Int16, std::int64_t{0});
    const UOp given = not_equal(b.load(in, lane), zero) & not_equal(b.load(also, lane), zero);
    const UOp present = given & less(lane, 1);
    const UOp divisor = where(present, constant_like(zero, 4), zero);
    const UOp safe = where(equal(divisor, zero), constant_like(zero, 1), divisor);
    b.store(out, lane, b.graph().alu(op, {b.load(in, lane), safe}));

    std::vector<std::int16_t> x{9, 9, 9, 9}, y(4, -1);
    run_program(cpu(), b.finish(), {bytes_of(y), bytes_of(x), bytes_of(x)});
    const auto expected = op == Op::CDiv ? std::vector<std::int16_t>{2, 9, 9, 9}
                                         : std::vector<std::int16_t>{1, 0, 0, 0};
    EXPECT_EQ(y, expected) << info(op).name;
  }
}

// LLVM narrows this to a maximum of halfs, which LLVM 19 gets wrong on most machines.
TEST(CpuDevice, TheMaximumOfWidenedHalfsKeepsNan) {
  if (!cpu().caps().can_store(DType::Float16)) GTEST_SKIP() << "Float16 travels as integers";
  constexpr std::int64_t count = 16;
  ProgramBuilder b("maximum");
  const UOp out = b.param(f32, count);
  const UOp in = b.param(DType::Float16, count), also = b.param(DType::Float16, count);
  const UOp lane = b.lane(count);
  b.store(out, lane, max(cast(b.load(in, lane), f32), cast(b.load(also, lane), f32)));

  std::vector<std::uint16_t> x, y;
  for (std::size_t k = 0; k < count; k++) {
    const std::uint16_t nan = f16_from(NAN), one = f16_from(1), inf = f16_from(INFINITY);
    x.push_back(k % 4 == 1 ? nan : k % 4 == 2 ? inf : one);
    y.push_back(k % 4 == 3 ? nan : one);
  }
  std::vector<float> result(count, -1);
  run_program(cpu(), b.finish(), {bytes_of(result), bytes_of(x), bytes_of(y)});
  for (std::size_t k = 0; k < count; k++) {
    EXPECT_EQ(std::isnan(result[k]), k % 2 == 1) << k;
    if (k % 2 == 0) {
      EXPECT_EQ(result[k], k % 4 == 2 ? INFINITY : 1) << k;
    }
  }
}

// Vectors that are less than a register, one, and several.
template <typename T>
void expect_scaled(DType type, std::int64_t lanes) {
  ProgramBuilder b("scale");
  const UOp out = b.param(type, lanes), x = b.param(type, lanes), n = b.param(type, lanes);
  const UOp lane = lanes > 1 ? b.lane(lanes) : b.integer(0);
  b.store(out, lane, b.graph().alu(Op::Scale, {b.load(x, lane), b.load(n, lane)}));

  std::vector<T> numbers, powers, result(static_cast<std::size_t>(lanes)), expected;
  for (std::int64_t k = 0; k < lanes; k++) {
    numbers.push_back(static_cast<T>(1.5) + static_cast<T>(k));
    powers.push_back(static_cast<T>(3 * k - 20));
    expected.push_back(std::ldexp(numbers.back(), static_cast<int>(3 * k - 20)));
  }
  run_program(cpu(), b.finish(), {bytes_of(result), bytes_of(numbers), bytes_of(powers)});
  EXPECT_EQ(result, expected) << lanes << " lanes of " << name_of(type);
}

TEST(CpuDevice, ScalesVectorsOfEveryWidth) {
  if (!cpu().caps().has_op(Op::Scale)) GTEST_SKIP() << "the processor has no instruction for it";
  for (const std::int64_t lanes : {1, 2, 3, 4, 5, 8, 12, 16, 24, 32}) {
    expect_scaled<float>(f32, lanes);
    expect_scaled<double>(DType::Float64, lanes);
  }
}

// Each pair of NaNs, zeros of both signs, infinities and numbers, in vectors of every width.
template <typename T>
void expect_extremes(DType type) {
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  const std::vector<T> values{nan, -nan, T{0}, -T{0}, inf, -inf, T{1}, T{-2}};
  std::vector<T> x, y;
  for (T a : values) {
    for (T b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  const auto count = static_cast<std::int64_t>(x.size());
  for (const Op op : {Op::Max, Op::Min}) {
    for (const std::int64_t lanes : {1, 2, 4, 8, 16}) {
      ProgramBuilder b("extremes");
      const UOp out = b.param(type, count), in = b.param(type, count), also = b.param(type, count);
      const UOp loop = b.begin_loop(count / lanes);
      const UOp at = lanes == 1 ? loop : loop * lanes + b.lane(lanes);
      b.store(out, at, b.graph().alu(op, {b.load(in, at), b.load(also, at)}));
      b.end_loop(loop);
      std::vector<T> result(x.size());
      run_program(cpu(), b.finish(), {bytes_of(result), bytes_of(x), bytes_of(y)});
      for (std::size_t k = 0; k < x.size(); k++) {
        const std::int64_t both[] = {bits_of(static_cast<double>(x[k]), type),
                                     bits_of(static_cast<double>(y[k]), type)};
        const double expected = std::bit_cast<double>(eval(op, type, type, both));
        EXPECT_EQ(std::isnan(result[k]), std::isnan(expected)) << x[k] << ' ' << y[k];
        if (std::isnan(expected)) continue;
        EXPECT_EQ(static_cast<double>(result[k]), expected) << x[k] << ' ' << y[k];
        EXPECT_EQ(std::signbit(result[k]), std::signbit(expected)) << x[k] << ' ' << y[k];
      }
    }
  }
}

TEST(CpuDevice, ExtremesKeepNanAndTellZerosApart) {
  expect_extremes<float>(f32);
  expect_extremes<double>(DType::Float64);
}

TEST(CpuDevice, ReducesLanesInHalves) {
  for (std::int64_t lanes : {2, 3, 8, 16, 12}) {
    ProgramBuilder b("reduce");
    const UOp out = b.param(f32, 2), in = b.param(f32, lanes);
    const UOp lane = b.lane(lanes);
    const UOp value = b.load(in, lane);
    b.store(out, b.integer(0), b.reduce(Op::Add, value, lane));
    b.store(out, b.integer(1), b.reduce(Op::Max, value, lane));

    std::vector<float> x(static_cast<std::size_t>(lanes));
    for (std::size_t i = 0; i < x.size(); i++)
      x[i] = std::ldexp(i % 2 ? -1.0f : 1.0f, 3 * static_cast<int>(i % 9));
    std::vector<float> y(2), halves = x;
    run_program(cpu(), b.finish(), {bytes_of(y), bytes_of(x)});
    if (lanes & (lanes - 1)) {
      EXPECT_EQ(y[0], std::accumulate(x.begin() + 1, x.end(), x[0]));
    } else {
      for (std::size_t n = halves.size() / 2; n > 0; n /= 2) {
        for (std::size_t i = 0; i < n; i++) halves[i] += halves[i + n];
      }
      EXPECT_EQ(y[0], halves[0]);
    }
    EXPECT_EQ(y[1], *std::ranges::max_element(x));
  }
}

TEST(CpuDevice, HalvesAreLoadedAndStoredWithOneRounding) {
  if (!cpu().caps().can_store(DType::Float16)) GTEST_SKIP() << "no conversions in this machine";
  for (DType wide : {DType::Float32, DType::Float64, DType::Int32, DType::Int8}) {
    constexpr std::int64_t lanes = 8, count = 64;
    ProgramBuilder b("halves");
    const UOp half = b.param(DType::Float16, count), back = b.param(wide, count);
    const UOp in = b.param(wide, count);
    const UOp lane = b.lane(lanes);
    const UOp loop = b.begin_loop(count / lanes);
    const UOp index = loop * lanes + lane;
    const UOp narrow = cast(b.load(in, index), DType::Float16);
    b.store(half, index, narrow);
    b.store(back, index, cast(narrow, wide));
    b.end_loop(loop);

    std::vector<double> numbers;
    for (int i = 0; i < count; i++) {
      numbers.push_back(wide == DType::Float64 ? 1.0 + std::ldexp(1, -11) + std::ldexp(i, -40)
                        : wide == f32          ? std::ldexp(1.2345 * (i - 30), i - 40)
                        : wide == DType::Int8  ? i - 32
                                               : (i - 32) * 2049);
    }
    std::vector<std::byte> memory(count * static_cast<std::size_t>(size_of(wide))), result = memory;
    for (std::size_t i = 0; i < count; i++) {
      store_bits(bits_of(numbers[i], wide), wide,
                 memory.data() + i * static_cast<std::size_t>(size_of(wide)));
    }
    std::vector<std::uint16_t> halves(count);
    run_program(cpu(), b.finish(), {bytes_of(halves), bytes_of(result), bytes_of(memory)});
    for (std::size_t i = 0; i < count; i++) {
      const std::byte* at = memory.data() + i * static_cast<std::size_t>(size_of(wide));
      const std::int64_t expected = convert(load_bits(at, wide), wide, DType::Float16);
      EXPECT_EQ(f16_to_float(halves[i]), std::bit_cast<double>(expected))
          << name_of(wide) << " " << numbers[i];
      EXPECT_EQ(load_bits(result.data() + i * static_cast<std::size_t>(size_of(wide)), wide),
                convert(expected, DType::Float16, wide));
    }
  }
}

TEST(CpuDevice, TasksHaveScratchMemoryOfTheirOwn) {
  constexpr std::int64_t tasks = 64, size = 1000;
  ProgramBuilder b("scratch");
  const UOp out = b.param(f32, tasks);
  const UOp first = b.local(f32, size, Space::Thread), second = b.local(f32, 3, Space::Thread);
  const UOp task = b.special(0, tasks, LoopKind::Thread);
  const UOp fill = b.begin_loop(size);
  const UOp filled = b.store(first, fill, cast(task + fill, f32));
  b.end_loop(fill);
  const UOp marked = b.store(second, b.integer(2), b.graph().constant(f32, 0.25));
  const UOp total = b.mutable_register(f32);
  const UOp cleared = b.write(total, b.graph().constant(f32, 0.0));
  const UOp sum = b.begin_loop(size);
  const UOp added = b.write(total, b.read(total, {cleared}) + b.load(first, sum, {}, {filled}));
  b.end_loop(sum);
  b.store(out, task, b.read(total, {added}) + b.load(second, b.integer(2), {}, {marked}));

  std::vector<float> y(tasks);
  run_program(cpu(), b.finish(), {bytes_of(y)});
  for (std::size_t i = 0; i < tasks; i++) {
    EXPECT_EQ(
        y[i],
        static_cast<float>(size * static_cast<std::int64_t>(i) + size * (size - 1) / 2) + 0.25f);
  }
}

TEST(CpuDevice, CompilesInManyThreadsAtOnce) {
  const LinearProgram program = unary_program(Op::Neg, 16);
  const std::string source = cpu().renderer().render(program);
  const std::string expected = cpu().compile("add", source);
  std::atomic<int> same = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; i++) same += cpu().compile("add", source) == expected;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(same, 20);
}

TEST(CpuDevice, TextThatIsNotAProgramIsAnInternalErrorWithLlvmsMessage) {
  for (const char* text : {"define void @f( {", "nonsense", "define i32 @f() { ret void }",
                           "define void @f() { %a = add i32 %b, 1 ret void }"}) {
    try {
      cpu().compile("broken", text);
      ADD_FAILURE() << text;
    } catch (const InternalError& e) {
      EXPECT_NE(std::string(e.what()).find("broken"), std::string::npos);
    }
  }
}

TEST(CpuDevice, DamagedCodeIsAnError) {
  const LinearProgram program = unary_program(Op::Neg, 2);
  const std::string code = cpu().compile("neg", cpu().renderer().render(program));
  EXPECT_NO_THROW(cpu().load(program.info, code));
  EXPECT_THROW(cpu().load(program.info, ""), Error);
  EXPECT_THROW(cpu().load(program.info, code.substr(0, code.size() / 2)), Error);
  for (std::size_t i = 0; i < code.size(); i += 13) {
    std::string damaged = code;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    EXPECT_THROW(cpu().load(program.info, damaged), Error) << "byte " << i;
  }
}

TEST(CpuDevice, ALaunchWithTheWrongBuffersIsABug) {
  EXPECT_THROW(load(unary_program(Op::Neg, 2))->launch({}, {}), InternalError);
}

TEST(CpuDevice, ShowsTheMachineCode) {
  EXPECT_NE(load(unary_program(Op::Sqrt, 4))->disassembly().find("sqrtps"), std::string::npos);
}

// The heart of a matrix product: all accumulators stay in registers.
TEST(CpuDevice, AnAccumulatorNeverTouchesTheStack) {
  if (!cpu().caps().has_op(Op::MulAdd)) GTEST_SKIP() << "a multiply-add is a call";
  const std::int64_t lanes = cpu().caps().vector_bytes / 4, rows = 4, depth = 100;
  ProgramBuilder b("tile");
  const UOp out = b.param(f32, rows * lanes), left = b.param(f32, depth * rows);
  const UOp right = b.param(f32, depth * lanes);
  const UOp lane = b.lane(lanes);
  std::vector<UOp> sums, cleared, added;
  for (std::int64_t r = 0; r < rows; r++) {
    sums.push_back(b.mutable_register(f32, lane));
    cleared.push_back(b.write(sums.back(), b.graph().constant(f32, 0.0)));
  }
  const UOp k = b.begin_loop(depth);
  const UOp row = b.load(right, k * lanes + lane);
  for (std::size_t r = 0; r < sums.size(); r++) {
    const UOp x = b.load(left, k * rows + static_cast<std::int64_t>(r));
    added.push_back(
        b.write(sums[r], b.graph().alu(Op::MulAdd, {x, row, b.read(sums[r], {cleared[r]})})));
  }
  b.end_loop(k);
  for (std::size_t r = 0; r < sums.size(); r++) {
    b.store(out, b.integer(static_cast<std::int64_t>(r) * lanes) + lane,
            b.read(sums[r], {added[r]}));
  }
  const LinearProgram program = b.finish();

  std::vector<float> a = counting(static_cast<std::size_t>(depth * rows), -200);
  std::vector<float> c = counting(static_cast<std::size_t>(depth * lanes), -50);
  std::vector<float> y(static_cast<std::size_t>(rows * lanes));
  run_program(cpu(), program, {bytes_of(y), bytes_of(a), bytes_of(c)});
  for (std::int64_t r = 0; r < rows; r++) {
    for (std::int64_t l = 0; l < lanes; l++) {
      float expected = 0;
      for (std::int64_t i = 0; i < depth; i++) {
        expected = std::fma(a[static_cast<std::size_t>(i * rows + r)],
                            c[static_cast<std::size_t>(i * lanes + l)], expected);
      }
      EXPECT_EQ(y[static_cast<std::size_t>(r * lanes + l)], expected);
    }
  }
  const std::string code = load(program)->disassembly();
  EXPECT_EQ(code.find("%rsp"), std::string::npos) << code;
}

}  // namespace
}  // namespace croze::test
