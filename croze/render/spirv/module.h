// module.h -- a SPIR-V module as it grows: its types and constants, its one function, and the words
// of all of it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/graph/dtype.h"
#include "croze/render/spirv/codes.h"

namespace croze::spirv {

// The number of a result.  Integers have no sign in these modules: which sign is meant, the
// instruction says.
using Id = std::uint32_t;
using Words = std::vector<std::uint32_t>;

class Module {
 public:
  Id fresh() { return next_id_++; }

  void need(Capability capability);
  void need(std::string_view extension);
  // Modules with cooperative matrices have the memory model of Vulkan, in which memory is private
  // unless somebody says that it is not.
  void need_matrices();
  void execution_mode(ExecutionMode mode, std::initializer_list<std::uint32_t> operands);

  // ---- types and constants, one of each ----

  Id type_void() { return declared(Code::TypeVoid, {}); }
  Id type_bool() { return declared(Code::TypeBool, {}); }
  Id type_int(std::int64_t bits);
  Id type_float(std::int64_t bits);
  Id type_words(std::uint32_t count) { return declared(Code::TypeVector, {type_int(32), count}); }
  Id pointer_to(StorageClass storage, Id type) {
    return declared(Code::TypePointer, {static_cast<std::uint32_t>(storage), type});
  }
  Id array_of(Id type, std::uint32_t elements) {
    return declared(Code::TypeArray, {type, constant_word(elements)});
  }
  // Arrays in memory that is laid out: a structure around so many elements, or around any number of
  // them if that is 0.
  Id block_of(Id element, std::uint32_t element_bytes, std::uint32_t elements = 0);

  // A matrix of elements of the dtype that a subgroup holds together.
  Id type_matrix(DType t, std::uint32_t rows, std::uint32_t columns, MatrixUse use);

  // The type of the values of a dtype: integers of 8 and 16 bits are computed in 32.
  Id type_of(DType t);
  // The bits of a value as graph constants carry them (see Arg).
  Id constant(std::int64_t bits, DType t);
  Id constant_word(std::uint32_t word) {
    return declared_value(Code::Constant, type_int(32), {word});
  }

  // All of whose elements are the constant.
  Id constant_of_all(Id type, Id element) {
    return declared_value(Code::ConstantComposite, type, {element});
  }

  // ---- variables of the module, and of the function ----

  Id variable(StorageClass storage, Id type);
  Id built_in(BuiltIn built_in);  // a vector of three words
  void decorate(Id id, Decoration decoration, std::initializer_list<std::uint32_t> operands = {});

  // ---- the body ----

  void line(Code code, std::initializer_list<std::uint32_t> operands) {
    write(body_, code, operands);
  }
  Id define(Code code, Id type, std::initializer_list<std::uint32_t> operands);
  Id define(Extended instruction, Id type, std::initializer_list<std::uint32_t> operands);

  // Variables, be it that all items of a group see them, and how so many items meet whom they see.
  Id load(Id type, Id pointer, bool is_shared);
  void store(Id pointer, Id value, bool is_shared);
  void meet(std::uint32_t scope);
  // Of what is shared; 0: nothing has to be said.
  std::uint32_t shared_operand() const { return has_matrices_ ? memory_not_private : 0; }

  // Begins a block; all until the next one belongs to it.
  void begin_block(Id label);
  Id current_block() const { return block_; }
  void branch(Id label) { line(Code::Branch, {label}); }

  // ---- all of it ----

  // The function is the entry of that name.  The module is empty then.
  Words take(std::string_view entry);

 private:
  static void write(Words& into, Code code, std::span<const std::uint32_t> operands);
  static void write(Words& into, Code code, std::initializer_list<std::uint32_t> operands) {
    write(into, code, std::span(operands.begin(), operands.size()));
  }
  Id declared(Code code, std::initializer_list<std::uint32_t> operands);
  Id declared_value(Code code, Id type, std::initializer_list<std::uint32_t> operands);
  void decorate_member(Id type, std::uint32_t member, std::uint32_t offset);

  Id next_id_ = 1;
  Id extended_ = fresh();  // the set of extended instructions
  Id function_ = fresh();
  Id first_block_ = fresh();
  Id block_ = first_block_;
  bool has_matrices_ = false;
  std::map<Words, Id> known_;  // by the code and operands
  std::map<BuiltIn, Id> built_ins_;
  Words interface_;  // variables of the module
  Words capabilities_, extensions_, modes_, decorations_, declarations_, variables_, body_;
};

// Whether the module, of whole words, asks for it.
bool needs(std::span<const std::uint32_t> module, Capability capability);

}  // namespace croze::spirv
