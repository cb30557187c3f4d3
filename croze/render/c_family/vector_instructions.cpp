// vector_instructions.cpp -- intrinsics by their names, which follow from dtype and lanes.
//
// Compilers find the multiply-add in a loop over the lanes of two vectors in some places and take
// the vectors apart in others, which costs tens of times as much.  A gated access they do lane by
// lane always, and square roots where those of negative numbers have to set errno.
#include "croze/render/c_family/vector_instructions.h"

#include <fmt/format.h>

namespace croze::c_family {
namespace {

struct Words {
  std::int64_t bytes;       // of a vector
  std::string prefix;       // _mm512
  std::string suffix;       // ps, pd, epi32, epi64
  std::string type;         // __m512, __m512d, __m512i
  std::string integers;     // __m512i
  std::string element;      // what the accesses of AVX2 point to
  std::int64_t mask_width;  // 32 or 64
};

Words x86_words(DType t, std::int64_t lanes) {
  const std::int64_t bytes = lanes * size_of(t), width = 8 * size_of(t);
  const bool is_wide = width == 64;
  const std::string bits = fmt::format("{}", 8 * bytes);
  Words w{.bytes = bytes,
          .prefix = "_mm" + (bytes == 16 ? "" : bits),
          .suffix = is_float(t) ? (is_wide ? "pd" : "ps") : fmt::format("epi{}", width),
          .type = "__m" + bits,
          .integers = "__m" + bits + "i",
          .element = is_wide ? "long long" : "int",
          .mask_width = width};
  w.type += is_float(t) ? (is_wide ? "d" : "") : "i";
  if (is_float(t)) w.element = is_wide ? "double" : "float";
  return w;
}

// "(int32x16){0, 1, 2, ..} * (step)" as integers of the processor.
std::string steps_text(const Words& w, const std::string& mask, std::int64_t lanes) {
  std::string numbers;
  for (std::int64_t k = 0; k < lanes; k++) numbers += fmt::format("{}{}", k ? ", " : "", k);
  return fmt::format("({})(({}){{{}}} * (step))", w.integers, mask, numbers);
}

bool is_register(std::int64_t bytes) { return bytes == 16 || bytes == 32 || bytes == 64; }

std::string in_macro(std::string_view head, std::string_view body) {
  return fmt::format("#define {} \\\n  do {{ {} }} while (0)\n", head, body);
}

// With instructions of AVX-512, with those of AVX2 for vectors that it has, and without.
Helper gated(const std::string& name, const std::string& parameters, const Words& w,
             const std::string& avx512, const std::string& avx2, const std::string& loop) {
  const std::string head = name + parameters;
  std::string text;
  if (is_register(w.bytes) && w.mask_width >= 32) {
    text += fmt::format("#if CROZE_VECTORS && defined(__AVX512DQ__){}\n{}",
                        w.bytes == 64 ? "" : " && defined(__AVX512VL__)", in_macro(head, avx512));
    if (w.bytes < 64) {
      text += fmt::format("#elif CROZE_VECTORS && defined(__AVX2__)\n{}", in_macro(head, avx2));
    }
    text += fmt::format("#else\n{}#endif\n", in_macro(head, loop));
  } else {
    text = in_macro(head, loop);
  }
  return {name, text};
}

}  // namespace

Helper fma_macro(const std::string& vector, DType t, std::int64_t lanes) {
  const Words w = x86_words(t, lanes);
  const std::string name = "fma_" + vector, head = name + "(result, a, b, c)";
  const std::string loop = in_macro(
      head, fmt::format("for (int k = 0; k < {}; k++) (result)[k] = fma{}((a)[k], (b)[k], (c)[k]);",
                        lanes, t == DType::Float32 ? "f" : ""));
  if (!is_register(w.bytes)) return {name, loop};
  std::string text = fmt::format(
      "#if CROZE_VECTORS && defined({})\n{}", w.bytes == 64 ? "__AVX512F__" : "__FMA__",
      in_macro(head, fmt::format("(result) = ({0}){1}_fmadd_{2}(({3})(a), ({3})(b), ({3})(c));",
                                 vector, w.prefix, w.suffix, w.type)));
  if (w.bytes == 16) {
    const std::int64_t width = 8 * size_of(t);
    const std::string neon = fmt::format("float{}x{}_t", width, lanes);
    text += fmt::format(
        "#elif CROZE_VECTORS && defined(__aarch64__)\n{}",
        in_macro(head, fmt::format("(result) = ({0})vfmaq_f{1}(({2})(c), ({2})(a), ({2})(b));",
                                   vector, width, neon)));
  }
  return {name, text + "#else\n" + loop + "#endif\n"};
}

Helper sqrt_macro(const std::string& vector, DType t, std::int64_t lanes) {
  const Words w = x86_words(t, lanes);
  const std::string name = "sqrt_" + vector, function = t == DType::Float32 ? "sqrtf" : "sqrt";
  std::string each;
  for (std::int64_t k = 0; k < lanes; k++) {
    each += fmt::format("{}{}((a)[{}])", k ? ", " : "", function, k);
  }
  const std::string list = fmt::format("#define {}(a) (({}){{{}}})\n", name, vector, each);
  if (!is_register(w.bytes)) return {name, list};
  return {name, fmt::format("#if CROZE_VECTORS && defined({})\n"
                            "#define {}(a) (({}){}_sqrt_{}(({})(a)))\n"
                            "#else\n{}#endif\n",
                            w.bytes == 64 ? "__AVX512F__" : "__AVX__", name, vector, w.prefix,
                            w.suffix, w.type, list)};
}

Helper load_macro(const std::string& vector, const std::string& mask, DType t, std::int64_t lanes) {
  const Words w = x86_words(t, lanes);
  return gated(
      "load_" + vector, "(result, open, mask, base, at)", w,
      fmt::format("(result) = ({0}){1}_maskz_loadu_{2}({1}_movepi{3}_mask(({4})(mask)), "
                  "(base) + (at));",
                  vector, w.prefix, w.suffix, w.mask_width, w.integers),
      fmt::format("(result) = ({0}){1}_maskload_{2}((const {3}*)((base) + (at)), ({4})(mask));",
                  vector, w.prefix, w.suffix, w.element, w.integers),
      fmt::format("const {1} lanes_ = (mask); "
                  "if (open) (result) = *(const {0}_at*)&(base)[at]; else "
                  "for (int k = 0; k < {2}; k++) (result)[k] = lanes_[k] ? (base)[(at) + k] : 0;",
                  vector, mask, lanes));
}

Helper store_macro(const std::string& vector, const std::string& mask, DType t,
                   std::int64_t lanes) {
  const Words w = x86_words(t, lanes);
  const std::string whole = fmt::format("if (open) *({}_at*)&(base)[at] = (value); else ", vector);
  return gated(
      "store_" + vector, "(value, open, mask, base, at)", w,
      fmt::format("{0}_mask_storeu_{1}((base) + (at), {0}_movepi{2}_mask(({3})(mask)), "
                  "({4})(value));",
                  w.prefix, w.suffix, w.mask_width, w.integers, w.type),
      // Of AMD's processors some take long for these.
      whole + fmt::format("{}_maskstore_{}(({}*)((base) + (at)), ({})(mask), ({})(value));",
                          w.prefix, w.suffix, w.element, w.integers, w.type),
      fmt::format("const {0} values_ = (value); const {1} lanes_ = (mask); "
                  "if (open) *({0}_at*)&(base)[at] = values_; else "
                  "for (int k = 0; k < {2}; k++) if (lanes_[k]) (base)[(at) + k] = values_[k];",
                  vector, mask, lanes));
}

Helper gather_macro(const std::string& vector, const std::string& mask, DType t,
                    std::int64_t lanes) {
  const Words w = x86_words(t, lanes);
  const std::string steps = steps_text(w, mask, lanes);
  return gated("gather_" + vector, "(result, mask, base, at, step)", w,
               fmt::format("(result) = ({0}){1}_{2}i32gather_{3}({4}, {5});", vector, w.prefix,
                           w.bytes == 64 ? "mask_" : "mmask_", w.suffix,
                           fmt::format("({0}){1}_setzero_si{2}(), {1}_movepi32_mask(({3})(mask))",
                                       w.type, w.prefix, 8 * w.bytes, w.integers),
                           fmt::format("{}, (base) + (at), 4", steps)),
               fmt::format("(result) = ({0}){1}_mask_i32gather_{2}(({3}){1}_setzero_si{4}(), "
                           "(const {5}*)((base) + (at)), {6}, ({7})(mask), 4);",
                           vector, w.prefix, w.suffix, w.type, 8 * w.bytes, w.element, steps,
                           is_float(t) ? w.type : w.integers),
               fmt::format("const {0} lanes_ = (mask); for (int k = 0; k < {1}; k++) "
                           "(result)[k] = lanes_[k] ? (base)[(at) + k * (int64_t)(step)] : 0;",
                           mask, lanes));
}

Helper look_up_macro(const std::string& vector, const std::string& mask, DType t,
                     std::int64_t lanes) {
  const Words w = x86_words(t, lanes);
  const std::string places = fmt::format("({})__builtin_convertvector((at), {})", w.integers, mask);
  return gated(
      "look_up_" + vector, "(result, mask, base, at)", w,
      fmt::format("(result) = ({0}){1}_{2}i32gather_{3}({1}_setzero_{4}(), "
                  "{1}_movepi32_mask(({5})(mask)), {6}, (base), 4);",
                  vector, w.prefix, w.bytes == 64 ? "mask_" : "mmask_", w.suffix,
                  is_float(t) ? w.suffix : fmt::format("si{}", 8 * w.bytes), w.integers, places),
      fmt::format("(result) = ({0}){1}_mask_i32gather_{2}({1}_setzero_{3}(), "
                  "(const {4}*)(base), {5}, ({6})(mask), 4);",
                  vector, w.prefix, w.suffix,
                  is_float(t) ? w.suffix : fmt::format("si{}", 8 * w.bytes), w.element, places,
                  is_float(t) ? w.type : w.integers),
      fmt::format("const {0} lanes_ = (mask); for (int k = 0; k < {1}; k++) "
                  "(result)[k] = lanes_[k] ? (base)[(at)[k]] : 0;",
                  mask, lanes));
}

Helper scatter_macro(const std::string& vector, const std::string& mask, DType t,
                     std::int64_t lanes) {
  const Words w = x86_words(t, lanes);
  const std::string loop = fmt::format(
      "const {0} values_ = (value); const {1} lanes_ = (mask); "
      "for (int k = 0; k < {2}; k++) "
      "if (lanes_[k]) (base)[(at) + k * (int64_t)(step)] = values_[k];",
      vector, mask, lanes);
  return gated("scatter_" + vector, "(value, mask, base, at, step)", w,
               fmt::format("{0}_mask_i32scatter_{1}((base) + (at), {0}_movepi32_mask(({2})(mask)), "
                           "{3}, ({4})(value), 4);",
                           w.prefix, w.suffix, w.integers, steps_text(w, mask, lanes), w.type),
               loop, loop);
}

Helper select_macro(const std::string& vector, const std::string& mask, DType t,
                    std::int64_t lanes) {
  const Words w = x86_words(t, lanes);
  const std::string name = "select_" + vector, head = name + "(mask, a, b)";
  const std::string bits = fmt::format(
      "#define {0} (({1})(((mask) & ({2})(a)) | (~(mask) & ({2})(b))))\n", head, vector, mask);
  if (!is_register(w.bytes) || w.mask_width < 32) return {name, bits};
  return {name,
          fmt::format("#if CROZE_VECTORS && defined(__AVX512DQ__){0}\n"
                      "#define {1} \\\n  (({2}){3}_mask_blend_{4}({3}_movepi{5}_mask(({6})(mask)"
                      "), ({7})(b), ({7})(a)))\n#else\n{8}#endif\n",
                      w.bytes == 64 ? "" : " && defined(__AVX512VL__)", head, vector, w.prefix,
                      w.suffix, w.mask_width, w.integers, w.type, bits)};
}

// Two vectors from the first element that is read to the last, and a shuffle.
Helper every_other_macro(const std::string& vector, std::int64_t lanes) {
  const std::string name = "every_other_" + vector, head = name + "(from)";
  std::string chosen, elements;
  for (std::int64_t k = 0; k < lanes; k++) {
    chosen += fmt::format(", {}", 2 * k < lanes ? 2 * k : 2 * k + 1);
    elements += fmt::format("{}(from)[{}]", k ? ", " : "", 2 * k);
  }
  const std::string shuffle = fmt::format(
      "#define {0} \\\n  __builtin_shufflevector(*(const {1}_at*)(from), \\\n"
      "                          *(const {1}_at*)((from) + {2}){3})\n",
      head, vector, lanes - 1, chosen);
  return {name, fmt::format("#if defined(CROZE_SHUFFLES)\n{}#else\n#define {} (({}){{{}}})\n"
                            "#endif\n",
                            shuffle, head, vector, elements)};
}

Helper instructions_header() {
  return {"instructions",
          "#if CROZE_VECTORS && defined(__AVX__)\n"
          "#include <immintrin.h>\n"
          "#elif CROZE_VECTORS && defined(__aarch64__)\n"
          "#include <arm_neon.h>\n"
          "#endif\n"
          "#if CROZE_VECTORS && defined(__has_builtin)\n"
          "#if __has_builtin(__builtin_shufflevector)\n"
          "#define CROZE_SHUFFLES\n"
          "#endif\n"
          "#endif\n"};
}

}  // namespace croze::c_family
