#include "croze/render/ptx/contract.h"

#include "croze/render/mma_sync.h"
#include "croze/render/ptx/elementwise.h"
#include "croze/render/wgmma.h"

namespace croze::ptx {
namespace {

using Registers = std::vector<std::string>;

// Two bytes as a number of 16 bits.
std::string joined(Text& text, const std::string& low, const std::string& high) {
  const std::string first = text.define(RegisterClass::Bits16, "and.b16", {low, "255"}),
                    second = text.define(RegisterClass::Bits16, "shl.b16", {high, "8"});
  return text.define(RegisterClass::Bits16, "or.b16", {first, second});
}

// What the unit sees of a factor of Float32.
std::string rounded(Text& text, const std::string& x) {
  return text.define(RegisterClass::Bits32, "cvt.rna.tf32.f32", {x});
}

std::string list(std::span<const std::string> registers) {
  return fmt::format("{{{}}}", fmt::join(registers, ", "));
}

// Those of one of the instructions.
std::span<const std::string> part(const Registers& all, std::int64_t number, std::int64_t count) {
  return std::span(all).subspan(static_cast<std::size_t>(number * count),
                                static_cast<std::size_t>(count));
}

std::string after(Text& text, const std::string& number, std::int64_t step) {
  if (step == 0) return number;
  return text.define(DType::UInt64, "add.s64", {number, fmt::format("{}", step)});
}

// What tells an instruction where a factor begins and how it lies there.
std::string descriptor(Text& text, const Place& place, std::uint64_t layout) {
  const std::string address = after(text, place.base, place.offset),
                    bits = text.define(DType::UInt64, "and.b64",
                                       {address, fmt::format("{}", wgmma_address_mask)}),
                    shifted = text.define(DType::UInt64, "shr.u64",
                                          {bits, fmt::format("{}", wgmma_address_shift)});
  return text.define(DType::UInt64, "or.b64", {shifted, fmt::format("{}", layout)});
}

}  // namespace

Registers packed(Text& text, DType t, std::span<const std::string> elements) {
  Registers halves(elements.begin(), elements.end()), words;
  if (size_of(t) == 1) {
    halves.clear();
    for (std::size_t k = 0; k < elements.size(); k += 2)
      halves.push_back(joined(text, elements[k], elements[k + 1]));
  }
  for (std::size_t k = 0; k < halves.size(); k += 2) {
    words.push_back(
        text.define(RegisterClass::Bits32, "mov.b32", {list(std::span(halves).subspan(k, 2))}));
  }
  return words;
}

Registers unpacked(Text& text, std::span<const std::string> words) {
  Registers halves;
  for (const std::string& word : words) {
    halves.push_back(text.define(RegisterClass::Bits16, "cvt.u16.u32", {word}));
    const std::string high = text.define(RegisterClass::Bits32, "shr.u32", {word, "16"});
    halves.push_back(text.define(RegisterClass::Bits16, "cvt.u16.u32", {high}));
  }
  return halves;
}

Registers contract(Text& text, const MatrixUnit& unit, Registers sums, Registers a, Registers b) {
  for (Registers* factors : {&a, &b}) {
    for (std::string& x : *factors) {
      if (unit.factor_bits > 0) x = rounded(text, x);
    }
  }
  for (std::string& x : sums) {
    if (x[0] != '%') x = copied(text, unit.accumulator, x);  // constants are no parts of vectors
  }
  const MmaSyncRegisters of = mma_sync_registers(unit);
  for (std::int64_t i = 0; i < unit.instructions; i++) {
    Registers results;
    for (std::int64_t k = 0; k < of.sums; k++) results.push_back(text.fresh(unit.accumulator));
    text.line("{} {}, {}, {}, {};", mma_sync_name(unit), list(results), list(part(a, i, of.a)),
              list(part(b, i, of.b)), list(sums));
    sums = std::move(results);
  }
  return sums;
}

void contract_behind(Text& text, const MatrixUnit& unit, std::span<const std::string> sums,
                     const Place& a, const Place& b) {
  const WgmmaDescriptor of_a = wgmma_descriptor(unit, unit.places_of_a),
                        of_b = wgmma_descriptor(unit, unit.places_of_b);
  const std::string at_a = descriptor(text, a, of_a.layout),
                    at_b = descriptor(text, b, of_b.layout);
  text.line("wgmma.fence.sync.aligned;");
  for (std::int64_t i = 0; i < unit.instructions; i++) {
    const std::string x = after(text, at_a, i * of_a.step), y = after(text, at_b, i * of_b.step);
    text.line("{} {}, {}, {}, {};", wgmma_name(unit), list(sums), x, y, wgmma_modifiers(unit));
  }
  text.line("wgmma.commit_group.sync.aligned;");
}

Registers load_matrix(Text& text, const Place& place, std::int64_t squares, bool transposed) {
  Registers words;
  for (std::int64_t k = 0; k < squares; k++) words.push_back(text.fresh(RegisterClass::Bits32));
  text.line("{} {}, [{}+{}];", ldmatrix_name(squares, transposed), list(words), place.base,
            place.offset);
  return words;
}

}  // namespace croze::ptx
