// llvm_text.h -- pieces of LLVM IR as text: types, constants, and a growing function body.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "croze/base/function_ref.h"
#include "croze/graph/uop.h"

namespace croze {

// The type of a value: a scalar or a vector of a dtype.
struct LlvmType {
  DType dtype = DType::Void;
  std::int64_t lanes = 1;

  std::string text() const;    // "float", "<16 x i32>"; Bool is i1
  std::string memory() const;  // as it stands in memory: Bool is i8
  std::string suffix() const;  // in the names of intrinsics: "f32", "v16i32"
  LlvmType with(DType t) const { return {t, lanes}; }
  LlvmType scalar() const { return {dtype, 1}; }
  bool operator==(const LlvmType&) const = default;
};

// A name or a constant, with its type.
struct LlvmValue {
  std::string name;
  LlvmType type;

  std::string text() const { return type.text() + " " + name; }
};

// An operand of a call: what is not a value (a pointer, say) has its type as text.
struct LlvmArgument {
  std::string type;
  std::string name;

  LlvmArgument(std::string_view type_text, std::string_view value) : type(type_text), name(value) {}
  LlvmArgument(const LlvmValue& value) : type(value.type.text()), name(value.name) {}
};

// A constant of a dtype from the bits a Const carries.  For vectors: the same in all lanes.
std::string llvm_constant(LlvmType type, std::int64_t bits);
LlvmValue llvm_zero(LlvmType type);
// The constant of an integer vector type that has number(k) in lane k.
std::string llvm_lanes(LlvmType type, function_ref<std::int64_t(std::int64_t)> number);
// The same of <start, start + step, start + 2 * step, ...>.
std::string llvm_steps(LlvmType type, std::int64_t start, std::int64_t step);

// Forms that not every processor wants.
struct LlvmForms {
  // What is written in float stays in float, where halfs have no arithmetic.
  bool fences_halfs = false;
  // No instruction makes integers of vectors of floats as Op::Cast does: they are bounded before.
  bool bounds_casts = false;
  // AVX-512 has its own instruction for the greater of two floats.
  bool ranks_floats = false;
  // A number that is the same in all lanes of a vector of so many bytes is loaded as one, from
  // constants of the module: operations take it from there where registers are wanted for others.
  std::int64_t number_bytes = 0;
  // A register of lanes that lie apart is loaded as fast by one instruction as one by one.
  bool gathers = false;
  // Quotients and remainders of 64-bit integers are functions of the module, and not copies of what
  // the processor needs for one.
  bool calls_long_divisions = false;
  // An address that many accesses lie near is a register of its own: an instruction that takes its
  // third operand from memory is two where the address is a sum of registers.
  bool pins_addresses = false;
};

// A register of tiles: so many rows of so many bytes.
struct LlvmTile {
  std::string name;
  std::int64_t rows = 0, bytes = 0;
};

// The text of one function body, and the intrinsics it calls.
class LlvmText {
 public:
  explicit LlvmText(LlvmForms forms = {}) : forms_(forms) {}

  const LlvmForms& forms() const { return forms_; }

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    body_ += "  ";
    fmt::vformat_to(std::back_inserter(body_), format, fmt::make_format_args(args...));
    body_ += '\n';
  }
  void label(std::string_view name);
  // What was not known yet when the lines around it were written.
  void insert(std::size_t at, std::string_view text);

  // A new value: the name that the line gives to what the format says.
  template <typename... Args>
  LlvmValue define(LlvmType type, fmt::format_string<Args...> format, Args&&... args) {
    LlvmValue value{fresh(), type};
    body_ += "  " + value.name + " = ";
    fmt::vformat_to(std::back_inserter(body_), format, fmt::make_format_args(args...));
    body_ += '\n';
    return value;
  }

  // "call <result> @llvm.<name>(<arguments>)"; the declaration is kept for the end of the module.
  std::string call(std::string_view result, std::string_view name,
                   std::span<const LlvmArgument> arguments);

  // "call <result> @<name>(..)" of a function of the module itself, whose definition is kept as
  // well.
  std::string call_own(std::string_view result, std::string_view name,
                       std::span<const LlvmArgument> arguments, std::string definition);

