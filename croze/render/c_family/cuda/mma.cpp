#include "croze/render/c_family/cuda/mma.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/render/mma_sync.h"
#include "croze/render/wgmma.h"

namespace croze::c_family {
namespace {

// What the assembler calls a register, and the type that one has.
struct RegisterWords {
  std::string_view constraint, type;
};
RegisterWords words_of_sums(DType t) {
  if (t == DType::Int32) return {"r", "int"};
  return t == DType::Float64 ? RegisterWords{"d", "double"} : RegisterWords{"f", "float"};
}
RegisterWords words_of_factors(DType t) {
  return t == DType::Float64 ? words_of_sums(t) : RegisterWords{"r", "unsigned int"};
}

// "%4, %5", and on.
std::string numbered(std::int64_t count, std::int64_t& next) {
  std::string text;
  for (std::int64_t k = 0; k < count; k++) text += fmt::format("{}%{}", k ? ", " : "", next++);
  return text;
}
// "\"r\"(x[2]), \"r\"(x[3])".
std::string listed(std::string_view constraint, std::string_view name, std::int64_t first,
                   std::int64_t count) {
  std::string text;
  for (std::int64_t k = 0; k < count; k++)
    text += fmt::format("{}\"{}\"({}[{}])", k ? ", " : "", constraint, name, first + k);
  return text;
}

// One instruction; `number`: of those of the unit.
std::string assembler_line(const MatrixUnit& unit, std::int64_t number) {
  const MmaSyncRegisters of = mma_sync_registers(unit);
  std::int64_t next = 0, first = 0;
  const std::string sums = numbered(of.sums, next), a = numbered(of.a, next),
                    b = numbered(of.b, next), again = numbered(of.sums, first);
  const std::string_view word = words_of_factors(unit.a).constraint;
  return fmt::format(
      "  asm volatile(\"{} {{{}}}, {{{}}}, {{{}}}, {{{}}};\"\n      : {}\n      : {}, {});\n",
      mma_sync_name(unit), sums, a, b, again,
      listed(fmt::format("+{}", words_of_sums(unit.accumulator).constraint), "sums", 0, of.sums),
      listed(word, "x", number * of.a, of.a), listed(word, "y", number * of.b, of.b));
}

// Factors as the instruction takes them: the same bits, or rounded.
std::string factors_line(const MatrixUnit& unit, std::string_view name, std::string_view from,
                         DType t, std::int64_t count) {
  const std::string array = fmt::format("  {} {}[{}];\n", words_of_factors(t).type, name, count);
  if (unit.factor_bits == 0)
    return array + fmt::format("  memcpy({0}, {1}, sizeof {0});\n", name, from);
  std::string text = array;
  for (std::int64_t k = 0; k < count; k++) {
    text +=
        fmt::format("  asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"({0}[{2}]) : \"f\"({1}[{2}]));\n",
                    name, from, k);
  }
  return text;
}

// Floats that the language has not are their bits.
std::string_view type_of_bits(const Dialect& dialect, DType t) {
  if (!dialect.type(t).empty()) return dialect.type(t);
  return dialect.type(size_of(t) == 1 ? DType::UInt8 : DType::UInt16);
}

// "static .. void mma_sync_bf16(float* sums, .. a, .. b) {", of the function of a unit.
Helper begun_helper(const Dialect& dialect, const MatrixUnit& unit) {
  Helper helper;
  helper.name = std::string(unit.name);
  std::ranges::replace(helper.name, '.', '_');
  helper.text = fmt::format("{} void {}({}* sums, const {}* a, const {}* b) {{\n", dialect.function,
                            helper.name, dialect.type(unit.accumulator),
                            type_of_bits(dialect, unit.a), type_of_bits(dialect, unit.b));
  return helper;
}

// "const unsigned long long x = ..;", the descriptor of a factor at a place.
std::string descriptor_line(std::string_view name, std::string_view place,
                            const WgmmaDescriptor& descriptor) {
  return fmt::format(
      "  const unsigned long long {} = {:#x}ull |\n"
      "      ((unsigned int)__cvta_generic_to_shared({}) & {:#x}) >> {};\n",
      name, descriptor.layout, place, wgmma_address_mask, wgmma_address_shift);
}

}  // namespace

Helper mma_helper(const Dialect& dialect, const MatrixUnit& unit) {
  const MmaSyncRegisters of = mma_sync_registers(unit);
  Helper helper = begun_helper(dialect, unit);
  helper.text += factors_line(unit, "x", "a", unit.a, of.a * unit.instructions) +
                 factors_line(unit, "y", "b", unit.b, of.b * unit.instructions);
  for (std::int64_t i = 0; i < unit.instructions; i++) helper.text += assembler_line(unit, i);
  helper.text += "}\n";
  return helper;
}

Helper wgmma_helper(const Dialect& dialect, const MatrixUnit& unit) {
  const WgmmaDescriptor a = wgmma_descriptor(unit, unit.places_of_a),
                        b = wgmma_descriptor(unit, unit.places_of_b);
  const std::int64_t sums = places_of_thread(unit, unit.places_of_sums);
  std::string registers, outputs, inputs, lines;
  for (std::int64_t k = 0; k < sums; k++) {
    registers += fmt::format("{}%{}", k ? ", " : "", k);
    outputs += fmt::format("{}\"+{}\"(sums[{}])", k ? ", " : "",
                           is_float(unit.accumulator) ? 'f' : 'r', k);
  }
  for (std::int64_t i = 0; i < unit.instructions; i++) {
    lines += fmt::format("      \"{} {{{}}}, %{}, %{}, {};\\n\"\n", wgmma_name(unit), registers,
                         sums + 2 * i, sums + 2 * i + 1, wgmma_modifiers(unit));
    inputs += fmt::format("{}\"l\"(x + {}), \"l\"(y + {})", i ? ", " : "", i * a.step, i * b.step);
  }
  Helper helper = begun_helper(dialect, unit);
  helper.text += descriptor_line("x", "a", a) + descriptor_line("y", "b", b) +
                 fmt::format(
                     "  asm volatile(\"wgmma.fence.sync.aligned;\\n\"\n{}"
                     "      \"wgmma.commit_group.sync.aligned;\"\n"
                     "      : {}\n      : {}\n      : \"memory\");\n}}\n",
                     lines, outputs, inputs);
  return helper;
}

Helper ldmatrix_helper(const Dialect& dialect, DType t, std::int64_t lanes, bool transposed) {
  const std::int64_t words = lanes / 2;
  std::int64_t next = 0;
  const std::string registers = numbered(words, next);
  Helper helper;
  helper.name = fmt::format("load_matrix_{}{}", words, transposed ? "_transposed" : "");
  helper.text = fmt::format(
      "{0} void {1}({2}* to, const {2}* from) {{\n"
      "  unsigned int x[{3}];\n"
      "  const unsigned int place = (unsigned int)__cvta_generic_to_shared(from);\n"
      "  asm volatile(\"{4} {{{5}}}, [%{3}];\"\n      : {6}\n      : \"r\"(place) : \"memory\");\n"
      "  memcpy(to, x, sizeof x);\n"
      "}}\n",
      dialect.function, helper.name, type_of_bits(dialect, t), words,
      ldmatrix_name(words, transposed), registers, listed("=r", "x", 0, words));
  return helper;
}

}  // namespace croze::c_family
