// images_test.cpp -- buffers that kernels read as images: of one dimension as the device has them,
// and of two, in short rows, where a library says that those of one are shorter still.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "croze/backends/opencl/opencl_device.h"
#include "croze/backends/opencl/platforms.h"
#include "croze/base/options.h"
#include "croze/device/recorded_batch.h"
#include "support/programs.h"

namespace croze::test {
namespace {

using namespace opencl;

const OpenClLibrary& true_library() { return *opencl::opencl().library; }

// What the library says, and has been asked for.
struct Driver {
  std::size_t row = 0, rows = 0;  // of images of two dimensions, where those of one are short
  bool refuses_images = false;
  int images_made = 0, objects_alive = 0;
} driver;

cl_int get_device_info(cl_device_id device, cl_device_info property, std::size_t size, void* value,
                       std::size_t* size_of_value) {
  const cl_int status =
      true_library().get_device_info(device, property, size, value, size_of_value);
  if (driver.row == 0 || status != CL_SUCCESS || !value) return status;
  auto& number = *static_cast<std::size_t*>(value);
  if (property == CL_DEVICE_IMAGE_MAX_BUFFER_SIZE) number = 2;
  if (property == CL_DEVICE_IMAGE2D_MAX_WIDTH) number = driver.row;
  if (property == CL_DEVICE_IMAGE2D_MAX_HEIGHT) number = driver.rows;
  return status;
}

cl_mem create_buffer(cl_context context, cl_mem_flags flags, std::size_t size, void* host,
                     cl_int* status) {
  driver.objects_alive++;
  return true_library().create_buffer(context, flags, size, host, status);
}

cl_mem create_image(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                    const cl_image_desc* shape, void* host, cl_int* status) {
  *status = CL_IMAGE_FORMAT_NOT_SUPPORTED;
  if (driver.refuses_images) return nullptr;
  driver.images_made++;
  driver.objects_alive++;
  return true_library().create_image(context, flags, format, shape, host, status);
}

cl_int release_mem_object(cl_mem object) {
  driver.objects_alive--;
  return true_library().release_mem_object(object);
}

const OpenCl& devices() {
  static const OpenCl& found = *new OpenCl([] {
    OpenCl cl{nullptr, opencl::opencl().devices};
    if (cl.devices.empty()) return cl;
    cl.library = std::make_unique<OpenClLibrary>(true_library());
    cl.library->get_device_info = get_device_info;
    cl.library->create_buffer = create_buffer;
    cl.library->create_image = create_image;
    cl.library->release_mem_object = release_mem_object;
    return cl;
  }());
  return found;
}

// y[i] = x[i] + x[i] of `size` elements, x being read as an image.
LinearProgram doubling(DType t, std::int64_t size, std::int64_t lanes) {
  ProgramBuilder b("doubling");
  const UOp y = b.param(t, size), x = b.param(t, size), lane = b.lane(lanes);
  const UOp i = b.begin_loop(size / lanes);
  const UOp at = i * lanes + lane, value = b.load(x, at);
  b.store(y, at, value + value);
  b.end_loop(i);
  LinearProgram program = b.finish();
  program.info.written = 1;
  program.info.images = {{1, size_of(t)}};
  return program;
}

// With rows of 64 pixels, or without.
class OpenClImages : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    driver = {};
    if (GetParam()) driver.row = driver.rows = 64;
    device_ = make_device(devices(), 0);
    if (!device_) GTEST_SKIP() << "the machine has no OpenCL";
    const std::int64_t vectors = device_->caps().image_vectors;
    if (vectors < 64) GTEST_SKIP() << "the device has no such images of buffers";
    if (GetParam()) {
      EXPECT_EQ(vectors, 64 * 64);
    }
  }
  void TearDown() override {
    if (device_) device_->synchronize();
    for (Memory m : memories_) device_->release(m);
    EXPECT_EQ(driver.objects_alive, 0);
  }

