// llvm_bytes.cpp -- a shift of words, and a mask of what has come over from the byte above.
#include "croze/render/llvm_bytes.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "croze/render/lane_form.h"

namespace croze {
namespace {

constexpr std::size_t bytes_of_word = 4;

}  // namespace

std::vector<std::int64_t> shifts_of_words(UOp u) {
  if (!u.is(Op::Shr) || u.dtype() != DType::UInt8 || u.src(1).is_const()) return {};
  const std::vector<std::int64_t> amounts = numbers_of_lanes(u.src(1));
  if (amounts.size() % bytes_of_word != 0) return {};
  for (std::size_t i = 0; i < amounts.size(); i++) {
    if (amounts[i] >= 8 || amounts[i] != amounts[i - i % bytes_of_word]) return {};
  }
  return amounts;
}

LlvmValue llvm_shift_bytes(LlvmText& text, const LlvmValue& bytes,
                           std::span<const std::int64_t> amounts) {
  const LlvmType words{DType::UInt32, std::ssize(amounts) / std::int64_t{bytes_of_word}};
  std::string shifts, masks;
  for (std::size_t i = 0; i < amounts.size(); i++) {
    if (i % bytes_of_word == 0) shifts += fmt::format("{}i32 {}", i ? ", " : "", amounts[i]);
    masks += fmt::format("{}i8 {}", i ? ", " : "", 0xff >> amounts[i]);
  }
  const LlvmValue together = text.define(words, "bitcast {} to {}", bytes.text(), words.text());
  const LlvmValue shifted = text.define(words, "lshr {}, <{}>", together.text(), shifts);
  const LlvmValue apart =
      text.define(bytes.type, "bitcast {} to {}", shifted.text(), bytes.type.text());
  return text.define(bytes.type, "and {}, <{}>", apart.text(), masks);
}

}  // namespace croze
