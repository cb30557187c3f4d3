// llvm_contract.cpp -- by tiles, by instructions that add to their sums, and by such that do not.
#include "croze/render/llvm_contract.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>

namespace croze {
namespace {

// The same bits as words of four bytes, of which the compiler makes tiles.
LlvmType words_of(LlvmType type) {
  return {DType::Int32, type.lanes * static_cast<std::int64_t>(size_of(type.dtype)) / 4};
}

// Registers of tiles have a type of their own, to and from which vectors are cast.  Zeros are made
// in one: as a vector they would come from memory.
LlvmArgument llvm_tile(LlvmText& text, const LlvmValue& value,
                       std::span<const LlvmArgument> sizes) {
  const std::string name = text.fresh();
  if (value.name == llvm_zero(value.type).name) {
    text.line("{} = {}", name, text.call("x86_amx", "x86.tilezero.internal", sizes));
  } else {
    const LlvmType words = words_of(value.type);
    const LlvmArgument vector[] = {
        text.define(words, "bitcast {} to {}", value.text(), words.text())};
    text.line("{} = {}", name,
              text.call("x86_amx", "x86.cast.vector.to.tile." + words.suffix(), vector));
  }
  return {"x86_amx", name};
}

// The instructions are told how much of the registers is used, in rows and bytes.
LlvmValue contract_tiles(LlvmText& text, const MatrixUnit& unit, const LlvmValue& sums,
                         const LlvmValue& a, const LlvmValue& b) {
  const LlvmArgument rows("i16", fmt::format("{}", unit.rows)),
      columns("i16", fmt::format("{}", unit.columns * size_of(unit.accumulator))),
      depth("i16", fmt::format("{}", unit.depth * size_of(unit.a)));
  const LlvmArgument of_sums[] = {rows, columns};
  const LlvmArgument arguments[] = {rows,
                                    columns,
                                    depth,
                                    llvm_tile(text, sums, of_sums),
                                    llvm_tile(text, a, {}),
                                    llvm_tile(text, b, {})};
  const std::string result = text.fresh();
  text.line("{} = {}", result, text.call("x86_amx", unit.intrinsic, arguments));
  const LlvmArgument tile[] = {{"x86_amx", result}};
  const LlvmType type{unit.accumulator, unit.rows * unit.columns}, words = words_of(type);
  const LlvmValue vector = text.define(
      words, "{}", text.call(words.text(), "x86.cast.tile.to.vector." + words.suffix(), tile));
  const LlvmValue contents = text.define(type, "bitcast {} to {}", vector.text(), type.text());
  text.hold_in({.name = result,
                .rows = unit.rows,
                .bytes = unit.columns * static_cast<std::int64_t>(size_of(unit.accumulator))},
               contents.name);
  return contents;
}

// Products of words or, by way of sums of two of them, bytes; what they come to is added.
LlvmValue contract_apart(LlvmText& text, const MatrixUnit& unit, const LlvmValue& sums,
                         const LlvmValue& a, const LlvmValue& b) {
  LlvmArgument factors[] = {a, b};
  if (!unit.intrinsic_of_pairs.empty()) {
    if (unit.takes_b_first) std::swap(factors[0], factors[1]);
    const LlvmType words{DType::Int16, 2 * sums.type.lanes};
    factors[0] =
        text.define(words, "{}", text.call(words.text(), unit.intrinsic_of_pairs, factors));
    factors[1] = {words.text(), llvm_lanes(words, [](std::int64_t) { return 1; })};
  }
  const LlvmValue products =
      text.define(sums.type, "{}", text.call(sums.type.text(), unit.intrinsic, factors));
  const LlvmValue added[] = {sums, products};
  return llvm_elementwise(text, Op::Add, sums.type, added);
}

}  // namespace

// The instructions of processors want words of four bytes, but of floats the floats.
LlvmValue llvm_contract(LlvmText& text, const MatrixUnit& unit, const LlvmValue& sums,
                        const LlvmValue& a, const LlvmValue& b) {
  if (unit.rows > 1) return contract_tiles(text, unit, sums, a, b);
  if (!unit.adds_to_sums) return contract_apart(text, unit, sums, a, b);
  const auto operand = [&](const LlvmValue& v, DType t) -> LlvmArgument {
    const std::string type = t == DType::BFloat16
                                 ? fmt::format("<{} x bfloat>", v.type.lanes)
                                 : LlvmType{DType::Int32, v.type.lanes * size_of(t) / 4}.text();
    const std::string name = text.fresh();
    text.line("{} = bitcast {} to {}", name, v.text(), type);
    return {type, name};
  };
  LlvmArgument arguments[] = {sums, operand(a, unit.a), operand(b, unit.b)};
  if (unit.takes_b_first) std::swap(arguments[1], arguments[2]);
  return text.define(sums.type, "{}", text.call(sums.type.text(), unit.intrinsic, arguments));
}

}  // namespace croze