  Memory allocate(std::int64_t bytes) {
    memories_.push_back(device_->allocate(bytes));
    return memories_.back();
  }
  template <typename T>
  std::vector<T> contents(MemoryView view) {
    std::vector<T> found(static_cast<std::size_t>(view.bytes) / sizeof(T));
    device_->copy_out(std::as_writable_bytes(std::span(found)), view);
    return found;
  }
  // 1, 2, .. at the offset in memory of so many bytes.
  template <typename T>
  MemoryView counted(std::int64_t size, std::int64_t offset, std::int64_t bytes) {
    std::vector<T> values(static_cast<std::size_t>(size));
    std::iota(values.begin(), values.end(), T{1});
    const MemoryView view{allocate(bytes), offset, size * std::int64_t{sizeof(T)}};
    device_->copy_in(view, std::as_bytes(std::span(values)));
    return view;
  }

  // Doubles what begins there, and says whether that was right.
  template <typename T>
  bool doubles(DType t, std::int64_t size, std::int64_t lanes, std::int64_t offset) {
    const LinearProgram program = doubling(t, size, lanes);
    const auto compiled = compile_program(*device_, program);
    const std::int64_t bytes = size * std::int64_t{sizeof(T)};
    const MemoryView x = counted<T>(size, offset, offset + bytes);
    const MemoryView views[] = {MemoryView::all_of(allocate(bytes)), x};
    compiled->launch(views, {});
    std::vector<T> expected = contents<T>(x);
    for (T& value : expected) value = static_cast<T>(value + value);
    return contents<T>(views[0]) == expected;
  }

  const Options::Scope wanted_{{Option::Images, 1}};
  std::unique_ptr<Device> device_;
  std::vector<Memory> memories_;
};

TEST_P(OpenClImages, ElementsOfAllSizesAreReadByPixelsOverTheEndsOfRows) {
  for (const std::int64_t lanes : {4, 8, 16}) {
    EXPECT_TRUE(doubles<float>(DType::Float32, 1024, lanes, 0)) << lanes;
    EXPECT_TRUE(doubles<std::int32_t>(DType::Int32, 1024, lanes, 0)) << lanes;
    EXPECT_TRUE(doubles<std::int16_t>(DType::Int16, 1024, lanes, 0)) << lanes;
    EXPECT_TRUE(doubles<std::uint16_t>(DType::UInt16, 1024, lanes, 0)) << lanes;
    EXPECT_TRUE(doubles<std::uint8_t>(DType::UInt8, 1024, lanes, 0)) << lanes;
    EXPECT_TRUE(doubles<std::int8_t>(DType::Int8, 96, lanes, 0)) << lanes;
  }
  EXPECT_EQ(driver.images_made, 18);
}

TEST_P(OpenClImages, ViewsBeginAtAnyPixel) {
  for (const std::int64_t offset : {16, 1008, 1024, 4096}) {
    EXPECT_TRUE(doubles<float>(DType::Float32, 512, 4, offset)) << offset;
    EXPECT_TRUE(doubles<std::uint8_t>(DType::UInt8, 512, 4, offset)) << offset;
  }
  EXPECT_TRUE(doubles<std::uint8_t>(DType::UInt8, 512, 8, 4));
  EXPECT_EQ(driver.images_made, 9);
}

TEST_P(OpenClImages, ViewsThatBeginWithinAPixelAreReadAsBuffers) {
  for (const bool is_kept : {true, false}) {
    const Options::Scope scope{{Option::Cache, is_kept}};
    EXPECT_TRUE(doubles<float>(DType::Float32, 512, 8, 4));
    EXPECT_TRUE(doubles<std::int16_t>(DType::Int16, 512, 4, 12));
    EXPECT_TRUE(doubles<std::uint8_t>(DType::UInt8, 512, 4, 1));
  }
  EXPECT_EQ(driver.images_made, 0);
}

TEST_P(OpenClImages, WhereTheDriverMakesNoImageBuffersAreRead) {
  driver.refuses_images = true;
  EXPECT_TRUE(doubles<float>(DType::Float32, 512, 4, 0));
}

