// boxes_test.cpp -- the maps by which kernels copy boxes, over the driver that is a fake.
#include <algorithm>

#include "backends/ptx_interp/wgmma_product.h"
#include "croze/device/recorded_batch.h"
#include "fake_device.h"

namespace croze::test {
namespace {

class CudaBoxes : public FakeCuda {
 protected:
  static std::unique_ptr<Device> opened(const char* compiler, int ordinal = 0) {
    const Options::Scope chosen{{Option::CudaCompiler, compiler}, {Option::Wgmma, 1}};
    return *compiler ? cuda::make_device(fake_driver(), ordinal)
                     : cuda::make_device(fake_driver(), ordinal, fake_compiler);
  }

  // Of two factors, both copied by boxes.
  static LinearProgram product_for(const Device& on) {
    Graph graph;
    const WgmmaProduct p{"wgmma.bf16.kn.n64", 256, 256, 256};
    Caps caps = on.caps();
    caps.threads = 1;
    std::erase_if(caps.matrix_units, [](const MatrixUnit* u) { return !u->reads_group_memory; });
    return make_program(kernel_of(graph, p), caps);
  }
};

TEST_F(CudaBoxes, AreCopiedIfTheUnitsThatReadThemAreAskedFor) {
  EXPECT_FALSE(device->caps().copies_boxes);
  const auto asked = opened("");
  EXPECT_TRUE(asked->caps().copies_boxes);
  EXPECT_LT(asked->caps().group_memory, device->caps().group_memory);
  expect_contains(asked->caps().architecture, "sm_90a wgmma tma");
  EXPECT_FALSE(opened("", 1)->caps().copies_boxes);
  cuda::Driver older = fake_driver();
  older.encode_map = nullptr;
  const Options::Scope scope{{Option::Wgmma, 1}};
  EXPECT_FALSE(cuda::make_device(older, 0, fake_compiler)->caps().copies_boxes);
}

// The maps begin at addresses that are aligned, and the kernel is told how far before the buffer.
TEST_F(CudaBoxes, AKernelGetsMapsOfBuffersAndWhereTheseBegin) {
  for (const char* compiler : {"", "ptx"}) {
    fake::reset();
    const auto on = opened(compiler);
    const LinearProgram program = product_for(*on);
    ASSERT_EQ(program.info.boxed.size(), 2u) << compiler;
    const auto ready = loaded(*on, program);
    const Memory memory = on->allocate(4 << 18);
    const auto begin = reinterpret_cast<std::uint64_t>(memory.handle);
    const std::vector<MemoryView> views{
        {memory, 0, 256 * 256 * 4}, {memory, 1 << 18, 1 << 17}, {memory, (2 << 18) + 22, 1 << 17}};
    ready->launch(views, {});
    on->synchronize();
    EXPECT_EQ(fake::counts().maps, 2);
    ASSERT_EQ(fake::launches().size(), 1u);
    const std::vector<std::uint64_t>& arguments = fake::launches()[0].arguments;
    ASSERT_EQ(arguments.size(), 7u);
    for (std::size_t i = 0; i < 2; i++) {
      const bool is_second = program.info.boxed[i].slot == 2;
      EXPECT_EQ(arguments[3 + 2 * i], begin + (is_second ? (2 << 18) + 16 : 1 << 18));
      EXPECT_EQ(arguments[4 + 2 * i], is_second ? 3u : 0u);
    }
    on->release(memory);
  }
}

TEST_F(CudaBoxes, StandInGraphs) {
  const auto on = opened("");
  const LinearProgram program = product_for(*on);
  const auto ready = loaded(*on, program);
  const Memory memory = on->allocate(3 << 18);
  const std::vector<MemoryView> views{
      {memory, 0, 1 << 18}, {memory, 1 << 18, 1 << 17}, {memory, 2 << 18, 1 << 17}};
  const Nest nests[] = {{ready.get(), views, {}}, {ready.get(), views, {}}};
  const Sequence sequences[] = {{std::span(nests).first(1)}, {std::span(nests).last(1)}};
  const auto batch = std::make_shared<RecordedBatch>();
  batch->launch(std::span(sequences).first(1));
  batch->launch(std::span(sequences).last(1));
  {
    Queue queue(*on);
    for (int i = 0; i < 3; i++) queue.submit(batch);
    queue.synchronize();
  }
  ASSERT_EQ(fake::launches().size(), 6u);
  EXPECT_TRUE(fake::launches()[5].in_graph);
  EXPECT_EQ(fake::launches()[5].arguments, fake::launches()[0].arguments);
  EXPECT_EQ(fake::counts().maps, 8);  // of the first time and of the graph, which keeps them
  on->release(memory);
}

}  // namespace
}  // namespace croze::test
