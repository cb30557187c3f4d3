// project.cpp -- CMakeLists.txt and main.c: how an exported model is built and called.
#include <fmt/format.h>

#include <algorithm>

#include "croze/export/c/texts.h"
#include "croze/export/c/words.h"

namespace croze::plain_c {
namespace {

// A printf format of one element and the element as its argument.
struct Printed {
  std::string_view format, cast;
};

Printed printed(DType t) {
  if (t == DType::Float32 || t == DType::Float64) return {"%g", "(double)"};
  if (is_half(t)) return {"0x%04x", "(unsigned)"};
  return is_unsigned(t) ? Printed{"%llu", "(unsigned long long)"} : Printed{"%lld", "(long long)"};
}

std::string print_text(const Array& output) {
  const auto [format, cast] = printed(output.dtype);
  const Shape& shape = output.sizes.empty() ? output.shape : output.example;
  const std::int64_t shown = std::min<std::int64_t>(shape.numel(), 8);
  return fmt::format(
      "  printf(\"{0}:\");\n"
      "  for (int i = 0; i < {1}; i++) printf(\" {2}\", {3}{0}[i]);\n"
      "  printf(\"{4}\\n\");\n",
      output.name, shown, format, cast, shown < shape.numel() ? " .." : "");
}

// Reads the file of weights into an array that is part of the program.
std::string read_weights_text(const CModel& model) {
  return fmt::format(
      "static int read_weights(const char* path) {{\n"
      "  FILE* file = fopen(path, \"rb\");\n"
      "  if (!file) return 0;\n"
      "  const size_t bytes = fread(weights, 1, sizeof weights, file);\n"
      "  fclose(file);\n"
      "  return bytes == sizeof weights;\n"
      "}}\n\n"
      "int main(int count, char** arguments) {{\n"
      "  const char* path = count > 1 ? arguments[1] : \"{0}.weights\";\n"
      "  if (!read_weights(path)) {{\n"
      "    fprintf(stderr, \"cannot read %s\\n\", path);\n"
      "    return 1;\n"
      "  }}\n",
      model.name);
}

}  // namespace

std::string cmake_text(const CModel& model) {
  return fmt::format(
      "# The model {0} as a library, and a program that calls it.\n"
      "cmake_minimum_required(VERSION 3.16)\n"
      "project({0} LANGUAGES C)\n"
      "if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)\n"
      "  set(CMAKE_BUILD_TYPE Release)\n"
      "endif()\n\n"
      "add_library({0} {0}.c)\n"
      "target_include_directories({0} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})\n"
      "set_target_properties({0} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS "
      "OFF)\n"
      "if(CMAKE_C_COMPILER_ID MATCHES \"GNU|Clang\")\n"
      "  # Contraction would change results; errno would make calls of square roots.\n"
      "  target_compile_options({0} PRIVATE -O3 -ffp-contract=off -fno-math-errno)\n"
      "endif()\n"
      "find_library({0}_MATHS m)\n"
      "if({0}_MATHS)\n"
      "  target_link_libraries({0} PUBLIC m)\n"
      "endif()\n\n"
      "add_executable({0}_example main.c)\n"
      "set_target_properties({0}_example PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)\n"
      "target_link_libraries({0}_example PRIVATE {0})\n",
      model.name);
}

std::string example_text(const CModel& model) {
  std::string text = fmt::format(
      "/* main.c: one run of {0} over zeros, in memory that is part of the program. */\n"
      "#include <stdalign.h>\n"
      "#include <stdio.h>\n\n"
      "#include \"{0}.h\"\n\n"
      "static alignas(64) unsigned char arena[{1}_ARENA_BYTES];\n"
      "static {0}_state state;\n",
      model.name, upper(model.name));
  const bool beside = !model.embed_weights;
  if (beside) {
    text += fmt::format("static alignas(64) unsigned char weights[{}];\n",
                        weights_beside(model).bytes.size());
  }
  std::string arguments = "&state";
  for (const OpenSize& s : model.sizes) arguments += fmt::format(", {}", s.example);
  for (const std::vector<Array>* list : {&model.inputs, &model.outputs}) {
    for (const Array& a : *list) {
      text += fmt::format("static {} {}[{}];\n", c_type(a.dtype), a.name, a.shape.numel());
      arguments += ", " + a.name;
    }
  }
  text += "\n";
  text += beside ? read_weights_text(model) : "int main(void) {\n";
  text += fmt::format(
      "  if ({0}_init(&state, arena, sizeof arena{1}) != {2}_OK) return 1;\n"
      "  {4}{0}_run({3}){5};\n",
      model.name, beside ? ", weights, sizeof weights" : "", upper(model.name), arguments,
      model.sizes.empty() ? "" : "if (",
      model.sizes.empty() ? "" : fmt::format(" != {}_OK) return 1", upper(model.name)));
  for (const Array& output : model.outputs) text += print_text(output);
  return text + "  return 0;\n}\n";
}

}  // namespace croze::plain_c
