// One compiled kernel serves all values of its sizes, on every device.
#include <cmath>

#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/codegen/edits/transform.h"
#include "croze/prove/solver.h"
#include "croze/run/devices.h"
#include "croze/run/observers.h"
#include "edits/open_support.h"
#include "support/errors.h"
#include "support/schedule_runner.h"

namespace croze {
namespace {

using namespace test;

// Empty, one, primes, and around multiples of lanes and tiles.
constexpr std::int64_t values[] = {0, 1, 2, 3, 7, 8, 13, 16, 17, 31, 32, 33, 64, 67};

// The sizes open one by one, and all of them.
std::vector<std::vector<SizeBounds>> choices_of_bounds(int sizes) {
  constexpr SizeBounds open{0, 67}, constant{13, 13};
  std::vector<std::vector<SizeBounds>> result{
      std::vector<SizeBounds>(static_cast<std::size_t>(sizes), open)};
  for (std::size_t i = 0; i < static_cast<std::size_t>(sizes) && sizes > 1; i++) {
    result.emplace_back(static_cast<std::size_t>(sizes), constant)[i] = open;
  }
  return result;
}

// Of the many combinations of three sizes, some.
constexpr std::size_t most_points = 50;

void expect_right(Device& device) {
  for (const OpenForm& form : open_forms()) {
    for (const auto& bounds : choices_of_bounds(form.sizes)) {
      OpenProgram program(device, form, bounds);
      const auto all = points(bounds, values);
      const std::size_t step = 1 + all.size() / most_points;
      for (std::size_t i = 0; i < all.size(); i += step) {
        program.expect_right_at(all[i]);
        if (testing::Test::HasFailure()) return;
      }
      program.expect_right_at(all.back());
    }
  }
}

TEST(OpenSizes, OnEveryShapeOfMachine) {
  for (auto caps : {scalar_caps, cpu_shaped_caps, small_cache_caps, gpu_shaped_caps, spare_caps}) {
    expect_right(*make_interpreter(caps()));
  }
}

// exp(x[i, j] - max of the row) / sum of these over the row, of Float32.
UOp softmax_kernel(Graph& g, SizeBounds rows, SizeBounds columns) {
  const UOp m = g.variable(0, rows.lo, rows.hi), n = g.variable(1, columns.lo, columns.hi);
  const UOp i = g.range(0, m, LoopKind::Parallel), j = g.range(1, n, LoopKind::Parallel);
  const UOp k = g.range(2, n, LoopKind::Reduce), l = g.range(3, n, LoopKind::Reduce);
  const std::int64_t most = rows.hi * columns.hi;
  const auto place = [&](std::int64_t slot, UOp column) {
    return g.place(g.param(DType::Float32, slot, most, m * n), i * n + column);
  };
  const auto x = [&](UOp column) { return g.load(place(1, column)); };
  const UOp greatest = g.reduce(Op::Max, x(k), std::span(&k, 1));
  const auto term = [&](UOp column) { return g.alu(Op::Exp, {x(column) - greatest}); };
  const UOp sum = g.reduce(Op::Add, term(l), std::span(&l, 1));
  const UOp both[] = {i, j};
  const UOp store = g.store(place(0, j), term(j) / sum, both);
  return g.sink(std::span(&store, 1));
}

void expect_softmax(Device& device, Program& program, std::int64_t rows, std::int64_t columns) {
  std::vector<float> x(static_cast<std::size_t>(rows * columns)), result(x.size());
  for (std::size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>((i * 37) % 101) * 0.1f - 5;
  const std::span<std::byte> bytes[] = {bytes_of(result), bytes_of(x)};
  const std::int64_t variables[] = {rows, columns};
  launch_program(device, program, bytes, variables);
  for (std::int64_t r = 0; r < rows; r++) {
    const auto row = std::span(x).subspan(static_cast<std::size_t>(r * columns));
    double sum = 0;
    for (std::int64_t c = 0; c < columns; c++) sum += std::exp(double{row[c]});
    for (std::int64_t c = 0; c < columns; c++) {
      const auto at = static_cast<std::size_t>(r * columns + c);
      ASSERT_NEAR(result[at], std::exp(double{row[c]}) / sum, 1e-6)
          << device.name() << " at " << r << ", " << c << " of " << rows << ", " << columns;
    }
  }
}

void expect_softmax(Device& device, SizeBounds columns) {
  LinearProgram linear;
  {
    Graph graph;
    linear = make_program(softmax_kernel(graph, {0, 40}, columns), device.caps());
  }
  const std::unique_ptr<Program> program = compile_program(device, linear);
  for (std::int64_t rows : {0, 1, 3, 40}) {
    for (std::int64_t n : {1, 2, 7, 16, 33, 100, 300}) {
      if (n >= columns.lo) expect_softmax(device, *program, rows, n);
    }
  }
}

TEST(OpenSizes, OfASoftmax) {
  for (auto caps : {scalar_caps, cpu_shaped_caps, small_cache_caps, gpu_shaped_caps}) {
    expect_softmax(*make_interpreter(caps()), {0, 300});
  }
  for (const char* name : {"CPU", "C", "OPENCL"}) {
    for (const DeviceEntry& entry : list_devices()) {
      if (entry.name != name || !entry.available) continue;
      expect_softmax(device(device_index(name)), {0, 300});
      expect_softmax(device(device_index(name)), {1, 300});
    }
  }
}

// Threads share the rows where tiles of columns would be uneven shares, if there are so many: of
// rows that are open nobody knows whether the shares are whole.
TEST(OpenSizes, OfProductsOfManyRows) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  constexpr SizeBounds rows{0, 10080}, depth{0, 78};  // even shares of tiles of any height
  for (std::int64_t columns = 24; columns <= 216; columns += 16) {
    OpenProgram program(*device, open_form("product"), {rows, {0, columns}, depth});
    for (const std::int64_t n : {0, 1, 7, 100}) program.expect_right_at({n, columns - 3, 5});
  }
}

// For all values of the sizes.
TEST(OpenSizes, HaveAccessesThatAreProvenToStayInside) {
  if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
  const Options::Scope scope{{Option::CheckBounds, true}};
  const EnvironmentObservers watching;
  for (auto caps : {scalar_caps, cpu_shaped_caps, gpu_shaped_caps}) {
    const Caps machine = caps();
    for (const OpenForm& form : open_forms()) {
      for (const auto& bounds : choices_of_bounds(form.sizes)) {
        const OpenKernel kernel = open_kernel(form, bounds);
        EXPECT_NO_THROW(make_program(kernel.sink, machine)) << form.name;
      }
    }
  }
}

// By the edit that makes one pass of two, which needs rows that are not empty.
TEST(OpenSizes, OfASoftmaxInOnePass) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  Graph graph;
  const LinearProgram linear = make_program(
      softmax_kernel(graph, {0, 40}, {1, 300}), device->caps(),
      [](KernelState& k) { apply_all(k, parse_edits("one_pass r2 r3 by 1; bind r0 thread")); });
  const std::unique_ptr<Program> program = compile_program(*device, linear);
  for (std::int64_t n : {1, 2, 7, 33, 300}) expect_softmax(*device, *program, 5, n);
}

TEST(OpenSizes, BeyondTheirBoundsAreRefused) {
  const OpenForm& form = open_form("sums");
  const SizeBounds bounds[] = {{2, 9}, {0, 5}};
  for (const char* name : {"INTERP", "CPU"}) {
    Device& d = device(device_index(name));
    const OpenKernel kernel = open_kernel(form, bounds);
    const LinearProgram linear = make_program(kernel.sink, d.caps());
    const std::unique_ptr<Program> program = compile_program(d, linear);
    const auto refusal = [&](std::int64_t rows, std::int64_t columns, std::int64_t room) {
      IntBuffers buffers = open_buffers(form, std::vector<std::int64_t>{room, room});
      const std::span<std::byte> bytes[] = {bytes_of(buffers[0]), bytes_of(buffers[1])};
      return error_if_any([&] {
        launch_program(d, *program, bytes, std::vector<std::int64_t>{rows, columns});
      });
    };
    EXPECT_EQ(refusal(2, 5, 9), "");
    EXPECT_EQ(refusal(1, 5, 9),
              "kernel reduce_to9_rto5: variable 0 is 1, but it was compiled for 2 to 9");
    EXPECT_EQ(refusal(3, 6, 9),
              "kernel reduce_to9_rto5: variable 1 is 6, but it was compiled for 0 to 5");
    EXPECT_EQ(refusal(5, 5, 4),
              "kernel reduce_to9_rto5: buffer 0 has 16 bytes, with these variables it needs 20");
  }
}

// The tasks of several sequences are one queue, some of which may have none.
TEST(OpenSizes, OfSeveralSequencesOfOneLaunch) {
  Device& d = device(device_index("CPU"));
  const OpenForm& form = open_form("map");
  const SizeBounds bounds[] = {{0, 100000}};
  const OpenKernel kernel = open_kernel(form, bounds);
  const std::unique_ptr<Program> program = compile_program(d, make_program(kernel.sink, d.caps()));
  const std::vector<std::int64_t> sizes{0, 5, 0, 3000, 0};
  std::vector<IntBuffers> buffers;
  std::vector<std::vector<MemoryView>> views;
  for (std::int64_t n : sizes) {
    IntBuffers& b = buffers.emplace_back(open_buffers(form, {&n, 1}));
    std::vector<MemoryView>& v = views.emplace_back();
    for (auto& memory : b) {
      const auto bytes = static_cast<std::int64_t>(memory.size() * sizeof(std::int32_t));
      v.push_back({{memory.data(), bytes}, 0, bytes});
    }
  }
  std::vector<Nest> nests;
  std::vector<Sequence> sequences;
  for (std::size_t i = 0; i < sizes.size(); i++) {
    nests.push_back({program.get(), views[i], {&sizes[i], 1}});
  }
  for (const Nest& nest : nests) sequences.push_back({.nests = {&nest, 1}});
  d.launch(sequences);
  d.launch(std::span(sequences).subspan(1, 2));
  for (std::size_t i = 0; i < sizes.size(); i++) {
    IntBuffers expected = buffers[i];
    form.compute({&sizes[i], 1}, expected);
    EXPECT_EQ(buffers[i], expected) << sizes[i];
  }
}

TEST(OpenSizes, OnEveryDevice) {
  for (const char* name : {"CPU", "C", "OPENCL"}) {
    for (const DeviceEntry& entry : list_devices()) {
      if (entry.name == name && entry.available) expect_right(device(device_index(name)));
    }
  }
}

}  // namespace
}  // namespace croze
