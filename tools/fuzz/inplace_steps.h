// inplace_steps.h -- the steps of programs of views and assignments: what each draws, means, calls
// and is called.
#pragma once

#include <optional>
#include <span>

#include "croze/tensor/tensor.h"
#include "fuzz/chance.h"
#include "fuzz/place.h"

namespace croze::fuzz {

struct StepKind {
  // x is changed; a tensor is made; one is made that looks like no other, however that is recorded.
  enum class Result { Changed, Made, Distinct };

  int operands;  // 0, 1 (x) or 2 (x and y)
  Result result;
  const char* code;  // $x, $y, $0 .. $9; $* are the arguments after those named, $# their number
  Numbers (*draw)(Chance& chance, const Place& x);
  // The tensor made, or x as it is afterwards (without storage: gone); nothing, and nothing
  // changed, if it does not fit.
  std::optional<Place> (*model)(const Place& x, const Place& y, const Numbers& arg);
  Tensor (*call)(Tensor& x, const Tensor& y, const Numbers& arg);

  bool makes() const { return result != Result::Changed; }
};

std::span<const StepKind> inplace_steps();

}  // namespace croze::fuzz
