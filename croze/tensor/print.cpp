// print.cpp -- the text of tensors, by the rules of NumPy's array2string.
//
// All numbers of one tensor are written in one way, so the columns follow from a pass over all of
// them: how many characters stand before the point and how many behind it.
#include "croze/tensor/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>
#include <system_error>
#include <vector>

#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"

namespace croze {
namespace {

// ---- one number -------------------------------------------------------------------------------

// The shortest digits that are this number and no other of its type.
template <typename T>
std::string shortest(T value, std::chars_format format) {
  char text[512];
  return {text, std::to_chars(text, text + sizeof text, value, format).ptr};
}

template <typename T>
std::string rounded(T value, std::chars_format format, int digits) {
  char text[512];
  return {text, std::to_chars(text, text + sizeof text, value, format, digits).ptr};
}

// Text with a point: digits before it, digits behind it without zeros at their end, an exponent.
struct Digits {
  std::string whole, fraction, exponent;
};

template <typename T>
Digits digits_of(T value, std::chars_format format, int precision) {
  const auto split = [](const std::string& text) {
    Digits d;
    const std::size_t e = std::min(text.find('e'), text.size());
    const std::size_t point = std::min(text.find('.'), e);
    d.whole = text.substr(0, point);
    if (point < e) d.fraction = text.substr(point + 1, e - point - 1);
    d.exponent = text.substr(e);
    return d;
  };
  Digits d = split(shortest(value, format));
  if (static_cast<int>(d.fraction.size()) > precision) d = split(rounded(value, format, precision));
  d.fraction.erase(d.fraction.find_last_not_of('0') + 1);
  return d;
}

// ---- all numbers of a tensor ------------------------------------------------------------------

// Large and small ones side by side are written with exponents.
template <typename T>
bool needs_exponents(const std::vector<T>& values) {
  double least = INFINITY, greatest = 0;
  for (T value : values) {
    const double size = std::abs(static_cast<double>(value));
    if (!std::isfinite(size) || size == 0) continue;
    least = std::min(least, size);
    greatest = std::max(greatest, size);
  }
  return greatest != 0 && (greatest >= 1e8 || least < 1e-4 || greatest / least > 1000);
}

template <typename T>
std::vector<std::string> texts_of_floats(const std::vector<T>& values, int precision) {
  const bool exponents = needs_exponents(values);
  const auto format = exponents ? std::chars_format::scientific : std::chars_format::fixed;
  std::vector<Digits> digits;
  std::size_t whole = 0, fraction = 0, special = 0;
  for (T value : values) {
    digits.push_back(std::isfinite(value) ? digits_of(value, format, precision) : Digits());
    Digits& d = digits.back();
    if (!std::isfinite(value)) {
      d.whole = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
      special = std::max(special, d.whole.size());
      continue;
    }
    whole = std::max(whole, d.whole.size());
    fraction = std::max(fraction, d.fraction.size());
  }
  std::vector<std::string> texts;
  std::size_t width = special;
  for (std::size_t i = 0; i < values.size(); i++) {
    const Digits& d = digits[i];
    if (!std::isfinite(values[i])) {
      texts.push_back(d.whole);
      continue;
    }
    // Behind the point stand zeros where an exponent follows, else blanks.
    const char fill = exponents ? '0' : ' ';
    texts.push_back(fmt::format("{:>{}}.{}{}{}", d.whole, whole, d.fraction,
                                std::string(fraction - d.fraction.size(), fill), d.exponent));
    width = std::max(width, texts.back().size());
  }
  for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
  return texts;
}

std::vector<std::string> right_aligned(std::vector<std::string> texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size());
  for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
  return texts;
}

template <typename T>
std::vector<std::string> texts_of_integers(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (T value : values) texts.push_back(fmt::format("{}", value));
  return right_aligned(std::move(texts));
}

std::vector<std::string> texts_of(const Tensor& x, int precision) {
  const DType dtype = x.dtype();
  if (dtype == DType::Float64) return texts_of_floats(x.to_vector<double>(), precision);
  if (is_float(dtype)) return texts_of_floats(x.to_vector<float>(), precision);
  if (dtype == DType::UInt64) return texts_of_integers(x.to_vector<std::uint64_t>());
  if (dtype != DType::Bool) return texts_of_integers(x.to_vector<std::int64_t>());
  std::vector<std::string> texts;
  for (bool value : x.to_vector<bool>()) texts.emplace_back(value ? "True" : "False");
  return right_aligned(std::move(texts));
}

// ---- rows and brackets ------------------------------------------------------------------------

// A tensor cut to its corners, where it is.
struct Corners {
  Tensor tensor;
  std::vector<bool> cut;  // by axis: the middle is left out
};

Corners corners_of(const Tensor& x, const PrintOptions& options) {
  Corners corners{x, std::vector<bool>(static_cast<std::size_t>(x.ndim()))};
  if (x.numel() <= options.threshold) return corners;
  for (int axis = 0; axis < x.ndim(); axis++) {
    const std::int64_t size = x.shape()[axis], edge = options.edge_items;
    if (size <= 2 * edge) continue;
    const Tensor& t = corners.tensor;
    corners.tensor = cat({narrow(t, axis, 0, edge), narrow(t, axis, size - edge, edge)}, axis);
    corners.cut[static_cast<std::size_t>(axis)] = true;
  }
  return corners;
}

class Printer {
 public:
  Printer(const Corners& corners, const PrintOptions& options)
      : shape_(corners.tensor.shape()),
        cut_(corners.cut),
        texts_(texts_of(corners.tensor, options.precision)),
        options_(options) {}