  // The address of an element.  Said once in a block: LLVM reads fewer lines, and has no equal ones
  // to find.
  std::string address(std::string_view element, std::string_view pointer, std::string_view index);
  // The address so many elements behind one, in the same object if it is in bounds.
  std::string behind(std::string_view element, const std::string& pointer, std::int64_t offset,
                     bool in_bounds);

  // The vector of elements that begins so many of them behind a pointer.  Loaded once in a block as
  // long as nothing is stored.
  LlvmValue loaded(LlvmType type, std::string_view element, const std::string& pointer,
                   std::int64_t offset, std::int64_t alignment);
  void forget_loaded() { loaded_.clear(); }

  // The register that a vector is the contents of, which may be stored as it is; null: none.
  void hold_in(LlvmTile tile, const std::string& vector) { tiles_[vector] = std::move(tile); }
  const LlvmTile* tile_of(const std::string& vector) const {
    const auto found = tiles_.find(vector);
    return found == tiles_.end() ? nullptr : &found->second;
  }

  // The number of a vector type, loaded at the start of the function.
  LlvmValue loaded_number(LlvmType type, std::int64_t bits);
  const std::string& loads_of_numbers() const { return loads_of_numbers_; }

  std::string fresh() { return fmt::format("%v{}", next_++); }
  const std::string& block() const { return block_; }  // the label of the open block
  const std::string& body() const { return body_; }
  // What stands behind all functions, once: a line.
  void declare(std::string line) { declarations_.insert(std::move(line)); }
  const std::set<std::string>& declarations() const { return declarations_; }

 private:
  struct Address {
    std::string name;
    std::size_t line = 0;  // where it stands in the body
  };
  void pin_addresses();

  std::string body_;
  std::string block_ = "entry";
  std::set<std::string> declarations_;
  std::map<std::string, Address> addresses_;  // of the open block, by what they are
  std::map<std::string, int> neighbours_;     // how many addresses lie behind those, by name
  std::map<std::string, LlvmValue> loaded_;   // of the open block, by what they are
  std::map<std::string, LlvmTile> tiles_;     // by the vector that they hold
  std::set<std::string> numbers_;             // that are loaded: their names
  std::string loads_of_numbers_;
  LlvmForms forms_;
  int next_ = 0;
};

// The elementwise op on sources that have the lanes of the result (the condition of a Where may be
// a scalar).  `no_wrap`: a signed integer result is known to fit its type.  Throws InternalError
// for an op that a decomposition should have replaced.
LlvmValue llvm_elementwise(LlvmText& text, Op op, LlvmType result, std::span<const LlvmValue> src,
                           bool no_wrap = false);

// All lanes of a vector combined to one value: halves with halves if the lanes are a power of two,
// else one after another.
LlvmValue llvm_reduce(LlvmText& text, Op op, const LlvmValue& vector);

// Whether any lane of a mask is set.
LlvmValue llvm_any(LlvmText& text, const LlvmValue& mask);

// A vector that repeats the lanes of another so often.
LlvmValue llvm_repeat(LlvmText& text, const LlvmValue& vector, std::int64_t times);

// So many lanes of a vector, from one on; and vectors side by side, as many as a power of two.
LlvmValue llvm_part(LlvmText& text, const LlvmValue& vector, std::int64_t begin,
                    std::int64_t lanes);
LlvmValue llvm_joined(LlvmText& text, std::span<const LlvmValue> parts);

// Op::Exchange of two vectors.
LlvmValue llvm_exchange(LlvmText& text, std::int64_t bit, const LlvmValue& x, const LlvmValue& y);

// The value, of which LLVM does not look at how it was made.  Only elements of four and eight bytes
// can be hidden so: others are left as they are.
LlvmValue llvm_opaque(LlvmText& text, const LlvmValue& value);

// Op::Lookup as x86 has it: of 16 or 8 elements of four bytes.
LlvmValue llvm_lookup(LlvmText& text, const LlvmValue& table, const LlvmValue& indices);

}  // namespace croze
