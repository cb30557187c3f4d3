// vector_writer.cpp -- statements over whole vectors.
//
// gcc and clang turn loops over lanes back into vectors, but not always: what one loop passes to
// the next may go through memory, and a choice may become a branch.  They also share an extension
// of C in which a vector is a type with the operators of its elements, compiled to what the
// processor has, one register or several; OpenCL C has such types by itself (vector_words.h).  So
// an instruction over lanes is an expression of vectors where the operators have it.  For the rest,
// such as gathers and gated accesses, it goes over the lanes of that one instruction, which these
// compilers do know how to turn into vectors.
//
// As in llvm.cpp a value that moves by a constant from lane to lane is a scalar, that of lane 0.  A
// vector of Bool is a mask as comparisons give it: integers of the width of what was compared, 0 or
// -1.
#include "croze/render/c_family/vector_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "croze/base/error.h"
#include "croze/render/c_family/segments.h"
#include "croze/render/c_family/vector_operands.h"
#include "croze/render/c_family/vector_words.h"
#include "croze/render/lane_form.h"

namespace croze::c_family {
namespace {

class VectorWriter : VectorOperands {
 public:
  VectorWriter(const Dialect& dialect, const VectorWords& vectors, const LinearProgram& program)
      : VectorOperands(dialect, vectors, program), program_(program), dialect_(dialect) {}

  KernelText run() {
    for (UOp u : program_.instructions) {
      body_.declare(u);
      if (!u.is(Op::Register)) continue;
      if (u.dtype() == DType::Bool) mask_bytes_[u.node()] = 1;
      body_.line("{} {};", type_of(u), body_.name(u));
    }
    if (!body_.is_empty()) body_.empty_line();
    for (UOp u : program_.instructions) {
      if (Segments::is_statement(u)) statement(u);
    }
    std::vector<Helper> helpers = std::move(types_);
    for (Helper& h : words_.take_helpers()) helpers.push_back(std::move(h));
    return {std::move(helpers), body_.text()};
  }

 private:
  // ---- statements ----

  void statement(UOp u) {
    switch (u.op()) {
      case Op::Loop:
        return body_.open_loop(
            u.src(0), words_.type(u.src(0).dtype()),
            u.src(0).is_open() ? first(u.src(0).src(0)) : fmt::format("{}", u.src(0).range_size()));
      case Op::EndLoop: return body_.close_loop();
      case Op::Barrier: return body_.line("{}", dialect_.barrier);
      case Op::Load: return load(u);
      case Op::Store: return store(u);
      case Op::Reduce: return reduce(u);
      case Op::Exchange: return exchange(u);
      case Op::Shuffle:
      case Op::Ballot: return of_warp(u);
      default: return elementwise(u);
    }
  }

  // Not as constants: see define() of writer.cpp.
  void define(UOp u, const std::string& value) {
    body_.line("{} {} = {};", type_of(u), body_.name(u), value);
  }

  // Lane by lane; `value` says what lane k is.
  template <typename Value>
  void define_lanes(UOp u, std::int64_t lanes, Value&& value) {
    body_.line("{} {};", type_of(u), body_.name(u));
    each_lane(lanes, [&](const std::string& k) {
      return fmt::format("{} = {};", vectors_.lane(body_.name(u), k), as_element(u, value(k)));
    });
  }

  // A value as a vector of its like has it: of a mask it is 0 or -1.
  std::string as_element(UOp u, const std::string& value) const {
    if (u.dtype() != DType::Bool) return value;
    return fmt::format("-({})({})", words_.type(signed_of(mask_bytes(u))), value);
  }

  void exchange(UOp u) {
    const std::int64_t lanes = lanes_of(u), step = u.arg().value, bit = std::abs(step);
    if (u.dtype() == DType::Bool) mask_bytes_[u.node()] = mask_bytes(u.src(0));
    std::string numbers;
    for (std::int64_t l = 0; l < lanes; l++) {
      const bool has_bit = (l & bit) != 0;
      const std::int64_t from = has_bit == (step > 0) ? l - step : l;
      const std::string number = lane(u.src(has_bit), fmt::format("{}", from));
      numbers += (l ? ", " : "") + as_element(u, number);
    }
    define(u, vectors_.of_all(vector_of(u, lanes), numbers));
  }

