// print.h -- tensors, shapes and dtypes as text: std::cout << x, fmt::print("{}", x).
//
// A tensor looks as in NumPy: columns aligned, as many digits as tell the numbers apart, and of a
// large one the corners.
//
//     [[ 1.    0.25]
//      [-3.    2.5 ]]
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <iosfwd>
#include <string>

#include "croze/tensor/tensor.h"

namespace croze {

struct PrintOptions {
  int precision = 8;              // digits behind the point, at most
  std::int64_t threshold = 1000;  // of a tensor with more elements the corners are shown
  std::int64_t edge_items = 3;    // at each end of an axis that is cut
  int line_width = 75;            // characters in a line, at most
};

// The elements of x as text, which computes them.  While a step is captured nothing has elements
// yet, and of a tensor that was never given a value there are none: then the text says so, with
// shape and dtype.
std::string to_text(const Tensor& x, const PrintOptions& options = {},
                    Location at = Location::current());

// "(2, 3)" and "float32".
std::ostream& operator<<(std::ostream& out, DType dtype);

}  // namespace croze

// Not inline: what formats a string_view is in <fmt/format.h>, which compiles slowly.
template <>
struct fmt::formatter<croze::Tensor> : fmt::formatter<fmt::string_view> {
  fmt::appender format(const croze::Tensor& x, fmt::format_context& context) const;
};

template <>
struct fmt::formatter<croze::Shape> : fmt::formatter<fmt::string_view> {
  fmt::appender format(const croze::Shape& shape, fmt::format_context& context) const;
};

template <>
struct fmt::formatter<croze::DType> : fmt::formatter<fmt::string_view> {
  fmt::appender format(croze::DType dtype, fmt::format_context& context) const;
};
