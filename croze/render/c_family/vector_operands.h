// vector_operands.h -- what statements over vectors are made of: types, values, masks.
#pragma once

#include <string>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/render/c_family/body.h"
#include "croze/render/c_family/dialect.h"
#include "croze/render/c_family/expressions.h"
#include "croze/render/lane_form.h"

namespace croze::c_family {

// Integers of so many bytes, of which masks are made, and those in which arithmetic wraps.
DType signed_of(std::int64_t bytes);
DType unsigned_of(std::int64_t bytes);

class VectorOperands {
 protected:
  VectorOperands(const Dialect& dialect, const LinearProgram& program)
      : words_(dialect), body_(dialect, program), forms_(program) {}

  // ---- types ----

  // Vectors of elements, and of integers of their width, by name: they are declared then.
  std::string vector(DType t, std::int64_t lanes);
  std::string mask_type(std::int64_t bytes, std::int64_t lanes);
  // Of the variable that holds a value; lanes_of() says how many of them it has.
  std::string type_of(UOp u);
  std::int64_t lanes_of(UOp u) const;
  // Of the elements of a mask.
  std::int64_t mask_bytes(UOp u) const;

  // ---- values ----

  // Lane 0 of what moves by a constant.
  std::string first(UOp u) const;
  // The lane at hand, in a loop over k.
  std::string lane(UOp u) const;
  // All lanes.
  std::string all(UOp u, std::int64_t lanes);
  // All lanes, or one number for all of them, which operators take as well.
  std::string side(UOp u, std::int64_t lanes);
  // A Bool as a mask whose elements have so many bytes.
  std::string mask(UOp u, std::int64_t bytes, std::int64_t lanes);

  // Declares a macro of vector_instructions.h.
  void use(const Helper& macro);

  Expressions words_;
  KernelBody body_;
  LaneForms forms_;
  std::vector<Helper> types_;
  FlatMap<const Node*, std::int64_t> mask_bytes_;  // the width of masks
};

}  // namespace croze::c_family
