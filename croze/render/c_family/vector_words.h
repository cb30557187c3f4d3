// vector_words.h -- what tells one language with vectors from another.
//
// The vector types of gcc and clang and those of OpenCL C have the operators of their elements in
// common.  The rest is said here, and asked by vector_writer.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "croze/render/c_family/dialect.h"

namespace croze::c_family {

struct VectorType {
  std::string name;     // "float32x16", "float16"
  std::string element;  // "float"
  DType dtype;
  std::int64_t lanes;
};

class VectorWords {
 public:
  virtual ~VectorWords() = default;

  // `element` is what the dialect calls the dtype; Bool has none.
  virtual VectorType type(DType t, std::string_view element, std::int64_t lanes) const = 0;
  // What has to stand before the functions that use the type.
  virtual std::vector<Helper> declarations(const VectorType& type) const = 0;

  // Lane k of a variable, k being a name or a number.
  virtual std::string lane(std::string_view variable, std::string_view k) const = 0;
  // Whether k has to be a number, so that what is done lane by lane is written for each.
  virtual bool names_each_lane() const = 0;

  // ---- expressions; operands are names, or stand in parentheses ----

  // Whether the operators of C mean for vectors of these what the ops mean.
  virtual bool has_operators(DType t) const = 0;
  virtual std::string of_one(const VectorType& type, std::string_view number) const = 0;
  virtual std::string of_all(const VectorType& type, std::string_view numbers) const = 0;
  virtual std::string of_same_bits(const VectorType& type, std::string_view x) const = 0;
  virtual std::string converted(const VectorType& type, std::string_view x) const = 0;
  // a where the mask, integers of the width of an element, is set.
  virtual std::string selected(const VectorType& type, const VectorType& mask_type,
                               std::string_view mask, std::string_view a,
                               std::string_view b) const = 0;
  // What stands at "b0[v3]" and behind it.
  virtual std::string load(const VectorType& type, std::string_view element) const = 0;
  // A function of vectors with the meaning of the op, "sqrt", or a macro; none if there is none.
  virtual std::optional<Helper> function(Op op, const VectorType& type) const = 0;

  // ---- statements ----

  virtual std::string store(const VectorType& type, std::string_view element,
                            std::string_view value) const = 0;

  // ---- macros, with the parameters that vector_instructions.h says ----

  // What stands before them.
  virtual std::vector<Helper> before_macros() const = 0;
  virtual Helper multiply_add(const VectorType& type) const = 0;
  virtual Helper masked_load(const VectorType& type, const VectorType& mask) const = 0;
  virtual Helper masked_store(const VectorType& type, const VectorType& mask) const = 0;
  virtual Helper gather(const VectorType& type, const VectorType& mask) const = 0;
  virtual Helper scatter(const VectorType& type, const VectorType& mask) const = 0;
  // None where the language has nothing better than what is written for each lane.
  virtual std::optional<Helper> look_up(const VectorType& type, const VectorType& mask) const = 0;
  virtual std::optional<Helper> every_other(const VectorType& type) const = 0;
  virtual Helper select(const VectorType& type, const VectorType& mask) const = 0;
};

// Of fewer bits than an int, to which a scalar of them is promoted.
inline bool is_narrow(DType t) { return size_of(t) < 4; }

// Integers of so many bytes.
DType signed_of(std::int64_t bytes);
DType unsigned_of(std::int64_t bytes);

// Those of gcc and clang; they are there where CROZE_VECTORS is 1.
const VectorWords& gnu_vectors();
// Those of OpenCL C.
const VectorWords& opencl_vectors();

}  // namespace croze::c_family
