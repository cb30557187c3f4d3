// value_text.cpp -- reads defaults and samples of the op table.
#include "croze/tensor/op_table/value_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "croze/base/error.h"
#include "croze/tensor/op_table/bind.h"

namespace croze {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t length_of_word(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && (is_letter(text[n]) || is_digit(text[n]))) n++;
  return n;
}

}  // namespace

// ---- tensors ----------------------------------------------------------------------------------

// splitmix64, a published mixing function: each state gives one number.
double SampleTensors::uniform() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

Tensor SampleTensors::tensor(const Shape& shape, DType dtype, double low, double high) {
  std::vector<double> numbers(static_cast<std::size_t>(shape.numel()));
  for (double& v : numbers) {
    v = low + (high - low) * uniform();
    if (is_integral(dtype)) v = std::floor(low + (high - low + 1) * uniform());
    if (is_unsigned(dtype)) v = std::abs(v);
    if (dtype == DType::Bool) v = uniform() < 0.5;
  }
  return Tensor::from_data(numbers, shape, {.dtype = dtype, .device = device_});
}

Tensor SampleTensors::indices(const Shape& shape, std::int64_t end) {
  return tensor(shape, DType::Int64, 0, static_cast<double>(end - 1));
}

// ---- text -------------------------------------------------------------------------------------

void ValueReader::malformed() const { fail_internal({}, "op table: cannot read '{}'", text_); }

void ValueReader::skip_blanks() {
  text_.remove_prefix(std::min(text_.find_first_not_of(' '), text_.size()));
}

bool ValueReader::take(char c) {
  skip_blanks();
  if (text_.empty() || text_[0] != c) return false;
  text_.remove_prefix(1);
  skip_blanks();
  return true;
}

std::string_view ValueReader::take_name() {
  skip_blanks();
  const std::size_t n = length_of_word(text_);
  if (n == 0 || n >= text_.size() || text_[n] != '=') return {};
  const std::string_view name = text_.substr(0, n);
  text_.remove_prefix(n + 1);
  return name;
}

Value ValueReader::value() {
  skip_blanks();
  if (take('[')) return list(']');
  if (take('\'')) {
    const std::size_t end = text_.find('\'');
    if (end == std::string_view::npos) malformed();
    std::string text(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return text;
  }
  const std::size_t n = length_of_word(text_);
  if (n == 1 && text_.size() > 1 && text_[1] == '(') {
    const char kind = text_[0];
    text_.remove_prefix(2);
    return tensor(kind);
  }
  return n > 0 && is_letter(text_[0]) ? word() : number();
}

Values ValueReader::list(char end) {
  Values values;
  if (take(end)) return values;
  do {
    values.push_back(value());
  } while (take(','));
  if (!take(end)) malformed();
  return values;
}

Value ValueReader::word() {
  const std::string_view name = text_.substr(0, length_of_word(text_));
  text_.remove_prefix(name.size());
  if (name == "none") return std::monostate();
  if (name == "true") return true;
  if (name == "false") return false;
  if (name == "inf") return HUGE_VAL;
  if (const std::optional<DType> dtype = dtype_from_name(name)) return *dtype;
  malformed();
}

double ValueReader::plain_number() {
  double number = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
  if (error != std::errc()) malformed();
  text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
  return number;
}

Value ValueReader::number() {
  const std::string_view before = text_;
  const double number = plain_number();
  const std::string_view digits = before.substr(0, before.size() - text_.size());
  if (digits.find_first_of(".enf") != std::string_view::npos) return number;
  return static_cast<std::int64_t>(number);
}

Value ValueReader::tensor(char kind) {
  ensure(tensors_ != nullptr, "op table: a tensor is no default");
  const Shape shape = read_shape(list(')'));
  if (kind == 'b') return tensors_->flags(shape);
  if (kind == 'i') {
    if (!take('<')) malformed();
    return tensors_->indices(shape, read_integer(number()));
  }
  if (kind != 't') malformed();
  if (!take('@')) return tensors_->numbers(shape, -2, 2);
  // "0.1..2": the number ends before the dots.
  const std::size_t dots = text_.find("..");
  if (dots == std::string_view::npos) malformed();
  const std::string_view rest = text_.substr(dots + 2);
  text_ = text_.substr(0, dots);
  const double low = plain_number();
  text_ = rest;
  return tensors_->numbers(shape, low, plain_number());
}

}  // namespace croze
