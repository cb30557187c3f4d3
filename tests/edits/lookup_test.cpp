// Expressions of a few bits are looked up in a vector register.
#include "croze/codegen/lower/lookup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "croze/backends/interp/interp_device.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/graph.h"
#include "croze/render/program.h"
#include "croze/run/devices.h"
#include "edits/bind_lanes.h"
#include "support/schedule_runner.h"

namespace croze {
namespace {

using namespace test;

constexpr std::int64_t blocks = 6, block_bytes = 16, entries = 16;

// Of each byte two numbers of four bits, the low ones of a block first.
struct Nibbles {
  UOp block, half, byte;  // loops
  UOp packed, number;     // UInt8; the number is 0..15
};

Nibbles nibbles(Graph& g) {
  const UOp block = g.range(0, blocks, LoopKind::Parallel);
  const UOp half = g.range(1, 2, LoopKind::Parallel);
  const UOp byte = g.range(2, block_bytes, LoopKind::Parallel);
  const UOp packed =
      g.load(g.place(g.param(DType::UInt8, 1, blocks * block_bytes), block * block_bytes + byte));
  const UOp shift = g.cast(half, DType::UInt8) * g.constant(DType::UInt8, std::int64_t{4});
  return {block, half, byte, packed,
          g.alu(Op::Shr, {packed, shift}) & g.constant(DType::UInt8, std::int64_t{15})};
}

UOp kernel_that_stores(const Nibbles& n, UOp value) {
  Graph& g = value.graph();
  const std::int64_t elements = blocks * 2 * block_bytes;
  const UOp place =
      g.place(g.param(value.dtype(), 0, elements), (n.block * 2 + n.half) * block_bytes + n.byte);
  return g.sink(std::vector<UOp>{g.store(place, value, std::vector<UOp>{n.block, n.half, n.byte})});
}

// (q - 8) * scale[block]
UOp scaled_kernel(Graph& g) {
  const Nibbles n = nibbles(g);
  const UOp scale = g.load(g.place(g.param(DType::Float32, 2, blocks), n.block));
  const UOp q = g.cast(n.number, DType::Float32);
  return kernel_that_stores(n, (q - g.constant(DType::Float32, 8.0)) * scale);
}

// table[q], of a table with so many entries
UOp codebook_kernel(Graph& g, std::int64_t count) {
  const Nibbles n = nibbles(g);
  const UOp table = g.param(DType::Float32, 2, count);
  return kernel_that_stores(n, g.load(g.place(table, g.cast(n.number, DType::Index))));
}

// Bytes by lanes, halves side by side.
void by_vectors(KernelState& k) {
  const UOp half = k.loops[1], byte = k.loops[2];
  bind_lanes(k, byte);
  bind(k, half, LoopKind::Unroll);
}

Caps wide_caps() {
  Caps caps = cpu_shaped_caps();
  caps.vector_bytes = 64;
  caps.looks_up = true;
  return caps;
}

LinearProgram program_of(UOp kernel, const Caps& caps) {
  return make_program(kernel, caps, by_vectors);
}

std::int64_t count(const LinearProgram& program, Op op) {
  return std::ranges::count_if(program.instructions, [&](UOp u) { return u.is(op); });
}

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

// Every byte there is, and more.
std::vector<std::byte> packed_bytes() {
  std::vector<std::byte> bytes(blocks * block_bytes);
  for (std::size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<std::byte>(i * 37 + 11);
  return bytes;
}

// The same with and without lookups, where they are looked up and on the processor.
void expect_same_bits(UOp kernel, const std::vector<float>& numbers) {
  Caps without = wide_caps();
  without.looks_up = false;
  const std::unique_ptr<Device> reference = make_interp_device(without);
  const std::unique_ptr<Device> looking_up = make_interp_device(wide_caps());
  std::vector<std::byte> packed = packed_bytes(), other = bytes_of(numbers);
  const auto run = [&](Device& device) {
    std::vector<std::byte> out(blocks * 2 * block_bytes * sizeof(float));
    std::vector<std::span<std::byte>> buffers{out, packed};
    if (!other.empty()) buffers.emplace_back(other);
    run_kernel(device, kernel, buffers, by_vectors);
    return out;
  };
  const std::vector<std::byte> expected = run(*reference);
  EXPECT_EQ(run(*looking_up), expected);
  EXPECT_EQ(run(device(device_index("CPU"))), expected);
}

TEST(Lookup, OneTableServesWhatIsUnpackedOfABlock) {
  Graph graph;
  const UOp kernel = scaled_kernel(graph);
  const LinearProgram program = program_of(kernel, wide_caps());
  EXPECT_EQ(count(program, Op::Lookup), 2);
  EXPECT_EQ(count(program, Op::Mul), 3);  // two of addresses, and the table by its scale
  expect_same_bits(kernel, {0.5f, -1e-38f, 3e38f, 0.0f, -0.0f, 7.25f});
}

TEST(Lookup, TakesTheEntriesOfATableInMemory) {
  Graph graph;
  const UOp kernel = codebook_kernel(graph, entries);
  const LinearProgram program = program_of(kernel, wide_caps());
  EXPECT_EQ(count(program, Op::Lookup), 2);
  EXPECT_EQ(count(program, Op::Load), 2);  // the bytes and the table
  std::vector<float> table(entries);
  for (std::size_t i = 0; i < entries; i++) table[i] = 1.5f * static_cast<float>(i) - 4;
  expect_same_bits(kernel, table);
}

// Numbers below 15 are all that such a kernel may meet, but a vector of the table has 16.
TEST(Lookup, ReadsNothingBehindATable) {
  Graph graph;
  EXPECT_EQ(count(program_of(codebook_kernel(graph, entries - 1), wide_caps()), Op::Lookup), 0);
}

TEST(Lookup, IsNoneWhereTheDeviceHasNone) {
  Graph graph;
  Caps caps = wide_caps();
  caps.looks_up = false;
  EXPECT_EQ(count(program_of(scaled_kernel(graph), caps), Op::Lookup), 0);
}

// What is shifted out of a word is not what is shifted out of its lower half.
TEST(Lookup, ShiftsNumbersOfMoreThanAWordBeforeTheyAreIndices) {
  Graph graph;
  const Nibbles n = nibbles(graph);
  const UOp wide = graph.cast(n.packed, DType::UInt64) * graph.constant(DType::UInt64, INT64_MAX);
  const UOp high = graph.alu(Op::Shr, {wide, graph.constant(DType::UInt64, std::int64_t{60})});
  const UOp q = graph.cast(high, DType::Float32);
  const UOp scaled =
      (q - graph.constant(DType::Float32, 8.0)) * graph.constant(DType::Float32, 0.3);
  const UOp kernel = kernel_that_stores(n, scaled);
  EXPECT_GT(count(program_of(kernel, wide_caps()), Op::Lookup), 0);
  expect_same_bits(kernel, {});
}

// A shift and a cast take no more.
TEST(Lookup, IsNoneWhereItSavesNothing) {
  Graph graph;
  const Nibbles n = nibbles(graph);
  const UOp high = graph.alu(Op::Shr, {n.packed, graph.constant(DType::UInt8, std::int64_t{4})});
  const UOp kernel = kernel_that_stores(n, graph.cast(high, DType::Float32));
  EXPECT_EQ(count(program_of(kernel, wide_caps()), Op::Lookup), 0);
}

}  // namespace
}  // namespace croze
