// expressions.h -- the text of an elementwise op over operands that are texts, in a C-like
// language.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/render/c_family/dialect.h"

namespace croze::c_family {

class Expressions {
 public:
  explicit Expressions(const Dialect& dialect) : dialect_(dialect) {}

  // Throws InternalError if the language has no such type.
  std::string_view type(DType t) const;

  // The value of a scalar node.  Operands are names or literals; Throws InternalError naming an op
  // that the language lacks.
  std::string elementwise(UOp u, std::span<const std::string, 3> operands);
  // An op of the dtype of u: that of u, or one of the steps of a Reduce.
  std::string op(UOp u, Op op, const std::string& a, const std::string& b,
                 const std::string& c = {});

  // A Shuffle or a Ballot of x.
  std::string of_warp(UOp u, const std::string& x);

  // The name of a function that a text calls.
  const std::string& use(Helper helper);
  // The functions that the texts call.
  std::vector<Helper> take_helpers() { return std::move(helpers_); }

 private:
  std::string cast(UOp u, const std::string& x);
  std::string expand(std::string_view text, UOp u, std::span<const std::string> operands) const;

  const Dialect& dialect_;
  std::vector<Helper> helpers_;
};

// Whether the exact result of an op on integers stays inside the type (see Bounds).
bool cannot_wrap(UOp u);
// The unsigned type in which an integer type wraps; narrower ones would be promoted to int.
DType wrapping_type(DType t);

}  // namespace croze::c_family
