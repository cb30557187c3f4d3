#include "croze/render/ptx/vectors.h"

#include "croze/render/ptx/elementwise.h"

namespace croze::ptx {

std::string reduced(Text& text, Op op, DType t, DType operand, std::vector<std::string> lanes) {
  while (lanes.size() > 1) {
    const std::size_t half = (lanes.size() + 1) / 2;
    for (std::size_t k = 0; k + half < lanes.size(); k++) {
      const std::string pair[] = {lanes[k], lanes[k + half]};
      lanes[k] = elementwise(text, op, t, operand, pair);
    }
    lanes.resize(half);
  }
  return lanes[0];
}

// Lanes of registers cannot be indexed: each one of the table is compared with.
std::vector<std::string> looked_up(Text& text, DType t, std::span<const std::string> table,
                                   DType of_index, std::span<const std::string> indices) {
  std::vector<std::string> result;
  for (const std::string& given : indices) {
    const std::string masked[] = {given, literal(std::ssize(table) - 1, of_index)};
    const std::string index = elementwise(text, Op::And, of_index, of_index, masked);
    std::string found = table[0];
    for (std::size_t from = 1; from < table.size(); from++) {
      const std::string pair[] = {index, literal(static_cast<std::int64_t>(from), of_index)};
      const std::string choice[] = {elementwise(text, Op::Eq, DType::Bool, of_index, pair),
                                    table[from], found};
      found = elementwise(text, Op::Where, t, t, choice);
    }
    result.push_back(std::move(found));
  }
  return result;
}

}  // namespace croze::ptx
