// image_reads_test.cpp -- which buffers of a program are read as images.
#include "croze/codegen/image_reads.h"

#include <gtest/gtest.h>

#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "edits/kernels.h"
#include "support/programs.h"

namespace croze::test {
namespace {

Caps caps_with_images(std::int64_t vectors = 1 << 16) {
  Caps caps;
  caps.device = "TEST";
  caps.ops.set();
  caps.dtypes = caps.storage = ~std::uint32_t{0};
  caps.image_vectors = vectors;
  return caps;
}

constexpr std::int64_t several = 3, elements = 64;

// Reads all elements of buffer 1 in each turn.  What there is beside that, `more` adds: it gets the
// buffer, the index of the lanes, and what was loaded.
struct Reading {
  std::int64_t lanes = 4, size = elements, first = 0, step = 1;
  DType dtype = DType::Float32;
  bool is_gated = false, is_gated_by_lane = false;
  std::int64_t turns = several;

  template <typename More>
  std::vector<ImageBuffer> images(const Caps& caps, More more) const {
    ProgramBuilder b("reading");
    const UOp y = b.param(dtype, size), x = b.param(dtype, size), lane = b.lane(lanes);
    const UOp turn = b.begin_loop(turns), i = b.begin_loop(elements / lanes);
    const UOp at = i * lanes + (step == 1 ? lane : lane * step) + first;
    const UOp gate = is_gated ? less(i, 2) : is_gated_by_lane ? less(at, b.integer(7)) : UOp();
    const UOp value = b.load(x, at, gate);
    b.store(y, i * lanes + lane, value);
    more(b, x, at, value);
    b.end_loop(i);
    b.end_loop(turn);
    return images_to_read(b.finish(), caps);
  }
  std::vector<ImageBuffer> images(const Caps& caps = caps_with_images()) const {
    return images(caps, [](auto&&...) {});
  }
};

const std::vector<ImageBuffer> none = {};

TEST(ImageReads, WhatIsReadSeveralTimesByPixelsIsAnImage) {
  for (const std::int64_t lanes : {4, 8, 16}) {
    EXPECT_EQ(Reading{.lanes = lanes}.images(), (std::vector<ImageBuffer>{{1, 4}})) << lanes;
  }
  EXPECT_EQ(Reading{.dtype = DType::Float16}.images(), (std::vector<ImageBuffer>{{1, 2}}));
  EXPECT_EQ(Reading{.dtype = DType::Int8}.images(), (std::vector<ImageBuffer>{{1, 1}}));
  EXPECT_EQ(Reading{.is_gated = true}.images(), (std::vector<ImageBuffer>{{1, 4}}));
  EXPECT_EQ(Reading{.first = 8}.images(), (std::vector<ImageBuffer>{{1, 4}}));
}

TEST(ImageReads, WhatIsReadOnceStaysABuffer) { EXPECT_EQ(Reading{.turns = 1}.images(), none); }

TEST(ImageReads, WhatDoesNotBeginAtAPixelOrEndWithOneStaysABuffer) {
  EXPECT_EQ(Reading{.lanes = 2}.images(), none);
  EXPECT_EQ(Reading{.first = 2}.images(), none);
  EXPECT_EQ(Reading{.step = 2}.images(), none);
  EXPECT_EQ(Reading{.is_gated_by_lane = true}.images(), none);
}

TEST(ImageReads, WhatNoImageHoldsStaysABuffer) {
  EXPECT_EQ(Reading{.dtype = DType::Float64}.images(), none);
  const Reading whole;
  EXPECT_EQ(whole.images(caps_with_images(elements / 4)), (std::vector<ImageBuffer>{{1, 4}}));
  EXPECT_EQ(whole.images(caps_with_images(elements / 4 - 1)), none);
}

TEST(ImageReads, WhatIsWrittenOrReadInOtherWaysTooStaysABuffer) {
  const Caps caps = caps_with_images();
  const Reading reading;
  EXPECT_EQ(reading.images(
                caps, [](ProgramBuilder& b, UOp x, UOp at, UOp value) { b.store(x, at, value); }),
            none);
  EXPECT_EQ(
      reading.images(caps, [](ProgramBuilder& b, UOp x, UOp, UOp) { b.load(x, b.integer(0)); }),
      none);
  EXPECT_EQ(reading.images(caps,
                           [](ProgramBuilder& b, UOp x, UOp at, UOp) {
                             b.load(b.graph().param(DType::UInt32, x.slot(), elements), at);
                           }),
            none);
}

// Each element of the factors is used for several results; the result is written.
TEST(ImageReads, FactorsOfProductsAreImagesWhereTheyAreReadAlongTheirRows) {
  const SmallKernel kernel = product_kernel(16, 16, 4);
  Caps caps = caps_with_images();
  caps.vector_bytes = 16;
  const auto along_columns = [](KernelState& k) { apply_all(k, parse_edits("bind r1 lane")); };
  LinearProgram program = make_program(kernel.sink, caps, along_columns);
  EXPECT_EQ(program.info.images, (std::vector<ImageBuffer>{{2, 4}}));
  caps.image_vectors = 0;
  program = make_program(kernel.sink, caps, along_columns);
  EXPECT_EQ(program.info.images, none);
}

}  // namespace
}  // namespace croze::test
