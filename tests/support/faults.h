// faults.h -- what is asked of a device that is lost, whatever its driver.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "croze/base/error.h"
#include "croze/device/queue.h"
#include "support/errors.h"
#include "support/programs.h"

namespace croze::test {

inline void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

// x[i] = 2 x[i], of sixteen words.
inline LinearProgram doubling(const std::string& name) {
  ProgramBuilder b(name);
  const UOp x = b.param(DType::Int32, 16);
  const UOp i = b.begin_loop(16);
  b.store(x, i, b.load(x, i) * 2);
  b.end_loop(i);
  return b.finish();
}

// A device with memory for the kernel, and what it is asked.
class FaultyDevice {
 public:
  explicit FaultyDevice(std::unique_ptr<Device> device)
      : device_(std::move(device)), memory_(device_->allocate(64)) {}
  ~FaultyDevice() { device_->release(memory_); }
  FaultyDevice(const FaultyDevice&) = delete;
  FaultyDevice& operator=(const FaultyDevice&) = delete;

  Device& device() { return *device_; }
  std::unique_ptr<Program> loaded(const std::string& name) {
    return compile_program(*device_, doubling(name));
  }
  void launch(Program& program) {
    const MemoryView view = MemoryView::all_of(memory_);
    program.launch(std::span(&view, 1), {});
  }

  // What all work that may be asked for is refused with.
  void expect_refused(Program& program, std::string_view text) {
    for (const std::string& said :
         {message_of([&] { device_->allocate(16); }), message_of([&] { launch(program); }),
          message_of([&] { device_->synchronize(); }), message_of([&] { device_->make_stream(); }),
          message_of([&] { loaded("new"); })}) {
      expect_contains(said, text);
    }
  }

  // `lose` has the driver lose the device at the next launch.
  template <typename Lose>
  void expect_queue_fails(std::string_view kernel, std::string_view refused, Lose lose) {
    const auto program = loaded(std::string(kernel));
    const MemoryView view = MemoryView::all_of(memory_);
    const Nest nest{program.get(), std::span(&view, 1), {}};
    const Sequence sequence{std::span(&nest, 1)};
    Queue queue(*device_);
    const Timeline done;
    lose();
    queue.launch(std::span(&sequence, 1));
    queue.signal(done, 1);
    expect_contains(message_of([&] { done.wait(1); }), "kernel " + std::string(kernel));
    EXPECT_THROW(queue.synchronize(), Error);
    queue.launch(std::span(&sequence, 1));
    expect_contains(message_of([&] { queue.synchronize(); }), refused);
  }

 private:
  std::unique_ptr<Device> device_;
  Memory memory_;
};

// Other devices go on.
inline void expect_doubles(Device& device) {
  std::vector<std::int32_t> values(16, 4);
  run_program(device, doubling("good"), {bytes_of(values)});
  EXPECT_EQ(values, std::vector<std::int32_t>(16, 8));
}

}  // namespace croze::test
