// alignment.h -- which powers of two divide the indices of a linear program.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/render/program.h"

namespace croze::ptx {

// Of each integer of the program: the greatest power of two that is known to divide it, or, of a
// vector, its lane 0.
class Alignments {
 public:
  static constexpr std::int64_t most = 16;

  explicit Alignments(const LinearProgram& program);

  // 1 to `most`.
  std::int64_t of(UOp value) const;

 private:
  std::int64_t derive(UOp u) const;

  std::vector<std::int8_t> known_;  // by node id
};

}  // namespace croze::ptx
