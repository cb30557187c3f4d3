// held_product_test.cpp -- products of products whose warps hold what the first product makes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "croze/backends/interp/interp_device.h"
#include "croze/backends/ptx_interp/ptx_interp_device.h"
#include "croze/codegen/choose/warps/held_tiles.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/ptx/ptx.h"
#include "support/schedule_runner.h"

namespace croze::test {
namespace {

using i64 = std::int64_t;

// Attention: `heads` of queries, of which `shared` have the keys and values of one head.
struct Attention {
  DType dtype = DType::BFloat16;
  i64 heads = 2, shared = 1, queries = 32, keys = 64, width = 32, value_width = 32;
  bool is_causal = false;

  i64 key_heads() const { return heads / shared; }
  std::string text() const {
    return fmt::format("{} of {}: {} x {} x {}, {}{}", heads, shared, queries, keys, width,
                       name_of(dtype), is_causal ? ", causal" : "");
  }
};

// out[h, i, e] = sum over j of exp(s[h, i, j] - max of s[h, i, ..]) * v[h, j, e] / sum of those
// exponentials, with s[h, i, j] = sum over d of q[h, i, d] * k[h, j, d], or nothing if j > i.
UOp kernel_of(Graph& g, const Attention& a) {
  const DType f32 = DType::Float32;
  i64 next = 0;
  const auto loop = [&](i64 size, LoopKind kind) { return g.range(next++, size, kind); };
  const UOp h = loop(a.heads, LoopKind::Parallel), i = loop(a.queries, LoopKind::Parallel),
            e = loop(a.value_width, LoopKind::Parallel);
  const auto loaded = [&](i64 slot, i64 heads, i64 rows, i64 width, UOp head, UOp row, UOp column) {
    const UOp memory = g.param(a.dtype, slot, heads * rows * width);
    return g.cast(g.load(g.place(memory, (head * rows + row) * width + column)), f32);
  };
  const UOp key_head = h / a.shared;
  const auto score = [&](UOp j) {
    const UOp d = loop(a.width, LoopKind::Reduce);
    const UOp product = loaded(1, a.heads, a.queries, a.width, h, i, d) *
                        loaded(2, a.key_heads(), a.keys, a.width, key_head, j, d);
    const UOp sum = g.reduce(Op::Add, product, std::vector<UOp>{d}) * g.constant(f32, 0.25);
    return a.is_causal ? where(less(j, i + 1), sum, g.constant(f32, -INFINITY)) : sum;
  };
  const UOp first = loop(a.keys, LoopKind::Reduce);
  const UOp most = g.reduce(Op::Max, score(first), std::vector<UOp>{first});
  const auto weight = [&](UOp j) { return g.alu(Op::Exp, {score(j) - most}); };
  const UOp second = loop(a.keys, LoopKind::Reduce), third = loop(a.keys, LoopKind::Reduce);
  const UOp all = g.reduce(Op::Add, weight(second), std::vector<UOp>{second});
  const UOp rounded = g.cast(g.cast(weight(third), a.dtype), f32);
  UOp term = rounded * loaded(3, a.key_heads(), a.keys, a.value_width, key_head, third, e);
  if (a.is_causal) term = where(less(third, i + 1), term, g.constant(f32, 0.));
  const UOp sum = g.reduce(Op::Add, term, std::vector<UOp>{third});
  const UOp out = g.place(g.param(f32, 0, a.heads * a.queries * a.value_width),
                          (h * a.queries + i) * a.value_width + e);
  return g.sink(std::vector<UOp>{
      g.store(out, sum * g.alu(Op::Reciprocal, {all}), std::vector<UOp>{h, i, e})});
}

std::vector<std::byte> numbers(i64 count, DType t, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-2, 2);
  std::vector<std::byte> memory(static_cast<std::size_t>(count * size_of(t)));
  for (i64 n = 0; n < count; n++)
    store_bits(bits_of(number(random), t), t, &memory[static_cast<std::size_t>(n * size_of(t))]);
  return memory;
}

double number_at(const std::vector<std::byte>& memory, i64 n, DType t) {
  const i64 bits = load_bits(&memory[static_cast<std::size_t>(n * size_of(t))], t);
  return std::bit_cast<double>(convert(bits, t, DType::Float64));
}

struct Memory {
  std::vector<std::byte> out, q, k, v;

  explicit Memory(const Attention& a)
      : out(static_cast<std::size_t>(a.heads * a.queries * a.value_width * 4)),
        q(numbers(a.heads * a.queries * a.width, a.dtype, 1)),
        k(numbers(a.key_heads() * a.keys * a.width, a.dtype, 2)),
        v(numbers(a.key_heads() * a.keys * a.value_width, a.dtype, 3)) {}

