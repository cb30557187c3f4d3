// module.h -- PTX text, parsed: the part of the language that the renderer of croze writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace croze::ptx_interp {

// Order matters: inside a kind, width grows.
enum class Type : std::uint8_t {
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  BF16,
  F32,
  F64,
};

std::optional<Type> type_named(std::string_view name);  // "b32"
std::string_view name_of(Type t);
std::int64_t size_of(Type t);  // in bytes; of Pred 0
constexpr bool is_bits(Type t) { return t >= Type::B8 && t <= Type::B64; }
constexpr bool is_unsigned(Type t) { return t >= Type::U8 && t <= Type::U64; }
constexpr bool is_signed(Type t) { return t >= Type::S8 && t <= Type::S64; }
constexpr bool is_float(Type t) { return t >= Type::F16; }

struct Operand {
  enum class Kind : std::uint8_t {
    Register,  // `number`
    Integer,   // `value`
    Float32,   // `value`: the bits
    Float64,
    Name,  // `name`: of an array, of a label, or of a special register, "%tid.x"
    // Of register `number`, or of `name` where that is -1, and `value` bytes behind it; of a tensor
    // map with the `registers` of coordinates.
    Address,
    Vector,  // `registers`
  };

  Kind kind = Kind::Name;
  std::int32_t number = -1;
  std::int64_t value = 0;
  std::string name;
  std::vector<std::int32_t> registers;
};

struct Instruction {
  std::int32_t line = 0;
  std::int32_t guard = -1;  // the predicate under which it is done; -1: always
  bool negated = false;     // .. or unless it holds
  std::string name;         // "ld.global.v4.f32"
  std::vector<Operand> operands;
};

struct Array {
  std::string name;
  bool is_shared = false;
  std::int64_t bytes = 0;
  std::int64_t alignment = 1;
};

struct Parameter {
  std::string name;
  Type type;
  bool is_map = false;  // of a tensor: 128 bytes
};

struct Label {
  std::string name;
  std::size_t position;  // of the instruction behind it
};

struct Module {
  std::string entry;
  std::int64_t items[3] = {0, 0, 0};  // of a group; 0: any number
  std::vector<Parameter> parameters;
  std::vector<Type> registers;
  std::vector<Array> arrays;
  std::vector<Label> labels;
  std::vector<Instruction> instructions;
};

// Throws Error, naming the line, where the text is no such module of one entry.
Module parse(std::string_view text);

}  // namespace croze::ptx_interp