  std::string text() {
    if (shape_.empty()) return texts_[0].substr(texts_[0].find_first_not_of(' '));
    print_axis(0);
    return std::move(out_);
  }

 private:
  // As deep as the tensor has axes.
  void print_axis(int axis) {
    const std::int64_t size = shape_[axis];
    const bool is_row = axis + 1 == shape_.size();
    out_ += '[';
    for (std::int64_t i = 0; i < size; i++) {
      if (i > 0 && !is_row) separate(axis);
      if (cut_[static_cast<std::size_t>(axis)] && i == options_.edge_items) {
        is_row ? add_item("...", i > 0, axis) : add_dots(axis);
      }
      is_row ? add_item(texts_[next_++], i > 0, axis) : print_axis(axis + 1);
    }
    out_ += ']';
  }

  // To the next row, after as many empty lines as axes end.
  void separate(int axis) {
    out_.append(static_cast<std::size_t>(shape_.size() - axis - 1), '\n');
    out_.append(static_cast<std::size_t>(axis + 1), ' ');
  }

  void add_dots(int axis) {
    out_ += "...";
    separate(axis);
  }

  void add_item(const std::string& item, bool follows, int axis) {
    const std::size_t line = out_.size() - (out_.rfind('\n') + 1);
    // The brackets that will close must find room.
    const auto room = static_cast<std::size_t>(options_.line_width - shape_.size());
    if (follows && line + item.size() + 1 > room) {
      out_ += '\n';
      out_.append(static_cast<std::size_t>(axis + 1), ' ');
    } else if (follows) {
      out_ += ' ';
    }
    out_ += item;
  }

  Shape shape_;
  std::vector<bool> cut_;
  std::vector<std::string> texts_;
  PrintOptions options_;
  std::size_t next_ = 0;
  std::string out_;
};

}  // namespace

std::string to_text(const Tensor& x, const PrintOptions& options, Location at) {
  const CallScope scope("to_text", at);
  if (!x.defined()) return "<undefined tensor>";
  if (Capturing::is_active()) {
    return fmt::format("<tensor of {} {}, not computed: a step is captured>", name_of(x.dtype()),
                       to_text(x.shape()));
  }
  if (x.numel() == 0) return "[]";
  x.realize();
  return Printer(corners_of(x, options), options).text();
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << to_text(tensor); }
std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_text(shape); }
std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

}  // namespace croze

fmt::appender fmt::formatter<croze::Tensor>::format(const croze::Tensor& x,
                                                    fmt::format_context& context) const {
  return fmt::formatter<fmt::string_view>::format(croze::to_text(x), context);
}

fmt::appender fmt::formatter<croze::Shape>::format(const croze::Shape& shape,
                                                   fmt::format_context& context) const {
  return fmt::formatter<fmt::string_view>::format(croze::to_text(shape), context);
}

fmt::appender fmt::formatter<croze::DType>::format(croze::DType dtype,
                                                   fmt::format_context& context) const {
  const std::string_view name = croze::name_of(dtype);
  return fmt::formatter<fmt::string_view>::format({name.data(), name.size()}, context);
}