  void of_warp(UOp u) {
    const UOp value = u.src(0);
    if (lanes_of(u) == 1) return define(u, words_.of_warp(u, first(value)));
    define_lanes(u, lanes_of(u),
                 [&](const std::string& k) { return words_.of_warp(u, lane(value, k)); });
  }

  void elementwise(UOp u) {
    const std::int64_t lanes = lanes_of(u);
    std::string operands[3];
    if (lanes == 1) {
      for (int i = 0; i < std::min(u.num_src(), 3); i++) operands[i] = first(u.src(i));
      return define(u, words_.elementwise(u, operands));
    }
    if (u.dtype() == DType::Bool) mask_bytes_[u.node()] = bytes_of_mask(u);
    if (u.is(Op::MulAdd) && is_float(u.dtype())) return multiply_add(u, lanes);
    if (const auto text = vector_text(u, lanes)) return define(u, *text);
    define_lanes(u, lanes, [&](const std::string& k) {
      for (int i = 0; i < std::min(u.num_src(), 3); i++) operands[i] = lane(u.src(i), k);
      return words_.elementwise(u, operands);
    });
  }

  void multiply_add(UOp u, std::int64_t lanes) {
    use_macro(vectors_.multiply_add(vector(u.dtype(), lanes)));
    body_.line("{} {};", type_of(u), body_.name(u));
    body_.line("fma_{}({}, {}, {}, {});", type_of(u), body_.name(u), all(u.src(0), lanes),
               all(u.src(1), lanes), all(u.src(2), lanes));
  }

  // Of the mask that an op on vectors gives.
  std::int64_t bytes_of_mask(UOp u) const {
    for (UOp s : u.sources()) {
      if (lanes_of(s) == 1) continue;
      return s.dtype() == DType::Bool ? mask_bytes(s) : size_of(s.dtype());
    }
    return size_of(u.src(0).dtype());
  }

  // ---- accesses ----

  std::string element(UOp place, const std::string& index) const {
    return fmt::format("{}[{}]", body_.name(buffer_of(place)), index);
  }

  static UOp without_after(UOp u) {
    while (u.is(Op::After)) u = u.src(0);
    return u;
  }

  bool is_contiguous(UOp place) const {
    const LaneForm index = forms_.of(place.src(1));
    return index.affine && index.step == 1;
  }

  // Whether the lanes that a gate opens are neighbours: it joins comparisons of what grows or falls
  // from lane to lane.  Those of the first lane and the last then tell of all.
  bool opens_neighbours(UOp gate) const {
    std::vector<UOp> parts{gate};
    const auto is_straight = [&](UOp u) {
      return lanes_of(u) == 1 && (forms_.of(u).step == 0 || cannot_wrap(u));
    };
    while (!parts.empty()) {
      const UOp u = without_after(parts.back());
      parts.pop_back();
      if (lanes_of(u) == 1) continue;
      if (u.is(Op::And)) {
        for (UOp s : u.sources()) parts.push_back(s);
      } else if (!(u.is(Op::Lt) || u.is(Op::Le)) || !is_straight(u.src(0)) ||
                 !is_straight(u.src(1))) {
        return false;
      }
    }
    return true;
  }

  // When all lanes of a vector are open, as a condition; "0" if it is not known.
  std::string is_open(UOp gate, std::int64_t lanes) const {
    if (!opens_neighbours(gate)) return "0";
    const std::string& name = body_.name(gate);
    return fmt::format("{} & {}", vectors_.lane(name, "0"),
                       vectors_.lane(name, fmt::format("{}", lanes - 1)));
  }

  // Where the lanes of a place are neighbours and a gate of their own opens each of them.
  bool is_masked(UOp place) const { return place.num_src() > 2 && lanes_of(place.src(2)) > 1; }

  // The same lanes, a step from each other.
  bool is_strided(UOp place, DType t) const {
    constexpr std::int64_t most_step = 1 << 20;
    const LaneForm index = forms_.of(place.src(1));
    return is_masked(place) && index.affine && size_of(t) == 4 && std::abs(index.step) < most_step;
  }

  // The words that macros of gated accesses have in common.
  std::string masked_at(UOp place, DType t, std::int64_t lanes) {
    return fmt::format("{}, {}, {}", mask(place.src(2), size_of(t), lanes),
                       body_.name(buffer_of(place)), first(place.src(1)));
  }

