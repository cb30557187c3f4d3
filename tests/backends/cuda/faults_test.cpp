// faults_test.cpp -- kernels that fail, devices that are lost, code that is damaged.
#include "fake_device.h"

namespace croze::test {
namespace {

class Faults : public FakeCuda {
 protected:
  void launch(Device& on, Program& program) {
    program.launch(std::vector<MemoryView>(2, MemoryView::all_of(memory_of(on))), {});
  }

  Memory memory_of(Device& on) {
    Memory& memory = &on == device.get() ? here_ : there_;
    if (!memory.handle) memory = on.allocate(64);
    return memory;
  }

 private:
  Memory here_, there_;
};

TEST_F(Faults, AKernelThatFailsIsNamedWithItsDevice) {
  const auto program = loaded(*second, doubling("faulty"));
  launch(*second, *program);
  const std::string said = message_of([&] { second->synchronize(); });
  expect_contains(said, "CUDA:1");
  expect_contains(said, "kernel faulty");
  expect_contains(said, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(Faults, WhereItMayBeOneOfSeveralAllAreNamed) {
  const auto good = loaded(*device, doubling("good")), bad = loaded(*device, doubling("slow"));
  launch(*device, *good);
  device->synchronize();
  launch(*device, *bad);
  launch(*device, *good);
  const std::string said = message_of([&] { device->synchronize(); });
  expect_contains(said, "one of kernel slow, kernel good: ");
  expect_contains(said, "CUDA_ERROR_LAUNCH_TIMEOUT");
}

TEST_F(Faults, ALostDeviceRefusesWorkAndOthersGoOn) {
  const auto bad = loaded(*device, doubling("faulty")), good = loaded(*second, doubling("good"));
  launch(*device, *bad);
  EXPECT_THROW(device->synchronize(), Error);
  for (const std::string& said :
       {message_of([&] { device->allocate(16); }), message_of([&] { launch(*device, *bad); }),
        message_of([&] { device->synchronize(); }), message_of([&] { device->make_stream(); }),
        message_of([&] { loaded(*device, doubling("new")); })}) {
    expect_contains(said, "CUDA is lost to this process: ");
    expect_contains(said, "CUDA_ERROR_ILLEGAL_ADDRESS");
  }
  launch(*second, *good);
  second->synchronize();
  EXPECT_EQ(fake::launches().back().kernel, "croze_good");
}

TEST_F(Faults, AQueueOfALostDeviceFailsWhatItWasToSignal) {
  const auto bad = loaded(*device, doubling("faulty"));
  const std::vector<MemoryView> views(2, MemoryView::all_of(memory_of(*device)));
  const Nest nest{bad.get(), views, {}};
  const Sequence sequence{std::span(&nest, 1)};
  Queue queue(*device);
  Timeline done;
  queue.launch(std::span(&sequence, 1));
  queue.signal(done, 1);
  expect_contains(message_of([&] { done.wait(1); }), "kernel faulty");
  EXPECT_THROW(queue.synchronize(), Error);
  queue.launch(std::span(&sequence, 1));
  expect_contains(message_of([&] { queue.synchronize(); }), "CUDA is lost to this process");
}

// The fake driver looks at each address when the kernel would run.
TEST_F(Faults, AnAddressOutsideOfMemoryIsNoticed) {
  const auto program = loaded(*device, doubling("outside"));
  const std::vector<MemoryView> views(2, MemoryView{{reinterpret_cast<void*>(64), 64}, 0, 64});
  program->launch(views, {});
  expect_contains(message_of([&] { device->synchronize(); }), "kernel outside");
}

TEST_F(Faults, DamagedCodeIsAnError) {
  const LinearProgram program = doubling("twice");
  std::string code = device->compile("twice", device->renderer().render(program));
  EXPECT_THROW(device->load(program.info, "no code"), Error);
  code.back() ^= 1;
  EXPECT_THROW(device->load(program.info, code), Error);
}

TEST_F(Faults, AnImageThatTheDriverRefusesIsAnErrorWithItsWords) {
  const LinearProgram program = doubling("twice");
  const std::string said =
      message_of([&] { device->load(program.info, cuda::pack(0, "nonsense")); });
  expect_contains(said, "loading kernel twice: that is no image");
  expect_contains(said, "CUDA_ERROR_INVALID_IMAGE");
}

}  // namespace
}  // namespace croze::test
