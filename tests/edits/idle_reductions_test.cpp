// Reductions whose results a mask leaves out do not turn.
#include "croze/codegen/lower/idle_reductions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

constexpr std::int64_t rows = 8, columns = 16, depth = 4;
constexpr std::int32_t masked = -99;

// out[i, j] = sum over k of a[i, k] * b[k, j] where j < i + 1 + more, and -99 elsewhere; r0, r1, r2
// are i, j, k.
SmallKernel masked_product(std::int64_t more = 0) {
  SmallKernel k{"masked product", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(rows * columns, 1), numbers(rows * depth, 2), numbers(depth * columns, 3)};
  const UOp i = g.range(0, rows, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Parallel);
  const UOp d = g.range(2, depth, LoopKind::Reduce);
  const UOp a = g.load(g.place(g.param(DType::Int32, 1, rows * depth), i * depth + d));
  const UOp b = g.load(g.place(g.param(DType::Int32, 2, depth * columns), d * columns + j));
  const UOp sum = g.reduce(Op::Add, a * b, std::vector<UOp>{d});
  const UOp other = g.constant(DType::Int32, std::int64_t{masked});
  const UOp value = g.alu(Op::Where, {less(j, i + 1 + more), sum, other});
  const UOp out = g.place(g.param(DType::Int32, 0, rows * columns), i * columns + j);
  k.sink = g.sink(std::vector<UOp>{g.store(out, value, std::vector<UOp>{i, j})});
  for (std::int64_t x = 0; x < rows; x++) {
    for (std::int64_t y = 0; y < columns; y++) {
      std::int32_t result = y < x + 1 + more ? 0 : masked;
      for (std::int64_t z = 0; z < depth && y < x + 1 + more; z++) {
        result += k.buffers[1][static_cast<std::size_t>(x * depth + z)] *
                  k.buffers[2][static_cast<std::size_t>(z * columns + y)];
      }
      k.expected.push_back(result);
    }
  }
  return k;
}

// What is stored, once more: `value` with the sum looked at where the mask is closed, too.
UOp also_looked_at(const SmallKernel& k) {
  Graph& g = *k.graph;
  const UOp store = k.sink.src(0), value = store.src(1);
  const UOp sum = value.src(1);
  const std::vector<UOp> loops{store.src(2), store.src(3)};
  return g.sink(std::vector<UOp>{g.store(store.src(0), value + sum, loops)});
}

// The trip counts of the loops that turn as often as something says.
std::vector<std::string> open_trips(UOp kernel, const char* edits) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  const LinearProgram program = make_program(
      kernel, device->caps(), [&](KernelState& k) { apply_all(k, parse_edits(edits)); });
  std::vector<std::string> trips;
  for (UOp u : program.instructions) {
    if (u.is_open()) trips.push_back(fmt::format("{} to {}", u.trip_count().lo(), u.range_size()));
  }
  return trips;
}

constexpr const char* tiles = "split r1 by 4; bind r4 lane; split r0 by 2; bind r6 unroll";

TEST(IdleReductions, TurnNoTimeWhereAllOfATileIsMasked) {
  const SmallKernel kernel = masked_product();
  EXPECT_EQ(open_trips(kernel.sink, tiles), std::vector<std::string>{"0 to 4"});
  EXPECT_EQ(open_trips(kernel.sink, ""), std::vector<std::string>{"0 to 4"});
}

TEST(IdleReductions, TurnWhereAnyElementOfATileIsSelected) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  for (std::int64_t more : {-7, -3, 0, 5, 9}) {
    const SmallKernel kernel = masked_product(more);
    for (const char* edits :
         {"", tiles, "split r1 by 8; bind r4 unroll; bind r0 thread", "merge r0 r1",
          "split r1 by 4; bind r4 lane; split r0 by 4; bind r6 unroll; split_reduction r2 by 2",
          "split r1 by 4; bind r4 lane; reorder r3 r0 r4"}) {
      const Edited edited =
          run_edited(*device, kernel, [&](KernelState& k) { apply_all(k, parse_edits(edits)); });
      EXPECT_EQ(edited.result, kernel.expected) << more << ": " << edits;
    }
  }
}

TEST(IdleReductions, TurnWhereTheMaskIsOpenInAllTiles) {
  EXPECT_TRUE(open_trips(masked_product().sink, "bind r1 unroll").empty());
  EXPECT_TRUE(open_trips(masked_product(16).sink, tiles).empty());
}

TEST(IdleReductions, TurnWhereSomebodyElseLooks) {
  EXPECT_TRUE(open_trips(also_looked_at(masked_product()), tiles).empty());
}

// out[i, d] = sum over k of a[i, k] * b[k, d] where the mask is open; r0, r1, r2 are i, d, k.
enum class Keys { Before, From };  // k < i + 1 + more, or i + more < k + 1

bool is_open(Keys keys, std::int64_t i, std::int64_t k, std::int64_t more) {
  return keys == Keys::Before ? k < i + 1 + more : i + more < k + 1;
}

constexpr std::int64_t queries = 8, width = 16, keys = 24;

