// kernels_test.cpp -- kernels that the compiler makes for the target, with shared memory and
// vectors, run under the interpreter's watch.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "backends/ptx_interp/run_ptx.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/eval.h"
#include "croze/render/renderer.h"
#include "support/programs.h"

namespace croze::test {
namespace {

using Words = std::vector<std::int32_t>;

Words counted(std::int64_t n, std::int32_t seed) {
  Words words;
  for (std::int64_t i = 0; i < n; i++) {
    words.push_back(static_cast<std::int32_t>((i * 7 + seed * 5) % 23) - 11);
  }
  return words;
}

// c = a * b, of integers, whose sums are the same in any order.
struct Product {
  static constexpr std::int64_t rows = 128, columns = 64, depth = 128;

  Graph graph;
  Words a = counted(rows * depth, 1), b = counted(depth * columns, 2), c = Words(rows * columns);
  std::unique_ptr<Device> device = make_ptx_interp_device();
  LinearProgram program = make_program(kernel(), device->caps());

  UOp kernel() {
    const UOp i = graph.range(0, rows, LoopKind::Parallel);
    const UOp j = graph.range(1, columns, LoopKind::Parallel);
    const UOp d = graph.range(2, depth, LoopKind::Reduce);
    const UOp x =
        graph.load(graph.place(graph.param(DType::Int32, 0, std::ssize(a)), i * depth + d));
    const UOp y =
        graph.load(graph.place(graph.param(DType::Int32, 1, std::ssize(b)), d * columns + j));
    const UOp out = graph.place(graph.param(DType::Int32, 2, std::ssize(c)), i * columns + j);
    const UOp sum = graph.reduce(Op::Add, x * y, std::span(&d, 1));
    const UOp over[] = {i, j};
    const UOp store = graph.store(out, sum, over);
    return graph.sink(std::span(&store, 1));
  }

