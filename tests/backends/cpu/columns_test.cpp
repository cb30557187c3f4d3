// columns_test.cpp -- lanes that go down the rows of a matrix, which the device CPU reads as parts
// of whole vectors: nothing around the matrix is touched.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "support/device_suite.h"
#include "support/programs.h"

namespace croze::test {
namespace {

constexpr DType f32 = DType::Float32;

// Floats between two pages that must not be touched, at the end of what is there or at its
// beginning.
class GuardedFloats {
 public:
  GuardedFloats(std::size_t count, bool at_end)
      : pages_((count * sizeof(float) / page + 1) * page) {
    all_ = static_cast<std::byte*>(
        mmap(nullptr, pages_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::byte* const begin = all_ + page;
    EXPECT_EQ(mprotect(begin, pages_, PROT_READ | PROT_WRITE), 0);
    floats_ = {reinterpret_cast<float*>(at_end ? begin + pages_ - count * sizeof(float) : begin),
               count};
  }
  ~GuardedFloats() { munmap(all_, pages_ + 2 * page); }
  GuardedFloats(const GuardedFloats&) = delete;
  GuardedFloats& operator=(const GuardedFloats&) = delete;
  std::span<float> floats() const { return floats_; }

 private:
  static constexpr std::size_t page = 4096;
  std::size_t pages_;
  std::byte* all_;
  std::span<float> floats_;
};

// Columns of 16 rows of `width` floats, one after the other.  Each gets 1 added in the matrix, too,
// before the next is read, if `changes`.
LinearProgram columns_of(std::int64_t width, std::span<const std::int64_t> columns, bool changes) {
  ProgramBuilder b("columns");
  const UOp out = b.param(f32, std::ssize(columns) * 16), in = b.param(f32, 16 * width);
  const UOp lane = b.lane(16);
  std::vector<UOp> loaded;
  for (const std::int64_t column : columns) {
    const UOp place = lane * width + column;
    loaded.push_back(b.load(in, place));
    if (changes) b.store(in, place, loaded.back() + b.graph().constant(f32, 1.0));
  }
  for (std::size_t c = 0; c < loaded.size(); c++)
    b.store(out, lane + static_cast<std::int64_t>(c) * 16, loaded[c]);
  return b.finish();
}

// As an unrolled loop over short rows reads them: any number, side by side or not, the first and
// the last element of the matrix.
TEST(CpuDevice, ColumnsOfShortRowsAreReadWithoutWhatLiesAround) {
  constexpr std::int64_t rows = 16;
  for (const std::int64_t width : {3, 4, 5, 8, 9, 17, 40}) {
    for (const std::vector<std::int64_t>& columns :
         {std::vector<std::int64_t>{0}, {width - 1}, {0, 1, 2}, {2, 0}, {1, width - 1}}) {
      for (const int kind : {0, 1, 2, 3}) {
        const bool changes = kind % 2 == 1, at_end = kind > 1;
        const GuardedFloats x(static_cast<std::size_t>(rows * width), at_end);
        std::iota(x.floats().begin(), x.floats().end(), 1.0f);
        std::vector<float> y(columns.size() * rows), expected,
            now(x.floats().begin(), x.floats().end());
        for (const std::int64_t column : columns) {
          for (std::int64_t k = 0; k < rows; k++) {
            float& value = now[static_cast<std::size_t>(k * width + column)];
            expected.push_back(value);
            if (changes) value += 1;
          }
        }
        run_program(*device_under_test(), columns_of(width, columns, changes),
                    {bytes_of(y), std::as_writable_bytes(x.floats())});
        EXPECT_EQ(y, expected) << width << " wide, column " << columns[0];
      }
    }
  }
}

}  // namespace
}  // namespace croze::test