  void masked_load(UOp u, UOp place, DType t, std::int64_t lanes) {
    const VectorType type = vector(t, lanes), bits = mask_type(size_of(t), lanes);
    const std::string at = masked_at(place, t, lanes);
    body_.line("{} {};", type_of(u), body_.name(u));
    if (is_contiguous(place)) {
      use_macro(vectors_.masked_load(type, bits));
      return body_.line("load_{}({}, {}, {});", type.name, body_.name(u),
                        is_open(place.src(2), lanes), at);
    }
    use_macro(vectors_.gather(type, bits));
    body_.line("gather_{}({}, {}, {});", type.name, body_.name(u), at,
               forms_.of(place.src(1)).step);
  }

  // Lanes anywhere, behind gates of their own or none: false if there is no macro for them.
  bool look_up(UOp u, UOp place, DType t, std::int64_t lanes) {
    const UOp index = place.src(1);
    const bool gated = place.num_src() > 2;
    const bool fits = index.lo() >= INT32_MIN && index.hi() <= INT32_MAX && size_of(t) == 4;
    if (forms_.of(index).affine || !fits || (gated && !is_masked(place))) return false;
    const VectorType type = vector(t, lanes), bits = mask_type(size_of(t), lanes);
    const std::optional<Helper> macro = vectors_.look_up(type, bits);
    if (!macro) return false;
    use_macro(*macro);
    body_.line("{} {};", type_of(u), body_.name(u));
    body_.line("{}({}, {}, {}, {});", macro->name, body_.name(u),
               gated ? mask(place.src(2), size_of(t), lanes) : vectors_.of_one(bits, "-1"),
               body_.name(buffer_of(place)), body_.name(index));
    return true;
  }

  // One list of all lanes: compilers join what is set lane by lane one after the other.
  void strided_load(UOp u, UOp place, DType t, std::int64_t lanes) {
    const std::int64_t step = forms_.of(place.src(1)).step;
    const VectorType type = vector(t, lanes);
    const auto at = [&](std::int64_t k) {
      return element(place, fmt::format("{} + {}", first(place.src(1)), k * step));
    };
    if (const auto macro = step == 2 ? vectors_.every_other(type) : std::nullopt) {
      use_macro(*macro);
      return define(u, fmt::format("{}(&{})", macro->name, at(0)));
    }
    std::string values;
    for (std::int64_t k = 0; k < lanes; k++) values += fmt::format("{}{}", k ? ", " : "", at(k));
    define(u, vectors_.of_all(type, values));
  }

  void masked_store(UOp place, UOp value, std::int64_t lanes) {
    const DType t = value.dtype();
    const VectorType type = vector(t, lanes), bits = mask_type(size_of(t), lanes);
    const std::string at = masked_at(place, t, lanes);
    if (is_contiguous(place)) {
      use_macro(vectors_.masked_store(type, bits));
      return body_.line("store_{}({}, {}, {});", type.name, all(value, lanes),
                        is_open(place.src(2), lanes), at);
    }
    use_macro(vectors_.scatter(type, bits));
    body_.line("scatter_{}({}, {}, {});", type.name, all(value, lanes), at,
               forms_.of(place.src(1)).step);
  }

  // What stands at a place and behind it.
  std::string neighbours(UOp place, DType t, std::int64_t lanes) {
    const UOp buffer = buffer_of(place);
    const std::string at = first(place.src(1));
    if (!buffer.is(Op::Param) || !program_.info.reads_image(buffer.slot())) {
      return vectors_.load(vector(t, lanes), element(place, at));
    }
    ensure(dialect_.read_pixels != nullptr, "the {} renderer has no images", dialect_.name);
    const Helper macro = dialect_.read_pixels(dialect_, t, lanes);
    use_macro(macro);
    return fmt::format("{0}(p{1}, o{1}, {2})", macro.name, buffer.slot(), at);
  }

