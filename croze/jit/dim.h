// dim.h -- Dim, a size that a program leaves open.
#pragma once

#include <cstdint>
#include <string>

#include "croze/tensor/tensor.h"

namespace croze {

// A size between bounds, both included, and a multiple of a number:
//
//     const Dim length("length", 1, 4096);
//     auto step = capture(f).open("input 0", 1, length);
//
// Two Dims are one size if they have one name, and then their bounds are the same.
class Dim {
 public:
  // Throws Error unless 1 <= least <= most <= 2^31, with a multiple of `multiple` between.
  Dim(std::string name, std::int64_t least, std::int64_t most, std::int64_t multiple = 1,
      Location at = Location::current());

  const std::string& name() const { return name_; }
  std::int64_t least() const { return least_; }
  std::int64_t most() const { return most_; }
  std::int64_t multiple() const { return multiple_; }

  bool operator==(const Dim&) const = default;

 private:
  std::string name_;
  std::int64_t least_, most_, multiple_;
};

}  // namespace croze
