// header.cpp -- NAME.h: what a program sees of an exported model.
#include <fmt/format.h>

#include "croze/base/version.h"
#include "croze/export/c/texts.h"
#include "croze/export/c/words.h"

namespace croze::plain_c {
namespace {

std::string state_text(const CModel& model) {
  std::string text = fmt::format(
      "/**\n"
      " * @brief One instance of the model, with all that it remembers from run to run.\n"
      " *\n"
      " * Instances know nothing of each other, so several may run at once, each in one thread at "
      "a\n"
      " * time.  The fields may be read and written between runs.\n"
      " */\n"
      "typedef struct {0}_state {{\n"
      "  unsigned char* arena; /**< set by {0}_init */\n",
      model.name);
  if (!model.embed_weights) {
    text += fmt::format("  const unsigned char* weights; /**< set by {}_init */\n", model.name);
  }
  if (!model.random_keys.state.empty()) {
    text += "  uint64_t random_draws; /**< random keys drawn since the seed was set */\n";
  }
  for (const Array& a : model.state) {
    const std::string label = a.label.empty() ? "" : exporting::in_comment(a.label) + ": ";
    text += fmt::format("  {} {}[{}]; /**< {}{} */\n", c_type(a.dtype), a.name, a.shape.numel(),
                        label, describe(a, model));
  }
  return text + fmt::format("}} {}_state;\n", model.name);
}

std::string arena_text(const CModel& model) {
  return fmt::format(
      "/** Bytes of memory that a run works in; at least 1, so that an array may have them. */\n"
      "#define {0}_ARENA_BYTES {2}\n"
      "/** What the address of that memory must be a multiple of, in bytes; 64 is fastest. */\n"
      "#define {0}_ARENA_ALIGNMENT 8\n"
      "/** Results of functions. */\n"
      "enum {{ {0}_OK = 0, {0}_BAD_ARENA = 1{3}{4} }};\n",
      upper(model.name), model.name, model.arena_bytes,
      model.embed_weights ? "" : fmt::format(", {}_BAD_WEIGHTS = 2", upper(model.name)),
      model.sizes.empty() ? "" : fmt::format(", {}_BAD_SIZE = 3", upper(model.name)));
}

std::string init_comment(const CModel& model) {
  std::string text = fmt::format(
      "/**\n"
      " * @brief Makes an instance ready to run, in its starting state.\n"
      " *\n"
      " * @param self         the instance, of any contents\n"
      " * @param arena        memory for runs, of any contents, which the instance keeps; those "
      "that\n"
      " *                     never run at once may share it\n"
      " * @param arena_bytes  its size in bytes, at least {0}_ARENA_BYTES\n",
      upper(model.name));
  if (!model.embed_weights) {
    text += fmt::format(
        " * @param weights        the contents of {0}.weights, at a multiple of 8 bytes; they are\n"
        " *                       read, never written, may serve many instances, and stay as long\n"
        " *                       as these do\n"
        " * @param weights_bytes  their size in bytes\n",
        model.name);
  }
  text += fmt::format(
      " * @return {0}_OK, or {0}_BAD_ARENA if the arena is null, too small or not aligned{1};\n"
      " *         then the instance is not ready\n"
      " */\n",
      upper(model.name),
      model.embed_weights
          ? ""
          : fmt::format(",\n *         or {}_BAD_WEIGHTS if the weights are not those of this file",
                        upper(model.name)));
  return text;
}

std::string size_comment(const OpenSize& size) {
  const std::string label =
      size.label == size.name ? "" : fmt::format(" ({})", exporting::in_comment(size.label));
  const std::string multiple =
      size.multiple == 1 ? "" : fmt::format(", a multiple of {}", size.multiple);
  return fmt::format(" * @param {}  a size, from {} to {}{}{}\n", size.name, size.least, size.most,
                     multiple, label);
}

std::string functions_text(const CModel& model) {
  std::string text = fmt::format(
      "/** @brief Bytes of memory that a run works in: {1}_ARENA_BYTES. */\n"
      "size_t {0}_arena_bytes(void);\n\n",
      model.name, upper(model.name));
  text += init_comment(model);
  text += fmt::format("int {}_init({});\n\n", model.name, init_parameters(model));
  text += fmt::format(
      "/**\n"
      " * @brief Takes the state back to what it was when the model was exported.\n"
      " *\n"
      " * @param self  an instance that {0}_init has made ready\n"
      " */\n"
      "void {0}_reset({0}_state* self);\n\n",
      model.name);
  text += fmt::format(
      "/**\n"
      " * @brief One run of the model.\n"
      " *\n"
      " * Elements stand row by row, the last axis fastest.  No two of the arrays may overlap.\n"
      " *\n"
      " * @param self  an instance that {}_init has made ready\n",
      model.name);
  const auto describe_all = [&](const std::vector<Array>& arrays, std::string_view manner) {
    for (const Array& a : arrays) {
      const std::string label =
          a.label == a.name ? "" : fmt::format(" ({})", exporting::in_comment(a.label));
      text += fmt::format(" * @param {}  {}: {}{}\n", a.name, manner, describe(a, model), label);
    }
  };
  for (const OpenSize& s : model.sizes) text += size_comment(s);
  describe_all(model.inputs, "read");
  describe_all(model.outputs, "written");
  if (!model.sizes.empty()) {
    text += fmt::format(
        " * @return {0}_OK, or {0}_BAD_SIZE if a size is none of those; then nothing is written\n",
        upper(model.name));
  }
  return text + fmt::format(" */\n{} {}_run({});\n", model.sizes.empty() ? "void" : "int",
                            model.name, run_parameters(model));
}

}  // namespace

std::string describe(const Array& array, const CModel& model) {
  const std::int64_t n = array.shape.numel();
  const std::string_view manner = array.dtype == DType::Bool ? " (0 or 1)"
                                  : is_half(array.dtype)     ? " (its bits)"
                                                             : "";
  if (!array.sizes.empty()) {
    return fmt::format("{}{}, shape ({}), {} elements", name_of(array.dtype), manner,
                       fmt::join(sizes_in_c(array, model), ", "), elements_in_c(array, model));
  }
  return fmt::format("{}{}, shape {}, {} element{}", name_of(array.dtype), manner,
                     to_text(array.shape), n, n == 1 ? "" : "s");
}

std::string run_parameters(const CModel& model) {
  std::string text = model.name + "_state* self";
  for (const OpenSize& s : model.sizes) text += ", int64_t " + s.name;
  for (const Array& a : model.inputs) {
    text += fmt::format(", const {}* {}", c_type(a.dtype), a.name);
  }
  for (const Array& a : model.outputs) text += fmt::format(", {}* {}", c_type(a.dtype), a.name);
  return text;
}

std::string init_parameters(const CModel& model) {
  return fmt::format("{}_state* self, void* arena, size_t arena_bytes{}", model.name,
                     model.embed_weights ? "" : ", const void* weights, size_t weights_bytes");
}

std::string header_text(const CModel& model) {
  return fmt::format(
      "/**\n"
      " * @file {0}.h\n"
      " * @brief A model exported by croze {2}: C11 that needs libc and libm, and allocates "
      "nothing.\n"
      " */\n"
      "#ifndef {1}_H\n"
      "#define {1}_H\n\n"
      "#include <stddef.h>\n"
      "#include <stdint.h>\n\n"
      "#ifdef __cplusplus\n"
      "extern \"C\" {{\n"
      "#endif\n\n"
      "{3}\n{4}\n{5}\n"
      "#ifdef __cplusplus\n"
      "}}\n"
      "#endif\n\n"
      "#endif\n",
      model.name, upper(model.name), version(), arena_text(model), state_text(model),
      functions_text(model));
}

}  // namespace croze::plain_c
