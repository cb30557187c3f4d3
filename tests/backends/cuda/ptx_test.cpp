// ptx_test.cpp -- the device with PTX, which the driver compiles, over the driver that is a fake.
#include "croze/backends/cuda/nvrtc_library.h"
#include "fake_device.h"

namespace croze::test {
namespace {

class CudaPtx : public FakeCuda {
 protected:
  static std::unique_ptr<Device> opened(const char* compiler, int ordinal = 0) {
    const Options::Scope chosen{{Option::CudaCompiler, compiler}};
    return cuda::make_device(fake_driver(), ordinal);
  }
};

TEST_F(CudaPtx, IsChosenByItsName) {
  expect_contains(opened("ptx")->description(), "PTX 8.4 for sm_90a");
  expect_contains(opened("ptx", 1)->description(), "PTX 7.1 for sm_80");
  EXPECT_EQ(opened("ptx")->renderer().name(), "ptx");
  EXPECT_NE(opened("nvrtc")->renderer().name(), "ptx");
  EXPECT_EQ(message_of([] { opened("gcc"); }),
            "CROZE_CUDA_COMPILER is 'gcc'; there are 'nvrtc' and 'ptx'");
}

TEST_F(CudaPtx, IsTakenWithoutNvrtc) {
  if (cuda::Nvrtc::get()) GTEST_SKIP() << "NVRTC is here";
  expect_contains(opened("")->description(), "PTX");
}

TEST_F(CudaPtx, TextsForAnOlderProcessorServeThoseAfterIt) {
  EXPECT_EQ(cuda::ptx_compiler("sm_100a").version, "PTX 8.6 for sm_100a");
  EXPECT_EQ(cuda::ptx_compiler("sm_89").version, "PTX 7.1 for sm_80");
  EXPECT_EQ(cuda::ptx_compiler("sm_120a").version, "PTX 7.1 for sm_80");
}

// Arrays of a text may not be larger without being given at the launch.
TEST_F(CudaPtx, CapabilitiesAreThoseOfTheLanguage) {
  const auto ptx = opened("ptx");
  EXPECT_EQ(ptx->caps().group_memory, 48 << 10);
  EXPECT_TRUE(ptx->caps().can_store(DType::BFloat16));
  EXPECT_FALSE(ptx->caps().has_dtype(DType::BFloat16));
  EXPECT_NE(ptx->caps().architecture, device->caps().architecture);
}

TEST_F(CudaPtx, AKernelGetsAddressesAndNumbers) {
  const auto ptx = opened("ptx");
  ProgramBuilder b("scale");
  const UOp y = b.param(DType::Int64, 8), n = b.variable(-5, 1000);
  const UOp tile = b.local(DType::Float32, 100, Space::Group);
  const UOp item = b.special(0, 8, LoopKind::Item);
  b.store(tile, item, b.graph().constant(DType::Float32, 1.0));
  b.store(y, item, n);
  const auto program = loaded(*ptx, b.finish());
  const Memory memory = ptx->allocate(100 * 8);
  const MemoryView view{memory, 24, 64};
  const std::int64_t variables[] = {-3};
  program->launch(std::span(&view, 1), variables);
  ptx->synchronize();
  ASSERT_EQ(fake::launches().size(), 1u);
  const fake::Launch& launch = fake::launches()[0];
  EXPECT_EQ(launch.kernel, "croze_scale");
  EXPECT_EQ(launch.items[0], 8u);
  EXPECT_EQ(launch.group_bytes, 0u);  // the text declares them
  const auto address = reinterpret_cast<std::uint64_t>(memory.handle) + 24;
  EXPECT_EQ(launch.arguments, (std::vector<std::uint64_t>{address, std::uint64_t(-3)}));
  ptx->release(memory);
}

TEST_F(CudaPtx, ARefusedTextIsAnErrorOfTheLoadWithTheDriversWords) {
  const auto ptx = opened("ptx");
  const LinearProgram program = doubling("twice");
  const std::string code = ptx->compile("twice", ".version 8.0");
  expect_contains(message_of([&] { ptx->load(program.info, code); }),
                  "loading kernel twice: that is no image");
}

}  // namespace
}  // namespace croze::test