  std::vector<std::span<std::byte>> spans() { return {out, q, k, v}; }
};

// A row of the result, in float64.
std::vector<double> expected_row(const Attention& a, const Memory& m, i64 h, i64 i) {
  const i64 keys = a.is_causal ? std::min(a.keys, i + 1) : a.keys, head = h / a.shared;
  std::vector<double> weights, row(static_cast<std::size_t>(a.value_width), 0.0);
  double most = -INFINITY, all = 0;
  for (i64 j = 0; j < keys; j++) {
    double score = 0;
    for (i64 d = 0; d < a.width; d++) {
      score += number_at(m.q, (h * a.queries + i) * a.width + d, a.dtype) *
               number_at(m.k, (head * a.keys + j) * a.width + d, a.dtype);
    }
    weights.push_back(score * 0.25);
    most = std::max(most, weights.back());
  }
  for (double& w : weights) all += w = std::exp(w - most);
  for (i64 j = 0; j < keys; j++) {
    for (i64 e = 0; e < a.value_width; e++) {
      row[static_cast<std::size_t>(e)] +=
          weights[static_cast<std::size_t>(j)] / all *
          number_at(m.v, (head * a.keys + j) * a.value_width + e, a.dtype);
    }
  }
  return row;
}

// What rounding the weights to the dtype, and sums of Float32, may be off.
double tolerance_of(const Attention& a) { return a.dtype == DType::BFloat16 ? 0x1p-7 : 0x1p-10; }

void expect_right(Device& device, const Attention& a) {
  Graph graph;
  Memory memory(a);
  bool is_held = false;
  std::string edits;
  run_kernel(device, kernel_of(graph, a), memory.spans(), [&](KernelState& k) {
    is_held = tile_held_products(k);
    edits = to_text(k.applied);
  });
  ASSERT_TRUE(is_held) << a.text();
  for (i64 h = 0; h < a.heads; h++) {
    for (i64 i = 0; i < a.queries; i++) {
      const std::vector<double> row = expected_row(a, memory, h, i);
      for (i64 e = 0; e < a.value_width; e++) {
        const i64 at = (h * a.queries + i) * a.value_width + e;
        ASSERT_NEAR(number_at(memory.out, at, DType::Float32), row[static_cast<std::size_t>(e)],
                    tolerance_of(a))
            << device.name() << ", " << a.text() << ": " << h << ", " << i << ", " << e << ": "
            << edits;
      }
    }
  }
}

const Attention all_forms[] = {
    {},
    {.dtype = DType::Float16, .width = 64, .value_width = 16},
    {.queries = 70, .keys = 128, .is_causal = true},
    {.heads = 4, .shared = 2, .keys = 96},
    // No multiples of what a unit has, nor of a block.
    {.queries = 19, .keys = 75, .width = 40, .value_width = 24},
    {.dtype = DType::Float16, .queries = 41, .keys = 41, .width = 20, .is_causal = true},
};

TEST(HeldProduct, AttentionIsRight) {
  const std::unique_ptr<Device> devices[] = {make_interp_device(ptx_caps()),
                                             make_ptx_interp_device()};
  for (const auto& device : devices) {
    for (const Attention& a : all_forms) expect_right(*device, a);
  }
}

// Scores and weights are nowhere but in memory of one item.
TEST(HeldProduct, GroupMemoryHasWhatIsLoadedAlone) {
  Graph graph;
  const LinearProgram program =
      make_program(kernel_of(graph, {}), ptx_caps(), [](KernelState& k) { tile_held_products(k); });
  i64 stored = 0, products = 0;
  for (UOp u : program.instructions) {
    products += u.is(Op::Contract);
    if (u.is(Op::Store) && is_group_tile(buffer_of(u.src(0)))) {
      stored++;
      EXPECT_TRUE(is_copy(u) || u.src(1).is(Op::Load));
    }
  }
  EXPECT_GT(stored, 0);
  EXPECT_GT(products, 1);
}

// With a row of the queries only blocks of keys are read that it may look at.
TEST(HeldProduct, BlocksBehindAMaskAreSkipped) {
  Graph graph;
  const LinearProgram program =
      make_program(kernel_of(graph, {.queries = 512, .keys = 512, .is_causal = true}), ptx_caps(),
                   [](KernelState& k) { tile_held_products(k); });
  const bool has_open_turns = std::ranges::any_of(
      program.instructions, [](UOp u) { return u.is(Op::Loop) && u.src(0).is_open(); });
  EXPECT_TRUE(has_open_turns);
}

}  // namespace
}  // namespace croze::test
