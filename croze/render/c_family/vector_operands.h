// vector_operands.h -- what statements over vectors are made of: types, values, masks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/render/c_family/body.h"
#include "croze/render/c_family/dialect.h"
#include "croze/render/c_family/expressions.h"
#include "croze/render/c_family/vector_words.h"
#include "croze/render/lane_form.h"

namespace croze::c_family {

class VectorOperands {
 protected:
  VectorOperands(const Dialect& dialect, const VectorWords& vectors, const LinearProgram& program)
      : vectors_(vectors), words_(dialect), body_(dialect, program), forms_(program) {}

  // ---- types, which are declared when they are asked for ----

  VectorType vector(DType t, std::int64_t lanes);
  // Integers of so many bytes.
  VectorType mask_type(std::int64_t bytes, std::int64_t lanes);
  // Of the variable that holds a value; lanes_of() says how many of them it has.
  std::string type_of(UOp u);
  VectorType vector_of(UOp u, std::int64_t lanes);
  std::int64_t lanes_of(UOp u) const;
  // Of an element of a mask.
  std::int64_t mask_bytes(UOp u) const;

  // ---- values ----

  // Lane 0 of what moves by a constant.
  std::string first(UOp u) const;
  // Lane k, which is a variable or a number.
  std::string lane(UOp u, const std::string& k) const;
  // All lanes.
  std::string all(UOp u, std::int64_t lanes);
  // All lanes, or one number for all of them, which operators take as well if it is no wider than
  // an element.
  std::string side(UOp u, std::int64_t lanes);
  // A Bool as a mask whose elements have so many bytes.
  std::string mask(UOp u, std::int64_t bytes, std::int64_t lanes);

  // What `statement` says of lane k, for all of them.
  template <typename Statement>
  void each_lane(std::int64_t lanes, Statement&& statement) {
    if (!vectors_.names_each_lane()) {
      return body_.line("for (int k = 0; k < {}; k++) {}", lanes, statement("k"));
    }
    for (std::int64_t k = 0; k < lanes; k++) body_.line(statement(fmt::format("{}", k)));
  }

  void use(const Helper& helper);
  void use_macro(const Helper& macro);

  const VectorWords& vectors_;
  Expressions words_;
  KernelBody body_;
  LaneForms forms_;
  std::vector<Helper> types_;                      // and macros
  FlatMap<const Node*, std::int64_t> mask_bytes_;  // the width of masks
};

}  // namespace croze::c_family
