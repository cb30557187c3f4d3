// source.cpp -- NAME.c: kernels, and the functions that call them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "croze/export/c/texts.h"
#include "croze/export/c/words.h"

namespace croze::plain_c {
namespace {

// Kernels are given as single operations, each rounded; a compiler that joins them or takes floats
// for real numbers would give other results.
constexpr std::string_view float_guards =
    "#if defined(__FAST_MATH__)\n"
    "#error \"compile without -ffast-math: results would not be those of the model\"\n"
    "#endif\n"
    "#if defined(__clang__)\n"
    "#pragma STDC FP_CONTRACT OFF\n"
    "#elif defined(__GNUC__) && !defined(__STRICT_ANSI__)\n"
    "#pragma GCC optimize(\"fp-contract=off\")\n"
    "#endif\n";

// The arena has elements of one type after those of another in one place.  Seen as one function,
// the accesses of two kernels could be taken for apart by their types, and be reordered.
// Helpers may be used with vectors only, or without.
constexpr std::string_view kernel_macro =
    "#if defined(__GNUC__)\n"
    "#define CROZE_KERNEL __attribute__((noinline))\n"
    "#define CROZE_HELPER __attribute__((unused))\n"
    "#else\n"
    "#define CROZE_KERNEL\n"
    "#define CROZE_HELPER\n"
    "#endif\n";

// Vector types are an extension of C; without it a vector is a loop over its lanes.  The results
// are the same.
constexpr std::string_view vector_macro =
    "#if !defined(CROZE_VECTORS)\n"
    "#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9)\n"
    "#define CROZE_VECTORS 1\n"
    "#else\n"
    "#define CROZE_VECTORS 0\n"
    "#endif\n"
    "#endif\n";

constexpr std::string_view at_text =
    "static inline void* croze_at(void* memory, size_t offset) {\n"
    "  return (unsigned char*)memory + offset;\n"
    "}\n";
constexpr std::string_view at_const_text =
    "static inline const void* croze_at_const(const void* memory, size_t offset) {\n"
    "  return (const unsigned char*)memory + offset;\n"
    "}\n";

// As kernels divide: down, and by 0 there is nothing.
constexpr std::string_view divide_text =
    "static inline int64_t croze_floor_div(int64_t a, int64_t b) {\n"
    "  return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));\n"
    "}\n";
constexpr std::string_view remainder_text =
    "static inline int64_t croze_mod(int64_t a, int64_t b) {\n"
    "  return b == 0 ? a : a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);\n"
    "}\n";
constexpr std::string_view greater_text =
    "static inline int64_t croze_greater(int64_t a, int64_t b) { return a > b ? a : b; }\n";
constexpr std::string_view lesser_text =
    "static inline int64_t croze_lesser(int64_t a, int64_t b) { return a < b ? a : b; }\n";

// hash_mix() of base/hash.h, without integers of 128 bits.
constexpr std::string_view random_key_text =
    "static uint64_t croze_random_key(uint64_t seed, uint64_t draw) {\n"
    "  const uint64_t a = seed ^ UINT64_C(0x243f6a8885a308d3);\n"
    "  const uint64_t b = draw ^ UINT64_C(0x9e3779b97f4a7c15);\n"
    "  const uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;\n"
    "  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);\n"
    "  const uint64_t other = a0 * b1 + (middle & UINT32_MAX);\n"
    "  const uint64_t high = a1 * b1 + (middle >> 32) + (other >> 32);\n"
    "  return (a * b) ^ high;\n"
    "}\n";

class SourceWriter {
 public:
  explicit SourceWriter(const CModel& model) : model_(model) {
    if (!model.embed_weights) file_ = weights_beside(model);
  }

  std::string write() {
    const std::string run = run_text(), reset = reset_text();
    std::string text = fmt::format(
        "/* {0}.c: a model exported by croze; {0}.h says how it is used. */\n"
        "#include \"{0}.h\"\n\n"
        "#include <math.h>\n"
        "#include <string.h>\n\n",
        model_.name);
    if (model_.embed_weights) text += fmt::format("#include \"{}_weights.h\"\n\n", model_.name);
    text += fmt::format("{}\n{}\n{}", float_guards, kernel_macro, vector_macro);
    for (const c_family::Helper& helper : model_.helpers) {
      const bool is_function = helper.text.starts_with("static");
      text += fmt::format("\n{}{}", is_function ? "CROZE_HELPER " : "", helper.text);
    }
    for (const Function& f : model_.functions) text += "\n" + function_text(f);
    const std::string calls = run + reset;
    constexpr std::pair<std::string_view, std::string_view> helpers[] = {
        {divide_name, divide_text},
        {remainder_name, remainder_text},
        {greater_name, greater_text},
        {lesser_name, lesser_text}};
    for (const auto& [name, helper] : helpers) {
      if (calls.find(name) != calls.npos) text += "\n" + std::string(helper);
    }
    if (calls.find("croze_at(") != calls.npos) text += "\n" + std::string(at_text);
    if (calls.find("croze_at_const(") != calls.npos) text += "\n" + std::string(at_const_text);
    if (!model_.random_keys.state.empty()) text += "\n" + std::string(random_key_text);
    return text + "\n" + init_text() + "\n" + reset + "\n" + run;
  }

