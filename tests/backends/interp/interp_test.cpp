// interp_test.cpp -- what only the interpreter does: it checks every access, shows a missing
// barrier, and is fast enough to be compared with.
#include <gtest/gtest.h>

#include "croze/backends/interp/interp_device.h"
#include "croze/base/error.h"
#include "croze/render/renderer.h"
#include "support/programs.h"

namespace croze::test {
namespace {

std::string message_of_running(const LinearProgram& program, std::vector<float>& x) {
  const std::unique_ptr<Device> device = make_interp_device();
  try {
    run_program(*device, program, {bytes_of(x)});
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

LinearProgram access_program(std::int64_t offset, bool store) {
  ProgramBuilder b("edges");
  const UOp x = b.param(DType::Float32, 8);
  const UOp i = b.begin_loop(8);
  if (store) {
    b.store(x, i + offset, b.graph().constant(DType::Float32, 1.0));
  } else {
    b.store(x, i, b.load(x, i + offset));
  }
  b.end_loop(i);
  return b.finish();
}

TEST(Interp, AccessOutOfBoundsNamesKernelBufferAndIndex) {
  std::vector<float> x(8);
  EXPECT_EQ(message_of_running(access_program(0, false), x), "no error");
  EXPECT_EQ(message_of_running(access_program(1, false), x),
            "kernel edges: load of index 8 in buffer 0, which has 8 elements of float32");
  EXPECT_EQ(message_of_running(access_program(-1, true), x),
            "kernel edges: store of index -1 in buffer 0, which has 8 elements of float32");
}

TEST(Interp, AccessOutOfBoundsOfLocalMemoryIsAnError) {
  ProgramBuilder b("local");
  const UOp x = b.param(DType::Float32, 8);
  const UOp tile = b.local(DType::Float32, 4, Space::Thread);
  b.store(tile, b.integer(4), b.load(x, b.integer(0)));
  std::vector<float> xs(8);
  EXPECT_EQ(message_of_running(b.finish(), xs),
            "kernel local: store of index 4 in private memory at byte 0, which has 4 elements of "
            "float32");
}

TEST(Interp, MissingBarrierChangesTheResult) {
  ProgramBuilder b("race");
  const UOp y = b.param(DType::Int32, 4);
  const UOp shared = b.local(DType::Int32, 4, Space::Group);
  const UOp item = b.special(0, 4, LoopKind::Item);
  const UOp stored = b.store(shared, item, item);
  b.store(y, item, b.load(shared, -item + 3, {}, {stored}));
  std::vector<std::int32_t> ys(4);
  run_program(*make_interp_device(), b.finish(), {bytes_of(ys)});
  EXPECT_NE(ys, (std::vector<std::int32_t>{3, 2, 1, 0}));
}

TEST(Interp, EqualProgramsHaveEqualCode) {
  const std::unique_ptr<Device> device = make_interp_device();
  const std::string a = device->renderer().render(access_program(1, true));
  EXPECT_EQ(a, device->renderer().render(access_program(1, true)));
  EXPECT_NE(a, device->renderer().render(access_program(2, true)));
}

TEST(Interp, CapabilitiesOfAnotherDeviceMayBeGiven) {
  Caps caps = interp_caps();
  caps.has_groups = true;
  caps.vector_bytes = 16;
  EXPECT_TRUE(make_interp_device(caps)->caps().has_groups);
  EXPECT_EQ(make_interp_device(caps)->caps().vector_bytes, 16);
}

}  // namespace
}  // namespace croze::test
