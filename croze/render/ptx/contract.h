// contract.h -- Op::Contract and Op::LoadMatrix in PTX: factors in words, and the instructions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "croze/graph/matrix_unit.h"
#include "croze/render/ptx/memory.h"
#include "croze/render/ptx/text.h"

namespace croze::ptx {

// Elements of less than 32 bits, one in a register, side by side in registers of 32 bits.
std::vector<std::string> packed(Text& text, DType t, std::span<const std::string> elements);

// The elements of two bytes of such words.
std::vector<std::string> unpacked(Text& text, std::span<const std::string> words);

// The sums and the products, as registers or constants; factors of less than 32 bits in words.
std::vector<std::string> contract(Text& text, const MatrixUnit& unit, std::vector<std::string> sums,
                                  std::vector<std::string> a, std::vector<std::string> b);

// Begins to add the products to the sums, which are registers and stay these, of factors that the
// unit reads in shared memory by itself.
void contract_behind(Text& text, const MatrixUnit& unit, std::span<const std::string> sums,
                     const Place& a, const Place& b);

// Op::LoadMatrix of so many squares: a word of each.
std::vector<std::string> load_matrix(Text& text, const Place& place, std::int64_t squares,
                                     bool transposed);

}  // namespace croze::ptx
