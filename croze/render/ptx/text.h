// text.h -- pieces of PTX: registers and their classes, constants, and a growing body.
#pragma once

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "croze/graph/dtype.h"

namespace croze::ptx {

enum class RegisterClass : std::uint8_t { Predicate, Bits16, Bits32, Bits64, Float32, Float64 };
inline constexpr int num_register_classes = 6;

// The class of registers that hold values of the dtype.
RegisterClass class_of(DType t);
// "b32", "pred": of registers, and of instructions that look at bits alone.
std::string_view bits_type(DType t);
// "s32", "u16", "f32": of arithmetic.  Integers of 8 bits are computed in 16.
std::string_view number_type(DType t);
// "u8", "b32": of what stands in memory.
std::string_view memory_type(DType t);

// A constant as an operand; of Bool it is none.
std::string literal(std::int64_t bits, DType t);

// The text of one entry's body while it is written.  The prologue stands before it, whenever its
// lines are written.
class Text {
 public:
  std::string fresh(RegisterClass c);
  std::string fresh(DType t) { return fresh(class_of(t)); }
  std::string fresh_label() { return fmt::format("$L{}", labels_++); }

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    add_line(body_, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void prologue(fmt::format_string<Args...> format, Args&&... args) {
    add_line(prologue_, fmt::format(format, std::forward<Args>(args)...));
  }
  void label(std::string_view name) { body_ += fmt::format("{}:\n", name); }

  // A new register with the result of an instruction on these operands.
  std::string define(RegisterClass c, std::string_view instruction,
                     std::initializer_list<std::string_view> operands);
  std::string define(DType t, std::string_view instruction,
                     std::initializer_list<std::string_view> operands) {
    return define(class_of(t), instruction, operands);
  }

  // The declarations of all registers, the prologue and the body.
  std::string take();

 private:
  static void add_line(std::string& text, std::string_view line) {
    text += fmt::format("  {}\n", line);
  }

  std::array<int, num_register_classes> registers_{};
  int labels_ = 0;
  std::string prologue_, body_;
};

}  // namespace croze::ptx