  void load(UOp u) {
    const UOp place = without_after(u.src(0));
    const bool is_bool = u.dtype() == DType::Bool;
    if (!place.is(Op::Index)) {
      if (is_bool) mask_bytes_[u.node()] = 1;
      return define(u, body_.name(place));
    }
    const std::int64_t lanes = lanes_of(u);
    if (is_bool) mask_bytes_[u.node()] = 1;
    const bool gated = place.num_src() > 2;
    if (lanes == 1) {
      const std::string text = element(place, first(place.src(1)));
      return define(u, gated ? fmt::format("{} ? {} : 0", first(place.src(2)), text) : text);
    }
    const std::string& name = body_.name(u);
    const DType t = is_bool ? DType::UInt8 : u.dtype();
    if (!is_bool && (is_strided(place, t) || (is_contiguous(place) && is_masked(place)))) {
      return masked_load(u, place, t, lanes);
    }
    if (!is_bool && !gated && !is_contiguous(place) && forms_.of(place.src(1)).affine) {
      return strided_load(u, place, t, lanes);
    }
    if (!is_bool && look_up(u, place, t, lanes)) return;
    if (!is_contiguous(place) || (is_bool && is_masked(place))) {
      return define_lanes(u, lanes, [&](const std::string& k) {
        const std::string text = element(place, lane(place.src(1), k));
        return gated ? fmt::format("{} ? {} : 0", lane(place.src(2), k), text) : text;
      });
    }
    const VectorType type = vector_of(u, lanes);
    std::string whole = neighbours(place, t, lanes);
    if (is_bool) whole = vectors_.of_same_bits(type, fmt::format("({} != {})", whole, zero(t)));
    if (!gated) return define(u, whole);
    body_.line("{} {} = {};", type.name, name, vectors_.of_all(type, "0"));
    body_.line("if ({}) {} = {};", first(place.src(2)), name, whole);
  }

  void store(UOp u) {
    const UOp place = without_after(u.src(0)), value = u.src(1);
    const bool is_bool = value.dtype() == DType::Bool;
    if (!place.is(Op::Index)) {
      const std::int64_t lanes = forms_.of(place).lanes;
      return body_.line("{} = {};", body_.name(place),
                        lanes == 1 ? first(value)
                        : is_bool  ? mask(value, 1, lanes)
                                   : all(value, lanes));
    }
    const std::int64_t lanes = std::max(forms_.of(place).lanes, forms_.of(value).lanes);
    const bool gated = place.num_src() > 2;
    if (lanes == 1) {
      const std::string text =
          fmt::format("{} = {};", element(place, first(place.src(1))), first(value));
      return body_.line("{}{}", gated ? fmt::format("if ({}) ", first(place.src(2))) : "", text);
    }
    const DType t = is_bool ? DType::UInt8 : value.dtype();
    if (!is_bool && (is_strided(place, t) || (is_contiguous(place) && is_masked(place)))) {
      return masked_store(place, value, lanes);
    }
    if (!is_contiguous(place) || (is_bool && is_masked(place))) {
      return each_lane(lanes, [&](const std::string& k) {
        return fmt::format("{}{} = {};",
                           gated ? fmt::format("if ({}) ", lane(place.src(2), k)) : "",
                           element(place, lane(place.src(1), k)), lane(value, k));
      });
    }
    const VectorType type = vector(t, lanes);
    const std::string stored = is_bool
                                   ? vectors_.of_same_bits(type, ones_of(mask(value, 1, lanes), 1))
                                   : all(value, lanes);
    body_.line("{}{}", gated ? fmt::format("if ({}) ", first(place.src(2))) : "",
               vectors_.store(type, element(place, first(place.src(1))), stored));
  }

  // A tree, as the interpreter does it (see writer.cpp).
  void reduce(UOp u) {
    const std::int64_t lanes = u.src(1).range_size();
    const std::string& name = body_.name(u);
    body_.line("{} {}_lanes[{}];", words_.type(u.dtype()), name, lanes);
    each_lane(lanes, [&](const std::string& k) {
      return fmt::format("{}_lanes[{}] = {};", name, k, lane(u.src(0), k));
    });
    for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
      each_lane(half, [&](const std::string& k) {
        const std::string low = fmt::format("{}_lanes[{}]", name, k),
                          high = fmt::format("{}_lanes[{} + {}]", name, k, half);
        return fmt::format("{} = {};", low, words_.op(u, u.reduce_op(), low, high));
      });
    }
    body_.line("{} {} = {}_lanes[0];", words_.type(u.dtype()), name, name);
  }

  // ---- expressions of vectors ----

