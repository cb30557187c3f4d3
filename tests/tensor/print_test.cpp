// Tensors as text.  The expected texts are those of NumPy 1.24.
#include "croze/tensor/print.h"

#include <fmt/format.h>

#include <limits>
#include <sstream>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string text_of(const std::vector<double>& values, const Shape& shape,
                    DType dtype = DType::Float64) {
  return to_text(Tensor::from_data(values, shape, {.dtype = dtype}));
}

TEST(Print, AlignsColumns) {
  EXPECT_EQ(text_of({1, 0.25, -3, 2.5}, {2, 2}), "[[ 1.    0.25]\n [-3.    2.5 ]]");
  EXPECT_EQ(text_of({1, 2, 3}, {3}), "[1. 2. 3.]");
  EXPECT_EQ(text_of({1, -20, 300}, {3}, DType::Int32), "[  1 -20 300]");
  EXPECT_EQ(text_of({1, 0}, {2}, DType::Bool), "[ True False]");
  EXPECT_EQ(text_of({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}, DType::Int8),
            "[[[1 2]\n  [3 4]]\n\n [[5 6]\n  [7 8]]]");
}

TEST(Print, ShowsTheDigitsThatTellNumbersApart) {
  EXPECT_EQ(text_of({0.1, 1. / 3}, {2}, DType::Float32), "[0.1        0.33333334]");
  EXPECT_EQ(text_of({0.1, 1. / 3}, {2}), "[0.1        0.33333333]");
  EXPECT_EQ(to_text(Tensor::from_data({1. / 3, 2.}, {2}), {.precision = 3}), "[0.333 2.   ]");
  EXPECT_EQ(text_of({-0.0}, {1}), "[-0.]");
}

TEST(Print, WritesExponentsWhereSizesDiffer) {
  EXPECT_EQ(text_of({1e10, 1}, {2}), "[1.e+10 1.e+00]");
  EXPECT_EQ(text_of({1.5e-5, -2}, {2}), "[ 1.5e-05 -2.0e+00]");
  EXPECT_EQ(text_of({123456789}, {1}), "[1.23456789e+08]");
  EXPECT_EQ(text_of({1, 1000}, {2}), "[   1. 1000.]");
}

TEST(Print, ShowsWhatIsNotFinite) {
  EXPECT_EQ(text_of({nan, 1, inf}, {3}), "[nan  1. inf]");
  EXPECT_EQ(text_of({-inf, 0.125}, {2}), "[ -inf 0.125]");
  EXPECT_EQ(text_of({nan}, {1}), "[nan]");
}

TEST(Print, ShowsOneNumberAndNone) {
  EXPECT_EQ(text_of({2.5}, {}), "2.5");
  EXPECT_EQ(text_of({-7}, {}, DType::Int64), "-7");
  EXPECT_EQ(to_text(Tensor::zeros({0, 3})), "[]");
  EXPECT_EQ(to_text(Tensor()), "<undefined tensor>");
}

TEST(Print, ShowsTheCornersOfALargeTensor) {
  EXPECT_EQ(to_text(Tensor::arange(1001)), "[   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(to_text(Tensor::arange(10000).reshape({100, 100})),
            "[[   0    1    2 ...   97   98   99]\n"
            " [ 100  101  102 ...  197  198  199]\n"
            " [ 200  201  202 ...  297  298  299]\n"
            " ...\n"
            " [9700 9701 9702 ... 9797 9798 9799]\n"
            " [9800 9801 9802 ... 9897 9898 9899]\n"
            " [9900 9901 9902 ... 9997 9998 9999]]");
}

TEST(Print, BreaksLongRows) {
  EXPECT_EQ(to_text(Tensor::arange(30)),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
            " 24 25 26 27 28 29]");
}

TEST(Print, GoesToStreamsAndFmt) {
  std::ostringstream out;
  out << Tensor::arange(3) << ' ' << Shape{2, 3} << ' ' << DType::BFloat16;
  EXPECT_EQ(out.str(), "[0 1 2] (2, 3) bfloat16");
  EXPECT_EQ(fmt::format("{} {} {}", Tensor::arange(3), Shape{4}, DType::Bool), "[0 1 2] (4,) bool");
}

}  // namespace
}  // namespace croze