 private:
  static std::string function_text(const Function& f) {
    std::string text = fmt::format("/**\n * @brief {}.\n", f.comment);
    for (std::size_t i = 0; i < f.parameters.size(); i++) {
      text += fmt::format(" * @param b{}  {}\n", i, f.parameters[i].comment);
    }
    for (int i = 0; i < f.variables; i++) {
      text += fmt::format(" * @param a{}  a size, or the place of the part that is computed\n", i);
    }
    if (f.scratch_bytes >= 0) {
      text += fmt::format(" * @param scratch  {} bytes of any contents\n", f.scratch_bytes);
    }
    text += " */\nCROZE_KERNEL ";
    if (f.vector_text.empty()) return text + f.text;
    return text + "\n#if CROZE_VECTORS\n" + f.vector_text + "#else\n" + f.text + "#endif\n";
  }

  // ---- init and reset ----

  std::string init_text() const {
    std::string text = fmt::format(
        "size_t {0}_arena_bytes(void) {{ return {1}_ARENA_BYTES; }}\n\n"
        "int {0}_init({2}) {{\n"
        "  if (arena == NULL || arena_bytes < {1}_ARENA_BYTES ||\n"
        "      (uintptr_t)arena % {1}_ARENA_ALIGNMENT != 0) {{\n"
        "    return {1}_BAD_ARENA;\n"
        "  }}\n",
        model_.name, upper(model_.name), init_parameters(model_));
    if (!model_.embed_weights) {
      text += fmt::format(
          "  const uint64_t expected = UINT64_C({});\n"
          "  if (weights == NULL || weights_bytes != {} ||\n"
          "      memcmp(weights, &expected, sizeof expected) != 0) {{\n"
          "    return {}_BAD_WEIGHTS;\n"
          "  }}\n"
          "  self->weights = (const unsigned char*)weights;\n",
          file_.tag, file_.bytes.size(), upper(model_.name));
    }
    return text + fmt::format(
                      "  self->arena = (unsigned char*)arena;\n"
                      "  {}_reset(self);\n"
                      "  return {}_OK;\n"
                      "}}\n",
                      model_.name, upper(model_.name));
  }

  std::string reset_text() const {
    std::string body;
    if (!model_.random_keys.state.empty()) {
      body += fmt::format("  self->random_draws = {}u;\n", model_.random_keys.draws);
    }
    for (std::size_t i = 0; i < model_.state.size(); i++) {
      const Array& a = model_.state[i];
      if (exporting::is_zero(a)) {
        body += fmt::format("  memset(self->{0}, 0, sizeof self->{0});\n", a.name);
      } else {
        const std::string start = model_.embed_weights ? start_name(a) : in_weights(file_.state[i]);
        body += fmt::format("  memcpy(self->{0}, {1}, sizeof self->{0});\n", a.name, start);
      }
    }
    if (body.empty()) body = "  (void)self;\n";
    return fmt::format("void {0}_reset({0}_state* self) {{\n{1}}}\n", model_.name, body);
  }

  static std::string in_weights(std::int64_t offset) {
    return fmt::format("croze_at_const(self->weights, {})", offset);
  }

  // ---- run ----

  std::string run_text() const {
    std::string body;
    for (const OpenSize& s : model_.sizes) body += check_text(s);
    for (const Copy& copy : model_.copies_in) body += copy_text(copy);
    for (int key : model_.random_keys.state) {
      body +=
          fmt::format("  self->{}[0] = croze_random_key({}u, ++self->random_draws);\n",
                      model_.state[static_cast<std::size_t>(key)].name, model_.random_keys.seed);
    }
    for (const CallSequence& s : model_.sequences) body += sequence_text(s);
    for (const Copy& copy : model_.copies_out) body += copy_text(copy);
    std::string unused;
    if (body.find("self->") == body.npos) unused += "  (void)self;\n";
    for (std::size_t i = 0; i < model_.inputs.size(); i++) {
      if (!is_read(static_cast<int>(i)))
        unused += fmt::format("  (void){};\n", model_.inputs[i].name);
    }
    const bool returns = !model_.sizes.empty();
    if (returns) body += fmt::format("  return {}_OK;\n", upper(model_.name));
    return fmt::format("{} {}_run({}) {{\n{}{}}}\n", returns ? "int" : "void", model_.name,
                       run_parameters(model_), unused, body);
  }