  // Nothing where there are no operators for it.
  std::optional<std::string> vector_text(UOp u, std::int64_t lanes) {
    if (u.is(Op::Where)) return where_text(u, lanes);
    if (u.is(Op::Cast)) return cast_text(u, lanes);
    if (u.is(Op::Bitcast)) {
      return vectors_.of_same_bits(vector(u.dtype(), lanes), all(u.src(0), lanes));
    }
    if (is_comparison(u.op())) return comparison_text(u, lanes);
    if (u.dtype() == DType::Bool) return logic_text(u, lanes);
    if (!vectors_.has_operators(u.dtype())) return {};
    return is_float(u.dtype()) ? float_text(u, lanes) : integer_text(u, lanes);
  }

  static bool is_comparison(Op op) {
    return op == Op::Lt || op == Op::Le || op == Op::Eq || op == Op::Ne;
  }

  std::string zero(DType t) const { return fmt::format("({})0", words_.type(t)); }
  // 1 where the mask is set, else 0.
  std::string ones_of(const std::string& mask, std::int64_t bytes) const {
    return fmt::format("({} & ({})1)", mask, words_.type(signed_of(bytes)));
  }

  std::optional<std::string> where_text(UOp u, std::int64_t lanes) {
    const UOp condition = u.src(0);
    if (u.dtype() == DType::Bool) {
      const std::int64_t bytes = mask_bytes(u);
      const std::string m = mask(condition, bytes, lanes);
      return fmt::format("({0} & {1}) | (~{0} & {2})", m, mask(u.src(1), bytes, lanes),
                         mask(u.src(2), bytes, lanes));
    }
    const std::string a = all(u.src(1), lanes), b = all(u.src(2), lanes);
    if (lanes_of(condition) == 1) return fmt::format("{} ? {} : {}", first(condition), a, b);
    const std::int64_t bytes = size_of(u.dtype());
    use_macro(vectors_.select(vector(u.dtype(), lanes), mask_type(bytes, lanes)));
    return fmt::format("select_{}({}, {}, {})", type_of(u), mask(condition, bytes, lanes), a, b);
  }

  std::optional<std::string> cast_text(UOp u, std::int64_t lanes) {
    const UOp x = u.src(0);
    if (x.dtype() == DType::Bool) {
      if (u.dtype() == DType::Bool) return mask(x, mask_bytes(u), lanes);
      const std::int64_t bytes = size_of(u.dtype());
      return vectors_.converted(vector(u.dtype(), lanes), ones_of(mask(x, bytes, lanes), bytes));
    }
    if (u.dtype() == DType::Bool) {
      if (!vectors_.has_operators(x.dtype())) return {};
      const std::string none = is_narrow(x.dtype()) ? zero(x.dtype()) : literal(0, x.dtype());
      return vectors_.of_same_bits(vector_of(u, lanes),
                                   fmt::format("({} != {})", all(x, lanes), none));
    }
    if (is_float(x.dtype()) && !is_float(u.dtype())) return {};
    return vectors_.converted(vector(u.dtype(), lanes), all(x, lanes));
  }

  std::optional<std::string> comparison_text(UOp u, std::int64_t lanes) {
    if (!vectors_.has_operators(u.src(0).dtype())) return {};
    const std::string text =
        fmt::format("({} {} {})", side(u.src(0), lanes), infix(u.op()), side(u.src(1), lanes));
    return vectors_.of_same_bits(vector_of(u, lanes), text);
  }

  std::optional<std::string> logic_text(UOp u, std::int64_t lanes) {
    const std::int64_t bytes = mask_bytes(u);
    const std::string a = mask(u.src(0), bytes, lanes);
    switch (u.op()) {
      case Op::Not: return "~" + a;
      case Op::And:
      case Op::Or:
      case Op::Xor: return fmt::format("{} {} {}", a, infix(u.op()), mask(u.src(1), bytes, lanes));
      default: return {};
    }
  }

  std::optional<std::string> float_text(UOp u, std::int64_t lanes) {
    switch (u.op()) {
      case Op::Neg: return "-" + all(u.src(0), lanes);
      case Op::Add:
      case Op::Mul:
      case Op::Div:
        return fmt::format("{} {} {}", side(u.src(0), lanes), infix(u.op()), side(u.src(1), lanes));
      case Op::Max:
      case Op::Min: return extremum_text(u, lanes);
      default: break;
    }
    const std::optional<Helper> function = vectors_.function(u.op(), vector(u.dtype(), lanes));
    if (!function) return {};
    if (!function->text.empty()) use_macro(*function);
    return fmt::format("{}({})", function->name, all(u.src(0), lanes));
  }