// Of a mask of i and k; `is_seen` says where it is open.
SmallKernel kernel_of_terms(const std::function<UOp(Graph&, UOp, UOp)>& mask,
                            const std::function<bool(std::int64_t, std::int64_t)>& is_seen) {
  SmallKernel kernel{"masked terms", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *kernel.graph;
  kernel.buffers = {numbers(queries * width, 1), numbers(queries * keys, 2),
                    numbers(keys * width, 3)};
  const UOp i = g.range(0, queries, LoopKind::Parallel), d = g.range(1, width, LoopKind::Parallel);
  const UOp k = g.range(2, keys, LoopKind::Reduce);
  const UOp a = g.load(g.place(g.param(DType::Int32, 1, queries * keys), i * keys + k));
  const UOp b = g.load(g.place(g.param(DType::Int32, 2, keys * width), k * width + d));
  const UOp term = where(mask(g, i, k), a * b, g.constant(DType::Int32, std::int64_t{0}));
  const UOp sum = g.reduce(Op::Add, term, std::vector<UOp>{k});
  const UOp out = g.place(g.param(DType::Int32, 0, queries * width), i * width + d);
  kernel.sink = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{i, d})});
  for (std::int64_t x = 0; x < queries; x++) {
    for (std::int64_t y = 0; y < width; y++) {
      std::int32_t result = 0;
      for (std::int64_t z = 0; z < keys; z++) {
        if (!is_seen(x, z)) continue;
        result += kernel.buffers[1][static_cast<std::size_t>(x * keys + z)] *
                  kernel.buffers[2][static_cast<std::size_t>(z * width + y)];
      }
      kernel.expected.push_back(result);
    }
  }
  return kernel;
}

SmallKernel masked_terms(Keys kind, std::int64_t more) {
  return kernel_of_terms(
      [&](Graph&, UOp i, UOp k) {
        return kind == Keys::Before ? less(k, i + 1 + more) : less(i + more, k + 1);
      },
      [&](std::int64_t i, std::int64_t k) { return is_open(kind, i, k, more); });
}

TEST(MaskedTerms, AreAddedUpAsFarAsTheMaskIsOpen) {
  // Keys before the query: one more for each, and none are masked.
  EXPECT_EQ(open_trips(masked_terms(Keys::Before, 0).sink, ""),
            std::vector<std::string>{"1 to 24"});
  // Of two queries one has a key less: a part of the loop has the mask, and the other does not.
  EXPECT_EQ(open_trips(masked_terms(Keys::Before, 0).sink, "split r0 by 2; bind r4 unroll"),
            (std::vector<std::string>{"1 to 24", "0 to 24"}));
  EXPECT_EQ(open_trips(masked_terms(Keys::From, 0).sink, "split r0 by 2; bind r4 unroll"),
            (std::vector<std::string>{"1 to 24", "17 to 24"}));
  EXPECT_TRUE(open_trips(masked_terms(Keys::Before, keys).sink, "").empty());
}

TEST(MaskedTerms, AddUpToTheSameInAllTiles) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  for (Keys kind : {Keys::Before, Keys::From}) {
    for (std::int64_t more : {-5, -3, 0, 2, 16}) {
      const SmallKernel kernel = masked_terms(kind, more);
      for (const char* edits :
           {"", "split r0 by 2; bind r4 unroll",
            "split r1 by 4; bind r4 lane; split r0 by 4; bind r6 unroll",
            "split r1 by 8; bind r4 lane; split r0 by 2; bind r6 unroll; split_reduction r2 by 4",
            "split r1 by 4; bind r4 lane; split r0 by 4; bind r6 unroll; split_reduction r2 by 4; "
            "bind r8 unroll",
            "split_reduction r2 by 4; bind r4 lane", "split_reduction r2 by 8; pad r4 by 16",
            "bind r0 lane", "merge r0 r1"}) {
        const Edited edited =
            run_edited(*device, kernel, [&](KernelState& k) { apply_all(k, parse_edits(edits)); });
        EXPECT_EQ(edited.result, kernel.expected) << more << ": " << edits;
      }
    }
  }
}

// Keys below the number ends[i] in memory, which is what the kernel stores to where `slot` is 0.
SmallKernel terms_before_a_number(std::int64_t slot = 3) {
  const std::vector<std::int32_t> ends{0, 1, 24, 25, 1 << 30, -1, -(1 << 30), 7};
  SmallKernel kernel = kernel_of_terms(
      [&](Graph& g, UOp i, UOp k) {
        const std::int64_t count = slot == 0 ? queries * width : queries;
        return less(g.cast(k, DType::Int32),
                    g.load(g.place(g.param(DType::Int32, slot, count), i)));
      },
      [&](std::int64_t i, std::int64_t k) { return k < ends[static_cast<std::size_t>(i)]; });
  kernel.buffers.push_back(ends);
  return kernel;
}

TEST(MaskedTerms, AreAddedUpAsFarAsANumberInMemorySays) {
  EXPECT_EQ(open_trips(terms_before_a_number().sink, ""), std::vector<std::string>{"0 to 24"});
  // Of what the kernel stores to nobody knows what it will be.
  EXPECT_TRUE(open_trips(terms_before_a_number(0).sink, "").empty());
  const std::unique_ptr<Device> interpreter = make_interpreter(cpu_shaped_caps());
  const SmallKernel kernel = terms_before_a_number();
  for (const char* edits :
       {"", "split r0 by 2; bind r4 unroll",
        "split r1 by 8; bind r4 lane; split r0 by 4; bind r6 unroll",
        "split_reduction r2 by 4; bind r4 lane", "split_reduction r2 by 8; pad r4 by 16",
        "bind r0 lane", "merge r0 r1"}) {
    for (Device* device : {interpreter.get(), &croze::device(device_index("CPU"))}) {
      const Edited edited =
          run_edited(*device, kernel, [&](KernelState& k) { apply_all(k, parse_edits(edits)); });
      EXPECT_EQ(edited.result, kernel.expected) << edits;
    }
  }
}

}  // namespace
}  // namespace croze
