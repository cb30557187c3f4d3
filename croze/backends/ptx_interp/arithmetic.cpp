// arithmetic.cpp -- the table of instructions, and functions of C++ that mean the same.
//
// What PTX leaves open is an error: a division of integers by zero, or one that overflows.
#include "croze/backends/ptx_interp/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "croze/backends/ptx_interp/item.h"

namespace croze::ptx_interp {
namespace {

// ---- the functions ----------------------------------------------------------------------------

// Integers wrap.
template <typename T, typename F>
T wrapping(F f, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return f(a, b);
  } else {
    return static_cast<T>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  }
}

struct Add {
  template <typename T>
  static T of(T a, T b) {
    return wrapping([](auto x, auto y) { return x + y; }, a, b);
  }
};
struct Mul {
  template <typename T>
  static T of(T a, T b) {
    return wrapping([](auto x, auto y) { return x * y; }, a, b);
  }
};
struct MulAdd {
  template <typename T>
  static T of(T a, T b, T c) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fma(a, b, c);
    } else {
      return Add::of(Mul::of(a, b), c);
    }
  }
};
struct Div {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(a % b);
  }
};
struct Neg {
  template <typename T>
  static T of(T a) {
    if constexpr (std::is_floating_point_v<T>) {
      return -a;
    } else {
      return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(a));
    }
  }
};
struct Not {
  template <typename T>
  static T of(T a) {
    if constexpr (std::is_same_v<T, bool>) {
      return !a;
    } else {
      return static_cast<T>(~a);
    }
  }
};
struct And {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Mov {
  template <typename T>
  static T of(T a) {
    return a;
  }
};
struct Sqrt {
  template <typename T>
  static T of(T a) {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <typename T>
  static T of(T a) {
    return T{1} / a;
  }
};

// Of two zeros the positive one is the greater.
template <typename T>
T greater(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}
template <typename T>
T lesser(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}
// A NaN is passed over, or wins.
struct Max {
  template <typename T>
  static T of(T a, T b) {
    return a != a ? b : b != b ? a : greater(a, b);
  }
};
struct Min {
  template <typename T>
  static T of(T a, T b) {
    return a != a ? b : b != b ? a : lesser(a, b);
  }
};
struct MaxNaN {
  template <typename T>
  static T of(T a, T b) {
    return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : greater(a, b);
  }
};
struct MinNaN {
  template <typename T>
  static T of(T a, T b) {
    return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : lesser(a, b);
  }
};

struct Lt {
  template <typename T>
  static bool of(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <typename T>
  static bool of(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <typename T>
  static bool of(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <typename T>
  static bool of(T a, T b) {
    return a >= b;
  }
};
struct Eq {
  template <typename T>
  static bool of(T a, T b) {
    return a == b;
  }
};
// Of floats, false where one is NaN.
struct Ne {
  template <typename T>
  static bool of(T a, T b) {
    return a < b || a > b;
  }
};
struct NeOrNaN {
  template <typename T>
  static bool of(T a, T b) {
    return a != b;
  }
};
struct AreNumbers {
  template <typename T>
  static bool of(T a, T b) {
    return a == a && b == b;
  }
};

// Amounts beyond the width count as the width.
struct Shl {
  template <typename T>
  static T of(T a, std::uint32_t by) {
    constexpr std::uint32_t width = 8 * sizeof(T);
    return by >= width ? T{0} : static_cast<T>(static_cast<std::uint64_t>(a) << by);
  }
};
struct Shr {
  template <typename T>
  static T of(T a, std::uint32_t by) {
    constexpr std::uint32_t width = 8 * sizeof(T);
    if (by < width) return static_cast<T>(a >> by);
    return static_cast<T>(a < 0 ? -1 : 0);
  }
};

// ---- from functions to handlers ---------------------------------------------------------------

template <typename T, typename F>
struct Unary {
  static void run(Item& i, const Step& s) { i.set(s.result, F::of(i.get<T>(s.in[0]))); }
};
template <typename T, typename F>
struct Binary {
  static void run(Item& i, const Step& s) {
    i.set(s.result, F::of(i.get<T>(s.in[0]), i.get<T>(s.in[1])));
  }
};
template <typename T, typename F>
struct Ternary {
  static void run(Item& i, const Step& s) {
    i.set(s.result, F::of(i.get<T>(s.in[0]), i.get<T>(s.in[1]), i.get<T>(s.in[2])));
  }
};
template <typename T, typename F>
struct Shift {
  static void run(Item& i, const Step& s) {
    i.set(s.result, F::of(i.get<T>(s.in[0]), i.get<std::uint32_t>(s.in[1])));
  }
};
template <typename T, typename F>
struct Division {
  static void run(Item& i, const Step& s) {
    const T a = i.get<T>(s.in[0]), b = i.get<T>(s.in[1]);
    if (b == 0) i.refuse(s, "division of an integer by zero");
    if constexpr (std::is_signed_v<T>) {
      if (b == -1 && a == std::numeric_limits<T>::min()) {
        i.refuse(s, "division of the least integer by -1");
      }
    }
    i.set(s.result, F::of(a, b));
  }
};
template <typename T, typename>
struct Selection {
  static void run(Item& i, const Step& s) {
    i.set(s.result, i.get<T>(s.in[i.get<bool>(s.in[2]) ? 0 : 1]));
  }
};

// A product of integers in full, and a sum with it.
template <typename T>
using Wide = std::conditional_t<std::is_signed_v<T>,
                                std::conditional_t<sizeof(T) == 2, std::int32_t, std::int64_t>,
                                std::conditional_t<sizeof(T) == 2, std::uint32_t, std::uint64_t>>;

template <typename T>
Wide<T> wide_product(const Item& i, const Step& s) {
  return Mul::of(Wide<T>{i.get<T>(s.in[0])}, Wide<T>{i.get<T>(s.in[1])});
}
template <typename T, typename>
struct WideProduct {
  static void run(Item& i, const Step& s) { i.set(s.result, wide_product<T>(i, s)); }
};
template <typename T, typename>
struct WideMulAdd {
  static void run(Item& i, const Step& s) {
    i.set(s.result, Add::of(wide_product<T>(i, s), i.get<Wide<T>>(s.in[2])));
  }
};

// ---- by type ----------------------------------------------------------------------------------

template <template <typename, typename> class Handle, typename F>
Handler narrow_integers(Type t) {
  switch (t) {
    case Type::U16: return Handle<std::uint16_t, F>::run;
    case Type::S16: return Handle<std::int16_t, F>::run;
    case Type::U32: return Handle<std::uint32_t, F>::run;
    case Type::S32: return Handle<std::int32_t, F>::run;
    default: return nullptr;
  }
}
template <template <typename, typename> class Handle, typename F>
Handler integers(Type t) {
  if (t == Type::U64) return Handle<std::uint64_t, F>::run;
  if (t == Type::S64) return Handle<std::int64_t, F>::run;
  return narrow_integers<Handle, F>(t);
}
template <template <typename, typename> class Handle, typename F>
Handler floats(Type t) {
  if (t == Type::F32) return Handle<float, F>::run;
  if (t == Type::F64) return Handle<double, F>::run;
  return nullptr;
}
template <template <typename, typename> class Handle, typename F>
Handler single(Type t) {
  return t == Type::F32 ? Handle<float, F>::run : nullptr;
}
template <template <typename, typename> class Handle, typename F>
Handler numbers(Type t) {
  const Handler handler = integers<Handle, F>(t);
  return handler ? handler : floats<Handle, F>(t);
}
template <template <typename, typename> class Handle, typename F>
Handler signed_numbers(Type t) {
  return is_unsigned(t) ? nullptr : numbers<Handle, F>(t);
}
template <template <typename, typename> class Handle, typename F>
Handler words(Type t) {
  switch (t) {
    case Type::B16: return Handle<std::uint16_t, F>::run;
    case Type::B32: return Handle<std::uint32_t, F>::run;
    case Type::B64: return Handle<std::uint64_t, F>::run;
    default: return nullptr;
  }
}
template <template <typename, typename> class Handle, typename F>
Handler bits(Type t) {
  return t == Type::Pred ? Handle<bool, F>::run : words<Handle, F>(t);
}
template <template <typename, typename> class Handle, typename F>
Handler anything(Type t) {
  const Handler handler = numbers<Handle, F>(t);
  return handler ? handler : bits<Handle, F>(t);
}
template <template <typename, typename> class Handle, typename F>
Handler all_but_predicates(Type t) {
  return t == Type::Pred ? nullptr : anything<Handle, F>(t);
}

// clang-format off
constexpr Form forms[] = {
    {"mov", "tt", anything<Unary, Mov>},
    {"cvta.to.global", "tt", integers<Unary, Mov>},
    {"cvta.param", "tt", integers<Unary, Mov>},
    {"selp", "tttp", all_but_predicates<Selection, void>},

    {"add", "ttt", integers<Binary, Add>},
    {"mul.lo", "ttt", integers<Binary, Mul>},
    {"mul.wide", "wtt", narrow_integers<WideProduct, void>},
    {"mad.lo", "tttt", integers<Ternary, MulAdd>},
    {"mad.wide", "wttw", narrow_integers<WideMulAdd, void>},
    {"div", "ttt", integers<Division, Div>},
    {"rem", "ttt", integers<Division, Rem>},
    {"neg", "tt", signed_numbers<Unary, Neg>},
    {"max", "ttt", numbers<Binary, Max>},
    {"min", "ttt", numbers<Binary, Min>},

    {"not", "tt", bits<Unary, Not>},
    {"and", "ttt", bits<Binary, And>},
    {"or", "ttt", bits<Binary, Or>},
    {"xor", "ttt", bits<Binary, Xor>},
    {"shl", "ttu", words<Shift, Shl>},
    {"shr", "ttu", integers<Shift, Shr>},

    {"add.rn", "ttt", floats<Binary, Add>},
    {"mul.rn", "ttt", floats<Binary, Mul>},
    {"div.rn", "ttt", floats<Binary, Div>},
    {"fma.rn", "tttt", floats<Ternary, MulAdd>},
    {"rcp.rn", "tt", floats<Unary, Reciprocal>},
    {"sqrt.rn", "tt", floats<Unary, Sqrt>},
    {"max.NaN", "ttt", single<Binary, MaxNaN>},
    {"min.NaN", "ttt", single<Binary, MinNaN>},

    {"setp.lt", "ptt", numbers<Binary, Lt>},
    {"setp.le", "ptt", numbers<Binary, Le>},
    {"setp.gt", "ptt", numbers<Binary, Gt>},
    {"setp.ge", "ptt", numbers<Binary, Ge>},
    {"setp.eq", "ptt", numbers<Binary, Eq>},
    {"setp.ne", "ptt", numbers<Binary, Ne>},
    {"setp.neu", "ptt", floats<Binary, NeOrNaN>},
    {"setp.num", "ptt", floats<Binary, AreNumbers>},
};
// clang-format on

}  // namespace

// Ties away from zero; what the instruction leaves in the bits below is nobody's business.
void to_tf32(Item& item, const Step& step) {
  const auto bits = item.get<std::uint32_t>(step.in[0]);
  const bool is_finite = (bits >> 23 & 255) != 255;
  item.set(step.result, is_finite ? (bits + 0x1000u) & ~0x1fffu : bits);
}

void join_halves(Item& item, const Step& step) {
  const std::uint32_t low = item.get<std::uint16_t>(step.registers[0]),
                      high = item.get<std::uint16_t>(step.registers[1]);
  item.set(step.result, low | high << 16);
}

const Form* find_form(std::string_view name) {
  const auto form = std::ranges::find(forms, name, &Form::name);
  return form == std::end(forms) ? nullptr : &*form;
}

}  // namespace croze::ptx_interp
