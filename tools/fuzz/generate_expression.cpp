// generate_expression.cpp -- random expressions.
//
// Divisors and factors come from the sizes of the ranges and their products, because what makes
// index arithmetic collapse is that they fit together.  Index values stay far below 2^63, as the
// dtype demands; sized integers may do what they like.
#include <algorithm>
#include <array>
#include <cmath>

#include "croze/graph/eval.h"
#include "fuzz/expression.h"

namespace croze::fuzz {
namespace {

using i64 = std::int64_t;

constexpr double largest_index = 0x1p40;
constexpr i64 sizes[] = {1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 12, 16, 24, 32, 64, 100, 127};
constexpr DType sized_types[] = {DType::Int8,  DType::UInt8,  DType::Int16, DType::UInt16,
                                 DType::Int32, DType::UInt32, DType::Int64, DType::UInt64};
constexpr Op comparisons[] = {Op::Lt, Op::Lt, Op::Le, Op::Eq, Op::Ne};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : chance_(seed) {}

  Expression run() {
    sized_percent_ = chance_.percent(30) ? 80 : chance_.percent(20) ? 30 : 0;
    const i64 leaves = chance_.between(1, 4);
    for (i64 i = 0; i < leaves; i++) leaf(type());
    const i64 length = chance_.between(2, 10);
    for (i64 i = 0; i < length; i++) last_ = step(type());
    expression_.root = last_;
    expression_.gate = gate();
    return pruned(expression_);
  }

 private:
  DType type() {
    if (chance_.percent(sized_percent_)) return own_type();
    return chance_.percent(85) ? DType::Index : DType::Bool;
  }
  // One sized type for most of an expression: else its parts would never meet.
  DType own_type() {
    if (own_type_ == DType::Void || chance_.percent(8)) own_type_ = chance_.one_of(sized_types);
    return own_type_;
  }

  const Step& at(int i) const { return expression_.at(i); }
  DType type_of(int i) const { return at(i).dtype; }

  int add(Step step, double magnitude) {
    expression_.steps.push_back(std::move(step));
    magnitude_.push_back(magnitude);
    return static_cast<int>(expression_.steps.size()) - 1;
  }

  double magnitude(int i) const { return magnitude_[static_cast<std::size_t>(i)]; }

  // The op on these operands, or the first operand if the result could be too large for an Index.
  int op(Op op, DType t, std::vector<int> src) {
    const double m = t == DType::Index ? magnitude_of(op, src) : 0;
    if (m > largest_index) return src[0];
    return add({op, t, std::move(src)}, m);
  }

  double magnitude_of(Op op, const std::vector<int>& src) const {
    const double a = magnitude(src[0]), b = src.size() > 1 ? magnitude(src[1]) : 0;
    switch (op) {
      case Op::Add: return a + b;
      case Op::Mul: return a * b;
      case Op::Mod: return std::max(a, b);
      case Op::Max:
      case Op::Min: return std::max(a, b);
      case Op::Where: return std::max(b, magnitude(src[2]));
      case Op::Cast: return type_of(src[0]) == DType::Bool ? 1 : std::ldexp(1, 40);
      case Op::IDiv: return a + 1;
      case Op::Shl: return std::ldexp(a, 8);
      case Op::And:
      case Op::Or:
      case Op::Xor: return 2 * std::max(a, b) + 2;
      default: return a + 1;
    }
  }

  // ---- leaves and constants ----

  int leaf(DType t) {
    if (t != DType::Index) return add({Op::Load, t, {}}, 0);
    if (chance_.percent(70)) {
      const i64 size = size_like();
      return add({Op::Range, t, {}, 0, size - 1}, static_cast<double>(size));
    }
    const i64 lo =
        chance_.percent(10) ? chance_.between(-100000, 100000) : chance_.between(-20, 20);
    const i64 hi = lo + chance_.below(chance_.percent(50) ? 8 : 100);
    return add({Op::Variable, t, {}, lo, hi}, static_cast<double>(std::max(-lo, std::abs(hi)) + 1));
  }

  i64 size_like() {
    const i64 size = chance_.one_of(sizes);
    sizes_.push_back(size);
    return size;
  }

