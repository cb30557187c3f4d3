// weights.cpp -- the contents of weights and of the state at the start, as arrays of C.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "croze/export/c/texts.h"
#include "croze/export/c/words.h"

namespace croze::plain_c {
namespace {

constexpr std::size_t line_width = 98;

template <typename T>
T element(const Array& array, std::int64_t i) {
  T value;
  std::memcpy(&value, array.contents.data() + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

// As literal() takes it: the bits of a double for floats.
std::int64_t bits_of(const Array& a, std::int64_t i) {
  switch (a.dtype) {
    case DType::Float32: return std::bit_cast<std::int64_t>(double{element<float>(a, i)});
    case DType::Int8: return element<std::int8_t>(a, i);
    case DType::Int16: return element<std::int16_t>(a, i);
    case DType::Int32: return element<std::int32_t>(a, i);
    default: break;
  }
  switch (size_of(a.dtype)) {
    case 1: return element<std::uint8_t>(a, i);
    case 2: return element<std::uint16_t>(a, i);
    case 4: return element<std::uint32_t>(a, i);
    default: return element<std::int64_t>(a, i);
  }
}

// Half types are integers in C.
DType literal_type(DType t) { return is_half(t) || t == DType::Bool ? DType::UInt16 : t; }

std::string elements_text(const Array& array) {
  if (exporting::is_zero(array)) return "{0}";
  std::string text = "{\n", line = "   ";
  for (std::int64_t i = 0; i < array.shape.numel(); i++) {
    const std::string word =
        " " + c_family::literal(bits_of(array, i), literal_type(array.dtype)) + ",";
    if (line.size() + word.size() > line_width) {
      text += line + "\n";
      line = "   ";
    }
    line += word;
  }
  return text + line + "\n}";
}

void add_array(std::string& text, const std::string& name, const Array& array,
               const CModel& model) {
  text += fmt::format("/* {}{} */\n",
                      array.label.empty() ? "" : exporting::in_comment(array.label) + ": ",
                      describe(array, model));
  text += fmt::format("static const {} {}[{}] = {};\n\n", c_type(array.dtype), name,
                      array.shape.numel(), elements_text(array));
}

}  // namespace

std::string start_name(const Array& field) { return "start_of_" + field.name; }

std::string weights_header_text(const CModel& model) {
  std::string text = fmt::format(
      "/* {0}_weights.h: what {0}.c alone includes. */\n"
      "#ifndef {1}_WEIGHTS_H\n"
      "#define {1}_WEIGHTS_H\n\n"
      "#include <math.h>\n"
      "#include <stdint.h>\n\n",
      model.name, upper(model.name));
  for (const Array& a : model.weights) {
    if (a.is_used) add_array(text, a.name, a, model);
  }
  for (const Array& a : model.state) {
    if (!exporting::is_zero(a)) add_array(text, start_name(a), a, model);
  }
  return text + "#endif\n";
}

exporting::WeightsFile weights_beside(const CModel& model) {
  return exporting::weights_file(model, 64);
}

}  // namespace croze::plain_c
