// dialect.h -- what tells one C-like language from another, as data.
//
// The writer (writer.h) knows how a linear program becomes statements; a dialect knows the words:
// type names, the text of each op, how a kernel opens and how it names its memory and its indices.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "croze/graph/matrix_unit.h"
#include "croze/render/program.h"

namespace croze::c_family {

// What the text of an op depends on beside the op.
enum class OperandKind : std::uint8_t {
  Any,
  Bool,
  Exact,    // integers whose result cannot leave the type: no need to say how it wraps
  Integer,  // any integers
  Float,
};

// The text of one op.  {0} {1} {2} are the operands, {T} the type of the result, {U} the unsigned
// type in which integers wrap, {D} the name of the operand's dtype (float32), {S} its type and {f}
// the suffix of functions on it.  The first row that fits is taken.
struct OpText {
  Op op;
  OperandKind kind;
  std::string_view text;
};

// A function that the text of an op calls.  Only those that a program uses are written.
struct Helper {
  std::string name;
  std::string text;
};

struct Dialect;

// max_float32, min_float32 and the like: NaN wins, and the positive zero is the greater one.
Helper extremum_helper(const Dialect& dialect, Op op, DType t);

struct Dialect {
  std::string_view name;
  std::string_view types[num_dtypes];           // empty: the language has no such type
  std::string_view preamble;                    // before the functions
  std::string_view float32_suffix;              // of functions, as in sqrtf
  std::string_view bitcast;                     // as in OpText
  std::string_view barrier;                     // empty: there are no groups
  std::string_view function = "static inline";  // before the type of a helper
  std::string_view unroll;                      // a line before loops over lanes
  // The same before loops in which items meet: unrolled, they would hold in registers what several
  // turns copy, beside the sums that the tile was chosen for.
  std::string_view keep_loop;
  std::string_view array;      // before the type of an array of lanes
  bool wide_accesses = false;  // vectors move at once (wide_access.h)
  // Bytes are widened by shifts, chosen by select() and loaded behind a gate by an if: where C
  // promotes a byte or else a constant to int, Mesa's compiler (25.0) gives the constant 16 bits;
  // for CPUs it crashes then, or a byte beside the one that is stored is overwritten.  What was
  // widened is chosen by select(), too: of a short that is made a float, or else 0.5, it chooses
  // the short or the half, and makes a float of that as if it were a short.
  bool hides_bytes = false;

  std::string_view type(DType t) const { return types[static_cast<std::size_t>(t)]; }

  // The kernel's head, up to and with the opening brace.
  std::string (*signature)(const LinearProgram& program);

  // Declarations at the start of the body, a line each, without indentation; no line where the text
  // of a parameter is empty, because the head has declared it.
  std::string (*declare_param)(const Dialect&, UOp param, std::string_view name, bool is_written,
                               bool is_alone);
  std::string (*declare_variable)(const Dialect&, UOp variable, std::string_view name);
  // `offset`: in the scratch memory of a thread, or in the memory of a group.
  std::string (*declare_local)(const Dialect&, UOp local, std::string_view name,
                               std::int64_t offset);
  std::string (*declare_special)(const Dialect&, const LinearProgram& program, UOp special,
                                 std::string_view name);

  // The function that does Op::Contract by a matrix unit, NAME(sums, a, b) of arrays; of places in
  // group memory, if the unit reads its factors there; null: the language has none.
  Helper (*contract)(const Dialect&, const MatrixUnit& unit) = nullptr;

  // Of units that go on behind the items' backs.  Before a barrier: what has been written to group
  // memory is to be seen by them.  AwaitProducts, {0}: how many Contracts are left.  What keeps a
  // sum, {0}, from being looked at before; {1}: the letter of its register.
  std::string_view show_to_units, await_products, keep_sum;

  // The function that begins a copy of so many elements to group memory, NAME(to, from, whole,
  // wanted): vectors are aligned if they are whole, and there are zeros instead of what is not
  // wanted; null: the language has none.
  Helper (*begin_copy)(const Dialect&, DType t, std::int64_t elements) = nullptr;
  // Before a barrier that awaits copies; {0}: how many batches may still be on their way.
  std::string_view await_copies;

  // The functions that begin the copy of a box, NAME(to, map, batch, coordinates), and that end a
  // batch of them and await others, NAME(batches, is_first, batches_begun, batches_awaited, left);
  // these names, the maps and shift0, .. stand in the head of the kernel (cuda/boxes.h).
  Helper (*copy_box)(const Dialect&, const BoxedBuffer& box) = nullptr;
  Helper (*await_boxes)(const Dialect&, std::int64_t barriers) = nullptr;

  // The function that does Op::Shuffle of a dtype, NAME(value, bit); null: the language has none.
  Helper (*shuffle)(const Dialect&, DType t) = nullptr;
  // Op::Ballot of {0}, of a warp of {1} items; empty: the language has none.
  std::string_view ballot;

  // The function that does Op::Max or Op::Min of a float dtype: extremum_helper() or what does the
  // same.
  Helper (*extremum)(const Dialect&, Op op, DType t) = extremum_helper;

  // Macro that reads so many elements of an image (ProgramInfo::images), NAME(image, first, place):
  // those from the place on, counted from the pixel with which the buffer begins; null: the
  // language has none.
  Helper (*read_pixels)(const Dialect&, DType t, std::int64_t lanes) = nullptr;

  // The function that does Op::LoadMatrix of a dtype for so many lanes, NAME(to, from); null: the
  // language has none.
  Helper (*load_matrix)(const Dialect&, DType t, std::int64_t lanes, bool transposed) = nullptr;
};

// The text of an op that every dialect shares; empty if it has none.
std::string_view op_text(Op op, OperandKind kind);

// The elementwise ops that the writer can write, and the dtypes of a dialect (see Caps).
OpSet supported_ops();
std::uint32_t supported_dtypes(const Dialect& dialect);

// What the function of a kernel is called: a name that no library and no keyword has.
std::string entry_name(std::string_view kernel);

// Whether no other parameter is the same buffer, and whether the kernel stores into it.
bool is_alone(const LinearProgram& program, UOp param);
bool is_written(const LinearProgram& program, UOp buffer);

// A constant of type `t`.
std::string literal(std::int64_t bits, DType t);

// shuffle_float32 and the like; `body`: its statements, of `value` and `bit`.
Helper shuffle_helper(const Dialect& dialect, DType t, std::string_view body);
// int32_of_float32 and the like: toward zero, saturating, NaN gives 0.
Helper cast_helper(const Dialect& dialect, DType from, DType to);

}  // namespace croze::c_family