  // A number that may fit what there is: a size, a product of sizes, a neighbour of one.
  i64 number_like() {
    if (sizes_.empty() || chance_.percent(35)) return chance_.one_of(sizes);
    i64 n = chance_.one_of(sizes_);
    if (chance_.percent(40)) n *= chance_.one_of(sizes_);
    if (chance_.percent(15)) n += chance_.between(-1, 1);
    return n;
  }

  int constant(DType t, i64 v) {
    const double magnitude = t == DType::Index ? std::abs(static_cast<double>(v)) : 0;
    return add({Op::Const, t, {}, bits_of(v, t)}, magnitude);
  }

  int any_constant(DType t) {
    if (t == DType::Bool) return constant(t, chance_.below(2));
    const i64 n = chance_.percent(10) ? 0 : number_like();
    if (t == DType::Index) return constant(t, chance_.percent(20) ? -n : n);
    switch (chance_.below(6)) {
      case 0: return constant(t, min_value(t) + chance_.below(2));
      case 1: return constant(t, max_value(t) - chance_.below(2));
      case 2: return constant(t, i64{1} << chance_.below(8 * size_of(t)));
      case 3:
        return constant(t,
                        static_cast<i64>((std::uint64_t{1} << chance_.below(8 * size_of(t))) - 1));
      default: return constant(t, chance_.percent(30) ? -n : n);
    }
  }

  // A value of the type: mostly one that is there, late ones likelier.
  int pick(DType t) {
    if (chance_.percent(10)) return leaf(t);
    for (int tries = 0; tries < 12; tries++) {
      const auto n = static_cast<i64>(expression_.steps.size());
      const i64 i =
          chance_.percent(60) ? n - 1 - chance_.below(std::min<i64>(n, 4)) : chance_.below(n);
      const int candidate = static_cast<int>(i);
      if (candidate >= 0 && type_of(candidate) == t && at(candidate).op != Op::Const) {
        return candidate;
      }
    }
    return leaf(t);
  }
  int pick_or_constant(DType t) { return chance_.percent(40) ? any_constant(t) : pick(t); }

  // ---- steps ----

  int step(DType t) {
    if (chance_.percent(8)) return op(Op::Where, t, {condition(), pick(t), pick_or_constant(t)});
    if (t == DType::Bool) return condition();
    if (t == DType::Index) return index_step();
    return sized_step(t);
  }

  int index_step() {
    constexpr DType t = DType::Index;
    switch (chance_.below(16)) {
      case 0:
      case 1:
      case 2: return sum();
      case 3: return op(Op::Mul, t, {pick(t), any_constant(t)});
      case 4: return op(Op::Mul, t, {pick(t), pick(t)});
      case 5:
      case 6: return op(Op::IDiv, t, {pick(t), divisor()});
      case 7:
      case 8: return op(Op::Mod, t, {pick(t), divisor()});
      case 9: {  // split and joined again
        const int x = pick(t), c = divisor();
        const int high = op(Op::Mul, t, {op(Op::IDiv, t, {x, c}), c});
        return op(Op::Add, t, {high, op(Op::Mod, t, {x, c})});
      }
      case 10: return op(Op::Mod, t, {op(Op::IDiv, t, {pick(t), divisor()}), divisor()});
      case 11: return op(Op::Max, t, {pick(t), pick_or_constant(t)});
      case 12: return op(Op::Min, t, {pick(t), pick_or_constant(t)});
      case 13: return op(Op::Cast, t, {condition()});
      case 14: return op(Op::Add, t, {pick(t), op(Op::Neg, t, {pick(t)})});
      default: return rare_index_step();
    }
  }

  int rare_index_step() {
    constexpr DType t = DType::Index;
    switch (chance_.below(5)) {
      case 0: return op(Op::CDiv, t, {pick(t), divisor()});
      case 1: return op(Op::CMod, t, {pick(t), divisor()});
      case 2: return op(Op::Shl, t, {pick(t), constant(t, chance_.below(8))});
      case 3: return op(Op::Shr, t, {pick(t), constant(t, chance_.below(8))});
      default: return op(Op::And, t, {pick(t), constant(t, (1 << chance_.below(8)) - 1)});
    }
  }