  std::string text() const { return device->renderer().render(program); }
  void run(const std::string& source) {
    const auto loaded = device->load(program.info, device->compile("product", source));
    const std::span<std::byte> buffers[] = {bytes_of(a), bytes_of(b), bytes_of(c)};
    fuzz::launch_program(*device, *loaded, buffers);
  }
  Words expected() const {
    Words result(c.size());
    for (std::int64_t i = 0; i < rows; i++) {
      for (std::int64_t j = 0; j < columns; j++) {
        std::int32_t sum = 0;
        for (std::int64_t d = 0; d < depth; d++) {
          sum += a[static_cast<std::size_t>(i * depth + d)] *
                 b[static_cast<std::size_t>(d * columns + j)];
        }
        result[static_cast<std::size_t>(i * columns + j)] = sum;
      }
    }
    return result;
  }
};

TEST(PtxKernels, TilesOfAProductAreSharedByAGroup) {
  Product product;
  const std::string text = product.text();
  EXPECT_NE(text.find(".shared"), std::string::npos) << text;
  product.run(text);
  EXPECT_EQ(product.c, product.expected());
}

// The last one lets nobody read before all have filled the tiles.
TEST(PtxKernels, AProductWithoutItsBarriersIsARace) {
  const std::string barrier = "  bar.sync 0;\n";
  for (const bool loses_all : {true, false}) {
    Product product;
    std::string text = product.text();
    std::size_t at = text.rfind(barrier);
    ASSERT_NE(at, std::string::npos) << text;
    for (; at != std::string::npos; at = loses_all ? text.rfind(barrier) : std::string::npos) {
      text.erase(at, barrier.size());
    }
    const std::string fault = message_of([&] { product.run(text); });
    EXPECT_NE(fault.find("shared memory"), std::string::npos) << loses_all << ": " << fault;
  }
}

// A view may begin at any element: where it is not aligned, neighbours are read one by one.
std::vector<std::byte> counted_halves(std::int64_t n, std::int32_t seed) {
  std::vector<std::byte> bytes;
  for (std::int32_t x : counted(n, seed)) {
    std::byte half[2];
    store_bits(std::bit_cast<std::int64_t>(static_cast<double>(x)), DType::Float16, half);
    bytes.insert(bytes.end(), half, half + 2);
  }
  return bytes;
}

// c = a * b + c: the tile of c is staged as those of a and b are, and read by elements.
TEST(PtxKernels, WhatIsAddedToProductsOfUnitsIsLoadedAsMatricesToo) {
  constexpr std::int64_t rows = 19, columns = 35, depth = 27;
  const DType half = DType::Float16, whole = DType::Float32;
  Graph g;
  const UOp i = g.range(0, rows, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Parallel);
  const UOp d = g.range(2, depth, LoopKind::Reduce);
  const UOp a = g.load(g.place(g.param(half, 0, rows * depth), i * depth + d)),
            b = g.load(g.place(g.param(half, 1, depth * columns), d * columns + j)),
            c = g.load(g.place(g.param(half, 2, rows * columns), i * columns + j));
  const UOp product = g.reduce(Op::Add, g.cast(a, whole) * g.cast(b, whole), std::span(&d, 1));
  const UOp sum = g.cast(g.cast(product, half), whole) + g.cast(c, whole);
  const UOp over[] = {i, j};
  const UOp store =
      g.store(g.place(g.param(half, 3, rows * columns), i * columns + j), g.cast(sum, half), over);
  const auto device = make_ptx_interp_device();
  const LinearProgram program = make_program(g.sink(std::span(&store, 1)), device->caps());
  EXPECT_TRUE(std::ranges::any_of(
      program.instructions, [](UOp u) { return u.is(Op::Cast) && u.src(0).is(Op::LoadMatrix); }));

  std::vector<std::byte> x = counted_halves(rows * depth, 1),
                         y = counted_halves(depth * columns, 2),
                         z = counted_halves(rows * columns, 3), result(z.size());
  const auto loaded =
      device->load(program.info, device->compile("sum", device->renderer().render(program)));
  const std::span<std::byte> buffers[] = {x, y, z, result};
  fuzz::launch_program(*device, *loaded, buffers);

  const auto number = [](std::span<const std::byte> of, std::int64_t at) {
    return std::bit_cast<double>(load_bits(&of[static_cast<std::size_t>(2 * at)], half));
  };
  for (std::int64_t r = 0; r < rows; r++) {
    for (std::int64_t k = 0; k < columns; k++) {
      double expected = number(z, r * columns + k);
      for (std::int64_t n = 0; n < depth; n++) {
        expected += number(x, r * depth + n) * number(y, n * columns + k);
      }
      ASSERT_EQ(number(result, r * columns + k), expected) << r << ", " << k;
    }
  }
}

TEST(PtxKernels, BuffersOfVectorsMayBeginAnywhere) {
  ProgramBuilder builder("halves");
  const UOp x = builder.param(DType::Float32, 8), y = builder.param(DType::Float32, 8);
  const UOp lane = builder.lane(4), i = builder.begin_loop(2);
  const UOp value = builder.load(x, i * 4 + lane);
  builder.store(y, i * 4 + lane, value + value);
  builder.end_loop(i);
  const LinearProgram program = builder.finish();
  const auto device = make_ptx_interp_device();
  const std::string text = device->renderer().render(program);
  EXPECT_NE(text.find("ld.global.nc.v4.f32"), std::string::npos) << text;
  const auto loaded = device->load(program.info, device->compile("halves", text));

  std::vector<float> values(32);
  for (std::size_t k = 0; k < values.size(); k++) values[k] = static_cast<float>(k);
  const Memory from = device->allocate(128), to = device->allocate(128);
  for (std::int64_t first : {0, 1, 2, 3, 4, 7}) {
    device->copy_in(MemoryView::all_of(from), bytes_of(values));
    const MemoryView views[] = {{from, 4 * first, 32}, {to, 4 * (7 - first), 32}};
    loaded->launch(views, {});
    std::vector<float> doubled(8);
    device->copy_out(bytes_of(doubled), views[1]);
    for (std::size_t k = 0; k < 8; k++) {
      EXPECT_EQ(doubled[k], 2 * static_cast<float>(first + static_cast<std::int64_t>(k))) << first;
    }
  }
  device->release(from);
  device->release(to);
}

// out[i, j] = 2 in[i, j], of rows that lie apart in memory.
void expect_rows_doubled(std::int64_t rows, std::int64_t columns) {
  const std::int64_t pitch = columns + 1;
  Graph graph;
  const UOp i = graph.range(0, rows, LoopKind::Parallel);
  const UOp j = graph.range(1, columns, LoopKind::Parallel);
  Words in = counted(rows * pitch, 3), out(static_cast<std::size_t>(rows * columns));
  const UOp x =
      graph.load(graph.place(graph.param(DType::Int32, 0, std::ssize(in)), i * pitch + j));
  const UOp place = graph.place(graph.param(DType::Int32, 1, std::ssize(out)), i * columns + j);
  const UOp over[] = {i, j};
  const UOp store = graph.store(place, x + x, over);
  const auto device = make_ptx_interp_device();
  const LinearProgram program = make_program(graph.sink(std::span(&store, 1)), device->caps());
  run_program(*device, program, {bytes_of(in), bytes_of(out)});
  for (std::int64_t k = 0; k < rows * columns; k++) {
    const std::int64_t from = k / columns * pitch + k % columns;
    ASSERT_EQ(out[static_cast<std::size_t>(k)], 2 * in[static_cast<std::size_t>(from)]) << k;
  }
}

// Vectors take all of the loop along memory, or leave only their copies of it.
TEST(PtxKernels, ItemsAreFoundBesideLoopsThatAreFewVectors) {
  for (const std::int64_t columns : {4, 8, 16}) expect_rows_doubled(32768 / columns, columns);
}

// Memory that nobody has touched costs nothing.
TEST(PtxKernels, IndicesBeyondTwoToThe31AreReached) {
  constexpr std::int64_t size = (std::int64_t{1} << 31) + 64, at = size - 5;
  ProgramBuilder builder("far");
  const UOp x = builder.param(DType::Int8, size);
  const UOp start = builder.variable(0, size - 1);
  builder.store(x, start, builder.graph().constant(DType::Int8, 7.0));
  builder.store(x, builder.graph().constant(DType::Int64, at + 1),
                builder.graph().constant(DType::Int8, 9.0));
  const LinearProgram program = builder.finish();
  const auto device = make_ptx_interp_device();
  const auto loaded = fuzz::compile_program(*device, program);
  const Memory memory = device->allocate(size);
  const MemoryView views[] = {MemoryView::all_of(memory)};
  const std::int64_t variables[] = {at};
  loaded->launch(views, variables);
  std::vector<std::int8_t> last(2);
  device->copy_out(bytes_of(last), {memory, at, 2});
  EXPECT_EQ(last, (std::vector<std::int8_t>{7, 9}));
  device->discard(memory);
}

}  // namespace
}  // namespace croze::test
