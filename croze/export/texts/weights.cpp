// weights.cpp -- the contents of weights and of the state at the start: arrays of C, or a file.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "croze/base/hash.h"
#include "croze/export/names.h"
#include "croze/export/texts/texts.h"

namespace croze::plain_c {
namespace {

constexpr std::int64_t alignment = 64;
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
  if (is_zero(array)) return "{0}";
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

void add_array(std::string& text, const std::string& name, const Array& array) {
  text += fmt::format("/* {}{} */\n", array.label.empty() ? "" : in_comment(array.label) + ": ",
                      describe(array));
  text += fmt::format("static const {} {}[{}] = {};\n\n", c_type(array.dtype), name,
                      array.shape.numel(), elements_text(array));
}

// Appends the contents at a multiple of the alignment; returns where.
std::int64_t append(std::string& bytes, const Array& array) {
  const std::int64_t at = (std::ssize(bytes) + alignment - 1) & -alignment;
  bytes.resize(static_cast<std::size_t>(at));
  bytes.append(reinterpret_cast<const char*>(array.contents.data()), array.contents.size());
  return at;
}

}  // namespace

bool is_zero(const Array& array) {
  return std::ranges::all_of(array.contents, [](std::byte b) { return b == std::byte{0}; });
}

std::string start_name(const Array& field) { return "start_of_" + field.name; }

std::string weights_header_text(const Model& model) {
  std::string text = fmt::format(
      "/* {0}_weights.h: what {0}.c alone includes. */\n"
      "#ifndef {1}_WEIGHTS_H\n"
      "#define {1}_WEIGHTS_H\n\n"
      "#include <math.h>\n"
      "#include <stdint.h>\n\n",
      model.name, upper(model.name));
  for (const Array& a : model.weights) {
    if (a.is_used) add_array(text, a.name, a);
  }
  for (const Array& a : model.state) {
    if (!is_zero(a)) add_array(text, start_name(a), a);
  }
  return text + "#endif\n";
}

WeightsFile weights_file(const Model& model) {
  WeightsFile file;
  file.bytes.resize(sizeof file.tag);
  for (const Array& a : model.weights) {
    file.weights.push_back(a.is_used ? append(file.bytes, a) : -1);
  }
  for (const Array& a : model.state) {
    file.state.push_back(is_zero(a) ? -1 : append(file.bytes, a));
  }
  file.tag = hash_bytes(file.bytes);
  std::memcpy(file.bytes.data(), &file.tag, sizeof file.tag);
  return file;
}

}  // namespace croze::plain_c
