// Every edit of codegen leaves what a kernel computes as it is: kernels are edited by hand, lowered
// for a machine with vectors, threads or groups, and run on the interpreter, which checks every
// access.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "croze/backends/interp/interp_device.h"
#include "croze/base/error.h"
#include "croze/codegen/decompose/decompose.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/estimate.h"
#include "croze/codegen/linearize.h"
#include "croze/codegen/lower/expand.h"
#include "croze/codegen/lower/index_type.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/graph.h"
#include "croze/render/renderer.h"
#include "croze/render/scratch.h"

namespace croze {
namespace {

constexpr std::int64_t rows = 12, columns = 10, inner = 6;

Caps machine() {
  Caps caps = make_interp_device()->caps();
  caps.vector_bytes = 32;
  caps.vector_registers = 32;
  caps.masked_vectors = true;
  caps.threads = 2;
  return caps;
}

// out[i, j] = sum over k of a[i, k] * b[k, j]
struct Product {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  UOp i, j, k;

  UOp sink() {
    Graph& g = *graph;
    const UOp out = g.param(DType::Float32, 0, rows * columns);
    const UOp a = g.param(DType::Float32, 1, rows * inner),
              b = g.param(DType::Float32, 2, inner * columns);
    i = g.range(0, rows, LoopKind::Parallel);
    j = g.range(1, columns, LoopKind::Parallel);
    k = g.range(2, inner, LoopKind::Reduce);
    const UOp product = g.load(g.place(a, i * inner + k)) * g.load(g.place(b, k * columns + j));
    const UOp sum = g.reduce(Op::Add, product, std::vector<UOp>{k});
    const UOp store = g.store(g.place(out, i * columns + j), sum, std::vector<UOp>{i, j});
    return g.sink(std::vector<UOp>{store});
  }
};

float element(std::int64_t n) { return static_cast<float>(n % 7) - 3; }

std::vector<float> filled(std::int64_t size) {
  std::vector<float> values(static_cast<std::size_t>(size));
  for (std::int64_t n = 0; n < size; n++) values[static_cast<std::size_t>(n)] = element(n);
  return values;
}

std::vector<float> expected() {
  std::vector<float> out(rows * columns, 0);
  for (std::int64_t i = 0; i < rows; i++) {
    for (std::int64_t j = 0; j < columns; j++) {
      for (std::int64_t k = 0; k < inner; k++) {
        out[static_cast<std::size_t>(i * columns + j)] +=
            element(i * inner + k) * element(k * columns + j);
      }
    }
  }
  return out;
}

LinearProgram lowered(const Product& product, const KernelState& state, const Caps& caps) {
  LinearProgram program;
  program.graph = product.graph;
  program.info.name = "product";
  program.info.num_buffers = 3;
  const ItemAxes items = *item_axes(state.sink, state.loops);
  program.info.launch = launch_of(state.loops, items);
  const Expanded expanded = expand(state.sink, caps);
  std::vector<std::int64_t> loops;
  for (UOp r : state.loops) loops.push_back(r.range_id());
  const UOp sink = decompose(lower_index_type(expanded.sink, state.loops, items, caps), caps);
  program.instructions = linearize({sink, loops, expanded.registers});
  for (UOp u : program.instructions) {
    if (u.is(Op::Range) && u.loop_kind() == LoopKind::Lane) program.lanes.push_back(u);
  }
  program.info.launch.scratch_bytes = scratch_layout(program).bytes;
  return program;
}

std::vector<float> run(const LinearProgram& program, const Caps& caps) {
  const std::unique_ptr<Device> device = make_interp_device(caps);
  const std::string code = device->compile(program.info.name, device->renderer().render(program));
  const std::unique_ptr<Program> loaded = device->load(program.info, code);
  std::vector<MemoryView> views;
  for (std::int64_t size : {rows * columns, rows * inner, inner * columns}) {
    const Memory memory = device->allocate(size * 4);
    views.push_back({memory, 0, size * 4});
    const std::vector<float> values = filled(size);
    device->copy_in(views.back(), std::as_bytes(std::span(values)));
  }
  loaded->launch(views, {});
  std::vector<float> out(rows * columns);
  device->copy_out(std::as_writable_bytes(std::span(out)), views[0]);
  for (const MemoryView& v : views) device->release(v.memory);
  return out;
}

template <typename Edit>
void expect_same(Edit edit, const Caps& caps = machine()) {
  Product product;
  KernelState state(product.sink(), caps);
  edit(state, product);
  EXPECT_EQ(run(lowered(product, state, caps), caps), expected());
}

UOp only_reduce(const KernelState& s) { return reduces(s.sink).back(); }

TEST(Edits, NoEditAtAll) {
  expect_same([](KernelState&, Product&) {});
}

TEST(Edits, SplitLoops) {
  expect_same([](KernelState& s, Product& p) {
    split(s, p.i, 4);
    split(s, p.k, 2);
  });
}

TEST(Edits, ReorderedLoops) {
  expect_same([](KernelState& s, Product& p) { reorder(s, std::vector<UOp>{p.j, p.i}); });
}

TEST(Edits, MergedLoops) {
  expect_same([](KernelState& s, Product& p) { merge(s, p.i, p.j); });
}

TEST(Edits, LanesAndUnrolledRows) {
  expect_same([](KernelState& s, Product& p) {
    bind(s, split(s, p.j, 5).inner, LoopKind::Lane);
    bind(s, split(s, p.i, 3).inner, LoopKind::Unroll);
  });
}

TEST(Edits, APaddedLoopReadsAndWritesNothingBeyond) {
  expect_same([](KernelState& s, Product& p) {
    bind(s, split(s, pad(s, p.j, 8), 8).inner, LoopKind::Lane);
  });
}

TEST(Edits, APaddedReductionAddsNothing) {
  expect_same([](KernelState& s, Product& p) { split(s, pad(s, p.k, 4), 4); });
}

TEST(Edits, PartialSumsPerLaneAndPerCopy) {
  expect_same([](KernelState& s, Product& p) {
    const SplitRange lanes = split_reduction(s, p.k, 2);
    bind(s, lanes.inner, LoopKind::Lane);
    bind(s, split_reduction(s, lanes.outer, 3).inner, LoopKind::Unroll);
  });
}

TEST(Edits, Tasks) {
  expect_same(
      [](KernelState& s, Product& p) { bind(s, split(s, p.i, 4).outer, LoopKind::Thread); });
}

TEST(Edits, AStagedPanelIsReadInsteadOfMemory) {
  for (std::int64_t lanes : {1, 4}) {
    expect_same([&](KernelState& s, Product& p) {
      reorder(s, std::vector<UOp>{p.j, p.i});
      const SplitRange column = split(s, p.j, 5);
      reorder(s, std::vector<UOp>{column.outer, p.i, column.inner});
      const UOp b = loads(only_reduce(s))[0].src(0).varies_over(p.i) ? loads(only_reduce(s))[1]
                                                                     : loads(only_reduce(s))[0];
      stage(s, b, std::vector<UOp>{p.k, column.inner}, Space::Thread, lanes);
    });
  }
}

TEST(Edits, GroupsShareStagedTiles) {
  Caps caps = machine();
  caps.vector_bytes = 0;
  caps.has_groups = true;
  caps.max_items = 64;
  caps.group_memory = 32 << 10;
  for (auto& axis : caps.max_group_axis) axis = 64;
  for (auto& axis : caps.max_groups_axis) axis = 1 << 20;
  expect_same(
      [](KernelState& s, Product& p) {
        const SplitRange i = split(s, p.i, 4), j = split(s, p.j, 5), k = split(s, p.k, 3);
        const std::vector<UOp> items{bind(s, i.inner, LoopKind::Item),
                                     bind(s, j.inner, LoopKind::Item)};
        const std::vector<UOp> groups{bind(s, i.outer, LoopKind::Group),
                                      bind(s, j.outer, LoopKind::Group)};
        reorder(s, std::vector<UOp>{groups[0], groups[1], items[0], items[1]});
        for (UOp load : loads(only_reduce(s))) {
          const UOp item = load.src(0).varies_over(items[0]) ? items[0] : items[1];
          stage(s, load, std::vector<UOp>{k.inner, item}, Space::Group);
        }
      },
      caps);
}

TEST(Edits, LoopsWhoseIterationsStayInOrderAreLeftAlone) {
  Graph g;
  const UOp i = g.range(0, 4, LoopKind::Serial), j = g.range(1, 4, LoopKind::Serial);
  const UOp p = g.range(2, 4, LoopKind::Parallel);
  const UOp place = g.place(g.param(DType::Float32, 0, 64), i * 16 + j * 4 + p);
  const UOp store = g.store(place, g.constant(DType::Float32, 1.0), std::vector<UOp>{i, p, j});
  const Caps caps = machine();
  KernelState k(g.sink(std::vector<UOp>{store}), caps);
  EXPECT_THROW(reorder(k, std::vector<UOp>{j, p, i}), InternalError);
  EXPECT_THROW(bind(k, i, LoopKind::Lane), InternalError);
  reorder(k, std::vector<UOp>{p, i, j});
}

TEST(Edits, TheChooserForEachKindOfMachine) {
  Caps groups = machine();
  groups.has_groups = true;
  groups.max_items = 64;
  groups.group_memory = 32 << 10;
  for (const Caps& caps : {machine(), groups}) {
    Product product;
    const UOp sink = product.sink();
    EXPECT_EQ(run(make_program(sink, caps), caps), expected());
  }
}

}  // namespace
}  // namespace croze