// An image shows the beginning of its memory, which may be larger.
TEST_P(OpenClImages, WhatLiesBeyondTheImageIsReadAsABuffer) {
  if (!GetParam()) GTEST_SKIP() << "images of the device are as large as its memory";
  constexpr std::int64_t shown = 64 * 64 * 16;
  EXPECT_TRUE(doubles<float>(DType::Float32, 512, 4, shown - 2048));
  EXPECT_EQ(driver.images_made, 1);
  EXPECT_TRUE(doubles<float>(DType::Float32, 512, 4, shown - 1024));
  EXPECT_TRUE(doubles<float>(DType::Float32, 512, 4, shown));
  EXPECT_EQ(driver.images_made, 1);
}

TEST_P(OpenClImages, MemoryHasAnImageForAllLaunchesAndNoneForWhatTheyWriteToo) {
  const LinearProgram program = doubling(DType::Float32, 256, 4);
  const auto compiled = compile_program(*device_, program);
  const MemoryView x = counted<float>(256, 0, 2048), z = counted<float>(256, 0, 1024);
  const MemoryView apart[] = {{x.memory, 1024, 1024}, x}, same[] = {z, z};
  for (int launch = 0; launch < 3; launch++) compiled->launch(apart, {});
  EXPECT_EQ(driver.images_made, 1);
  compiled->launch(same, {});
  EXPECT_EQ(driver.images_made, 1);
}

TEST_P(OpenClImages, AllBitsOfFloatsComeThrough) {
  std::vector<std::uint32_t> bits = {1,          0x007fffff, 0x80000001, 0x7f800001,
                                     0xffc12345, 0x7fabcdef, 0x80000000, 0x7f800000};
  ProgramBuilder b("copy");
  const UOp y = b.param(DType::Float32, 8), x = b.param(DType::Float32, 8), lane = b.lane(8);
  b.store(y, lane, b.load(x, lane));
  LinearProgram program = b.finish();
  program.info.written = 1;
  program.info.images = {{1, 4}};
  const MemoryView views[] = {MemoryView::all_of(allocate(32)), MemoryView::all_of(allocate(32))};
  device_->copy_in(views[1], std::as_bytes(std::span(bits)));
  compile_program(*device_, program)->launch(views, {});
  EXPECT_EQ(contents<std::uint32_t>(views[0]), bits);
  EXPECT_EQ(driver.images_made, 1);
}

TEST_P(OpenClImages, ABatchThatComesAgainSeesWhatWasWrittenMeanwhile) {
  const auto compiled = compile_program(*device_, doubling(DType::Int32, 256, 4));
  // Each doubles what the one before it has stored; one of them begins within a pixel.
  const MemoryView first = counted<std::int32_t>(256, 16, 1040);
  const MemoryView second{allocate(2048), 20, 1024}, third = MemoryView::all_of(allocate(1024));
  RecordedBatch batch;
  const MemoryView chain[][2] = {{second, first}, {third, second}, {first, third}};
  for (const auto& views : chain) {
    const Nest nest{compiled.get(), views, {}};
    const Sequence sequence{std::span(&nest, 1)};
    batch.launch(std::span(&sequence, 1));
  }
  const auto stream = device_->make_stream();
  std::vector<std::int32_t> expected = contents<std::int32_t>(first);
  for (int turn = 0; turn < 5; turn++) {
    batch.run(*stream);
    for (std::int32_t& value : expected) value *= 8;
  }
  stream->finish();
  EXPECT_EQ(contents<std::int32_t>(first), expected);
}

INSTANTIATE_TEST_SUITE_P(, OpenClImages, testing::Bool(),
                         [](const auto& form) { return form.param ? "InRows" : "InOnePiece"; });

TEST(OpenClDevice, HasImagesWhereTheyAreWanted) {
  driver = {};
  const auto vectors = [] {
    const std::unique_ptr<Device> device = make_device(devices(), 0);
    return device ? device->caps().image_vectors : -1;
  };
  if (vectors() < 0) GTEST_SKIP() << "the machine has no OpenCL";
  {
    const Options::Scope scope{{Option::Images, 0}};
    EXPECT_EQ(vectors(), 0);
  }
  const auto type =
      true_library().device_info<cl_device_type>(devices().devices[0].device, CL_DEVICE_TYPE);
  const Options::Scope scope{{Option::Images, -1}};
  if (type == CL_DEVICE_TYPE_CPU) {
    EXPECT_EQ(vectors(), 0);
  }
}

}  // namespace
}  // namespace croze::test
