// work_test.cpp -- opening devices, launches, graphs, and copies between devices.
#include "croze/device/peer_copy.h"
#include "croze/device/recorded_batch.h"
#include "fake_device.h"

namespace croze::test {
namespace {

TEST(CudaDriver, ALibraryThatIsNotThereOrIsAnotherIsNone) {
  {
    const Options::Scope nowhere{{Option::CudaLibrary, "/nowhere/libcuda.so"}};
    EXPECT_EQ(cuda::Driver::load(), nullptr);
  }
  const Options::Scope other{{Option::CudaLibrary, "libm.so.6"}};
  EXPECT_EQ(cuda::Driver::load(), nullptr);
}

TEST_F(FakeCuda, DevicesAreWhatTheDriverSays) {
  ASSERT_NE(device, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(cuda::make_device(fake_driver(), 2, fake_compiler), nullptr);
  EXPECT_EQ(device->name(), "CUDA");
  EXPECT_EQ(second->name(), "CUDA:1");
  expect_contains(device->description(), "Fake H100: sm_90a, 132 multiprocessors, 80 GiB");
  expect_contains(second->description(), "Fake A100: sm_80,");
  const Caps& caps = device->caps();
  EXPECT_EQ(caps.device, "CUDA");
  expect_contains(caps.architecture, "sm_90a");
  EXPECT_TRUE(caps.has_groups);
  EXPECT_TRUE(caps.keeps_subnormals);
  EXPECT_EQ(caps.max_items, 1024);
  EXPECT_EQ(caps.max_group_axis[2], 64);
  EXPECT_EQ(caps.max_groups_axis[0], INT32_MAX);
  EXPECT_EQ(caps.max_groups_axis[1], 65'535);
  EXPECT_EQ(caps.group_memory, 227 << 10);
}

TEST_F(FakeCuda, AKernelGetsAddressesAndNumbers) {
  ProgramBuilder b("scale");
  const UOp y = b.param(DType::Int64, 8), n = b.variable(-5, 1000);
  const UOp tile = b.local(DType::Float32, 1000, Space::Group);
  const UOp item = b.special(0, 8, LoopKind::Item);
  b.store(tile, item, b.graph().constant(DType::Float32, 1.0));
  b.store(y, item, n);
  const auto program = loaded(*device, b.finish());
  const Memory memory = device->allocate(100 * 8);
  const MemoryView view{memory, 24, 64};
  const std::int64_t variables[] = {-3};
  program->launch(std::span(&view, 1), variables);
  EXPECT_TRUE(fake::launches().empty());  // it is enqueued
  device->synchronize();
  ASSERT_EQ(fake::launches().size(), 1u);
  const fake::Launch& done = fake::launches()[0];
  EXPECT_EQ(done.kernel, "croze_scale");
  EXPECT_EQ(done.groups[0], 1u);
  EXPECT_EQ(done.items[0], 8u);
  EXPECT_EQ(done.group_bytes, 4000u);
  EXPECT_EQ(done.arguments,
            (std::vector<std::uint64_t>{reinterpret_cast<std::uint64_t>(memory.handle) + 24,
                                        static_cast<std::uint64_t>(std::int64_t{-3})}));
  device->release(memory);
}

TEST_F(FakeCuda, MoreGroupMemoryThanThereIsIsAnErrorThatNamesTheKernel) {
  ProgramBuilder b("large");
  const UOp tile = b.local(DType::Float32, 60'000, Space::Group);
  const UOp item = b.special(0, 8, LoopKind::Item);
  b.store(tile, item, b.graph().constant(DType::Float32, 1.0));
  const LinearProgram program = b.finish();
  const std::string said = message_of([&] { loaded(*device, program); });
  expect_contains(said, "CUDA: kernel large with 240000 bytes of group memory");
  EXPECT_EQ(fake::counts().modules_now, 0);
}

TEST_F(FakeCuda, OfNoGroupsNothingIsLaunched) {
  LinearProgram program = doubling("none");
  program.info.launch.groups[1] = LaunchSize(0);
  const auto ready = loaded(*device, program);
  const Memory memory = device->allocate(64);
  const std::vector<MemoryView> views(2, MemoryView::all_of(memory));
  ready->launch(views, {});
  device->synchronize();
  EXPECT_TRUE(fake::launches().empty());
}

// ---- queues and graphs --------------------------------------------------------------------------

TEST_F(FakeCuda, ABatchThatComesAgainIsAGraph) {
  const auto one = loaded(*device, doubling("one")), two = loaded(*device, doubling("two"));
  const Memory memory = device->allocate(128);
  const MemoryView a{memory, 0, 64}, b{memory, 64, 64};
  const std::vector<MemoryView> there{a, b}, back{b, a};
  const Nest first{one.get(), there, {}}, second_nest{two.get(), back, {}};
  const Sequence sequences[] = {{std::span(&first, 1)}, {std::span(&second_nest, 1)}};
  const auto batch = std::make_shared<RecordedBatch>();
  batch->launch(std::span(sequences).first(1));
  batch->copy(b, a);
  batch->launch(std::span(sequences).last(1));
  {
    Queue queue(*device);
    for (int i = 0; i < 4; i++) queue.submit(batch);
    queue.synchronize();
    EXPECT_EQ(fake::counts().graphs_now, 1);
    EXPECT_EQ(fake::counts().graph_launches, 3);
    ASSERT_EQ(fake::launches().size(), 8u);
    for (std::size_t i = 0; i < 8; i++) {
      EXPECT_EQ(fake::launches()[i].kernel, i % 2 ? "croze_two" : "croze_one");
      EXPECT_EQ(fake::launches()[i].in_graph, i >= 2);
    }
  }
  EXPECT_EQ(fake::counts().graphs_now, 0);
  device->release(memory);
}

// Copies from and to the host go through memory that others use: they are in no graph.
TEST_F(FakeCuda, ABatchThatReadsTheHostIsNone) {
  const Memory memory = device->allocate(8);
  const MemoryView all = MemoryView::all_of(memory);
  std::vector<std::int32_t> in{1, 2}, out(2);
  const auto batch = std::make_shared<RecordedBatch>();
  batch->copy_in(all, std::as_bytes(std::span(in)));
  batch->copy_out(bytes_of(out), all);
  Queue queue(*device);
  for (int i = 0; i < 3; i++) {
    in[0] = 10 * i;
    queue.submit(batch);
    queue.synchronize();
    EXPECT_EQ(out, in);
  }
  EXPECT_EQ(fake::counts().graph_launches, 0);
  device->release(memory);
}

TEST_F(FakeCuda, StreamsModulesAndMemoryAreGivenBack) {
  const fake::Counts before = fake::counts();
  {
    const auto other = cuda::make_device(fake_driver(), 0, fake_compiler);
    const auto program = loaded(*other, doubling("twice"));
    Queue queue(*other);
    const Memory memory = other->allocate(64);
    queue.copy_in({memory, 0, 4}, std::as_bytes(std::span("abc")));
    queue.synchronize();
    other->release(memory);
  }
  const fake::Counts after = fake::counts();
  EXPECT_EQ(after.allocated_now, before.allocated_now);
  EXPECT_EQ(after.pinned_now, before.pinned_now);
  EXPECT_EQ(after.modules_now, before.modules_now);
  EXPECT_EQ(after.streams_now, before.streams_now);
}

// ---- several devices ----------------------------------------------------------------------------

TEST_F(FakeCuda, DevicesCopyFromEachOther) {
  const Memory here = device->allocate(16), there = second->allocate(32);
  const std::vector<std::int32_t> numbers{1, 2, 3, 4};
  device->copy_in(MemoryView::all_of(here), std::as_bytes(std::span(numbers)));
  const auto from = device->make_stream(), to = second->make_stream();
  device->synchronize();
  copy_between({*second, *to}, {there, 8, 16}, {*device, *from}, MemoryView::all_of(here));
  EXPECT_EQ(fake::counts().peer_copies, 1);
  std::vector<std::int32_t> seen(4);
  second->copy_out(bytes_of(seen), {there, 8, 16});
  EXPECT_EQ(seen, numbers);
  device->release(here);
  second->release(there);
}

}  // namespace
}  // namespace croze::test