  int divisor() {
    if (chance_.percent(12)) return pick(DType::Index);
    if (chance_.percent(8)) return any_constant(DType::Index);
    return constant(DType::Index, std::max<i64>(number_like(), 1));
  }

  // A few terms with coefficients, like the flat index of a view.
  int sum() {
    constexpr DType t = DType::Index;
    int result = pick(t);
    const i64 terms = chance_.between(1, 3);
    for (i64 i = 0; i < terms; i++) {
      int term = pick(t);
      if (chance_.percent(75)) {
        const i64 n = chance_.percent(20) ? -number_like() : number_like();
        term = op(Op::Mul, t, {term, constant(t, n)});
      }
      result = op(Op::Add, t, {result, term});
    }
    if (chance_.percent(40)) result = op(Op::Add, t, {result, any_constant(t)});
    return result;
  }

  int sized_step(DType t) {
    constexpr Op binary[] = {Op::Add, Op::Add, Op::Mul, Op::IDiv, Op::Mod, Op::CDiv, Op::CMod,
                             Op::Max, Op::Min, Op::And, Op::Or,   Op::Xor, Op::Shl,  Op::Shr};
    if (chance_.percent(18)) return op(chance_.percent(50) ? Op::Neg : Op::Not, t, {pick(t)});
    if (chance_.percent(15)) return cast_to(t);
    const int x = pick(t), y = pick_or_constant(t);
    const Op o = chance_.one_of(binary);
    if ((o == Op::Shl || o == Op::Shr) && chance_.percent(80)) {
      return op(o, t, {x, constant(t, chance_.below(8 * size_of(t)))});
    }
    return chance_.percent(80) ? op(o, t, {x, y}) : op(o, t, {y, x});
  }

  int cast_to(DType t) {
    const DType from[] = {DType::Bool, DType::Index, chance_.one_of(sized_types)};
    const DType f = chance_.one_of(from);
    return f == t ? pick(t) : op(Op::Cast, t, {pick(f)});
  }

  // ---- booleans ----

  int condition() {
    const DType types[] = {DType::Index, DType::Index, DType::Index, DType::Bool};
    const DType t = chance_.percent(sized_percent_) ? own_type() : chance_.one_of(types);
    if (t != DType::Bool) return comparison(t);
    constexpr Op binary[] = {Op::And, Op::And, Op::Or, Op::Xor, Op::Eq, Op::Ne, Op::Lt, Op::Le};
    const int x = pick(t);
    return chance_.percent(20) ? op(Op::Not, t, {x}) : op(chance_.one_of(binary), t, {x, pick(t)});
  }

  int comparison(DType t) {
    const int x = pick(t);
    const int y = chance_.percent(65) ? any_constant(t) : pick(t);
    const Op o = chance_.one_of(comparisons);
    return chance_.percent(75) ? op(o, DType::Bool, {x, y}) : op(o, DType::Bool, {y, x});
  }

  // A conjunction of bounds on sums of the leaves, as padding makes it.
  int gate() {
    int result = chance_.percent(20) ? condition() : bound();
    const i64 more = chance_.below(4);
    for (i64 i = 0; i < more; i++) {
      const int term = chance_.percent(15) ? condition() : bound();
      result = op(Op::And, DType::Bool, {result, term});
    }
    return result;
  }

  int bound() {
    constexpr DType t = DType::Index;
    const int x = chance_.percent(50) ? pick(t) : sum();
    const int limit = constant(t, chance_.percent(70) ? number_like() : -chance_.below(10));
    if (chance_.percent(10)) return op(Op::Eq, DType::Bool, {x, limit});
    if (chance_.percent(50)) return op(Op::Lt, DType::Bool, {x, limit});
    return op(chance_.percent(50) ? Op::Lt : Op::Le, DType::Bool, {limit, x});
  }

  Chance chance_;
  Expression expression_;
  std::vector<double> magnitude_;
  std::vector<i64> sizes_;
  int sized_percent_ = 0;
  int last_ = -1;
  DType own_type_ = DType::Void;
};

}  // namespace

Expression random_expression(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace croze::fuzz
