// value_text.h -- the small language in which the op table writes defaults and samples
// (op_table.h says what there is).
#pragma once

#include <cstdint>
#include <string_view>

#include "croze/tensor/op_table.h"

namespace croze {

// Makes the tensors of samples.  Numbers follow from the seed alone.
class SampleTensors {
 public:
  SampleTensors(DType dtype, std::uint64_t seed, std::string_view device)
      : dtype_(dtype), device_(device), state_(seed) {}

  // Numbers in [low, high]; integers if the dtype is one.
  Tensor numbers(const Shape& shape, double low, double high) {
    return tensor(shape, dtype_, low, high);
  }
  Tensor indices(const Shape& shape, std::int64_t end);
  Tensor flags(const Shape& shape) { return tensor(shape, DType::Bool, 0, 1); }

 private:
  double uniform();  // in [0, 1)
  Tensor tensor(const Shape& shape, DType dtype, double low, double high);

  DType dtype_;
  std::string_view device_;
  std::uint64_t state_;
};

// Reads values from a text of the table.  Throws InternalError if it is malformed.
class ValueReader {
 public:
  // `tensors` may be null where no tensor may stand.
  ValueReader(std::string_view text, SampleTensors* tensors) : text_(text), tensors_(tensors) {}

  bool at_end() const { return text_.empty(); }
  // Takes this character, and blanks before and after it, if it comes next.
  bool take(char c);
  // Takes "name=" if it comes next.
  std::string_view take_name();
  Value value();

 private:
  Values list(char end);
  Value word();
  Value number();
  Value tensor(char kind);
  double plain_number();
  void skip_blanks();
  [[noreturn]] void malformed() const;

  std::string_view text_;
  SampleTensors* tensors_;
};

}  // namespace croze