  // What no kernel was made for.
  std::string check_text(const OpenSize& size) const {
    std::string wrong = fmt::format("{0} < {1} || {0} > {2}", size.name, size.least, size.most);
    if (size.multiple > 1) wrong += fmt::format(" || {} % {} != 0", size.name, size.multiple);
    return fmt::format("  if ({}) return {}_BAD_SIZE;\n", wrong, upper(model_.name));
  }

  bool is_read(int input) const {
    const auto is_it = [=](const Place& p) {
      return p.kind == Place::Kind::Input && p.number == input;
    };
    for (const CallSequence& s : model_.sequences) {
      for (const Call& c : s.calls) {
        if (std::ranges::any_of(c.buffers, is_it, &View::place)) return true;
      }
    }
    return std::ranges::any_of(model_.copies_in, is_it, &Copy::from);
  }

  std::string copy_text(const Copy& copy) const {
    return fmt::format("  memcpy({}, {}, {});\n", address(copy.to, ""), address(copy.from, ""),
                       bytes_in_c(model_.copied(copy), model_));
  }

  std::string sequence_text(const CallSequence& sequence) const {
    std::string text, indent = "  ";
    const int axes = static_cast<int>(sequence.blocks.size());
    for (int i = 0; i < axes; i++) {
      text += fmt::format("{0}for (int64_t block{1} = 0; block{1} < {2}; block{1}++) {{\n", indent,
                          i, sequence.blocks[static_cast<std::size_t>(i)]);
      indent += "  ";
    }
    for (const Call& call : sequence.calls) text += indent + call_text(call, axes) + "\n";
    for (int i = 0; i < axes; i++) {
      indent.resize(indent.size() - 2);
      text += indent + "}\n";
    }
    return text;
  }

  std::string call_text(const Call& call, int axes) const {
    const Function& f = model_.functions[static_cast<std::size_t>(call.program)];
    std::string arguments;
    const auto add = [&](const std::string& text) {
      arguments += (arguments.empty() ? "" : ", ") + text;
    };
    for (std::size_t i = 0; i < call.buffers.size(); i++) {
      add(address(call.buffers[i].place, f.parameters[i].type));
    }
    for (int i = 0; i < f.variables; i++) {
      add(i < axes ? fmt::format("block{}", i)
                   : in_c(call.variables[static_cast<std::size_t>(i - axes)], model_));
    }
    if (f.scratch_bytes >= 0) {
      add(fmt::format("croze_at(self->arena, {})", model_.scratch_offset));
    }
    return fmt::format("{}({});", f.name, arguments);
  }

  // A pointer to a place, which converts to one to elements of `type` (a void* if it is empty).
  std::string address(const Place& place, std::string_view type) const {
    const auto number = static_cast<std::size_t>(place.number);
    const auto within = [&](const Array& array, const std::string& name, std::string_view at) {
      const bool fits = type.empty() || c_type(array.dtype) == type;
      return place.offset == 0 && fits ? name : fmt::format("{}({}, {})", at, name, place.offset);
    };
    switch (place.kind) {
      case Place::Kind::Input:
        return within(model_.inputs[number], model_.inputs[number].name, "croze_at_const");
      case Place::Kind::Output:
        return within(model_.outputs[number], model_.outputs[number].name, "croze_at");
      case Place::Kind::State:
        return within(model_.state[number], "self->" + model_.state[number].name, "croze_at");
      case Place::Kind::Weight:
        if (!model_.embed_weights) return in_weights(file_.weights[number] + place.offset);
        return within(model_.weights[number], model_.weights[number].name, "croze_at_const");
      case Place::Kind::Arena: break;
    }
    return fmt::format("croze_at(self->arena, {})", place.offset);
  }

  const CModel& model_;
  exporting::WeightsFile file_;  // if weights are not embedded
};

}  // namespace

std::string source_text(const CModel& model) { return SourceWriter(model).write(); }

}  // namespace croze::plain_c