  // One comparison where the other operand is a number that is no NaN and not the zero which loses.
  std::string extremum_text(UOp u, std::int64_t lanes) {
    const VectorType type = vector(u.dtype(), lanes);
    const bool is_max = u.is(Op::Max);
    for (int i = 0; i < 2; i++) {
      const UOp c = u.src(i), x = u.src(1 - i);
      if (!c.is_const()) continue;
      const double number = std::bit_cast<double>(c.arg().value);
      if (std::isnan(number) || (number == 0 && std::signbit(number) == is_max)) continue;
      return chosen(type, fmt::format("{} {} {}", all(x, lanes), is_max ? "<=" : ">=", first(c)),
                    all(c, lanes), all(x, lanes));
    }
    const std::string a = all(u.src(0), lanes), b = all(u.src(1), lanes);
    const std::string &name = body_.name(u), some = name + "_some", same = name + "_same";
    // A NaN on the right is taken, one on the left is put back; of zeros the signs are joined.
    body_.line("{} {} = {};", type.name, some,
               chosen(type, fmt::format("{} {} {}", a, is_max ? ">" : "<", b), a, b));
    const VectorType bits = mask_type(size_of(u.dtype()), lanes);
    const std::string joined = fmt::format("({} {} {})", vectors_.of_same_bits(bits, a),
                                           is_max ? "&" : "|", vectors_.of_same_bits(bits, b));
    body_.line(
        "{} {} = {};", type.name, same,
        chosen(type, fmt::format("{} == {}", a, b), vectors_.of_same_bits(type, joined), some));
    return chosen(type, fmt::format("{0} != {0}", a), a, same);
  }

  // a where a comparison of vectors of this type holds, else b.
  std::string chosen(const VectorType& type, const std::string& comparison, const std::string& a,
                     const std::string& b) {
    const VectorType bits = mask_type(size_of(type.dtype), type.lanes);
    const std::string mask =
        fmt::format("({})", vectors_.of_same_bits(bits, fmt::format("({})", comparison)));
    return vectors_.selected(type, bits, mask, a, b);
  }

  static bool shifts_within(UOp u) {
    return u.src(1).lo() >= 0 && u.src(1).hi() < 8 * size_of(u.dtype());
  }

  std::optional<std::string> integer_text(UOp u, std::int64_t lanes) {
    const VectorType type = vector(u.dtype(), lanes);
    const VectorType wraps = vector(unsigned_of(size_of(u.dtype())), lanes);
    const std::string a = all(u.src(0), lanes);
    const std::string b = u.num_src() > 1 ? all(u.src(1), lanes) : "";
    // Lane by lane bits may be shifted out of an int, of a vector by fewer than an element has.
    const bool is_shift = u.is(Op::Shl) || u.is(Op::Shr);
    if (is_shift && is_narrow(u.dtype()) && !shifts_within(u)) return {};
    switch (u.op()) {
      case Op::Neg:
        return vectors_.of_same_bits(type, fmt::format("(-{})", vectors_.of_same_bits(wraps, a)));
      case Op::Not: return "~" + a;
      case Op::Add:
      case Op::Mul:
      case Op::Shl:
        return vectors_.of_same_bits(
            type, fmt::format("({} {} {})", vectors_.of_same_bits(wraps, a), infix(u.op()),
                              vectors_.of_same_bits(wraps, b)));
      case Op::And:
      case Op::Or:
      case Op::Xor:
      case Op::Shr: return fmt::format("{} {} {}", a, infix(u.op()), b);
      case Op::Max:
      case Op::Min:
        return chosen(type, fmt::format("{} {} {}", a, u.is(Op::Max) ? ">" : "<", b), a, b);
      default: return {};
    }
  }

  const LinearProgram& program_;
  const Dialect& dialect_;
};

}  // namespace

bool can_write_vectors(const LinearProgram& program, std::int64_t most_lanes) {
  return !program.lanes.empty() && std::ranges::all_of(program.lanes, [=](UOp lane) {
    return lane.range_size() > 1 && lane.range_size() <= most_lanes &&
           std::has_single_bit(static_cast<std::uint64_t>(lane.range_size()));
  });
}

KernelText write_vector_kernel(const Dialect& dialect, const VectorWords& vectors,
                               const LinearProgram& program) {
  return VectorWriter(dialect, vectors, program).run();
}

}  // namespace croze::c_family
