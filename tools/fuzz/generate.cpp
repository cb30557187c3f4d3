// generate.cpp -- random tensor programs: every op of the tensor stage, on awkward shapes, with
// values shared by several users and buffers assigned between reads.
#include "fuzz/generate.h"

#include <algorithm>
#include <cmath>

#include "croze/graph/eval.h"
#include "fuzz/chance.h"

namespace croze::fuzz {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 32, 33, 48, 64, 65};
constexpr Op float_unary[] = {Op::Neg, Op::Exp, Op::Exp2, Op::Log,        Op::Log2,
                              Op::Sin, Op::Cos, Op::Sqrt, Op::Reciprocal, Op::Trunc};
constexpr Op float_binary[] = {Op::Add, Op::Add, Op::Mul, Op::Mul, Op::Div, Op::Max, Op::Min};
constexpr Op integer_binary[] = {Op::Add, Op::Mul, Op::IDiv, Op::Mod, Op::Max, Op::Min,
                                 Op::And, Op::Or,  Op::Xor,  Op::Shl, Op::Shr};
constexpr Op bool_binary[] = {Op::And, Op::Or, Op::Xor};
constexpr Op comparisons[] = {Op::Lt, Op::Le, Op::Eq, Op::Ne};
constexpr Op reductions[] = {Op::Add, Op::Add, Op::Max, Op::Min, Op::Mul};
constexpr DType rare_dtypes[] = {DType::Int8,     DType::UInt8,  DType::Int16,  DType::UInt16,
                                 DType::UInt32,   DType::Int64,  DType::UInt64, DType::Float16,
                                 DType::BFloat16, DType::Float64};

class Generator {
 public:
  Generator(std::uint64_t seed, const FuzzOptions& options) : chance_(seed), options_(options) {}

  FuzzProgram run() {
    if (options_.only_views) return run_views();
    for (int i = 0; i < 2; i++) buffer(dtype(), shape());
    for (int i = 0; i < options_.steps; i++) step();
    choose_roots();
    return std::move(program_);
  }

 private:
  // One buffer, its elements numbered from 1, and a chain of views on it.
  FuzzProgram run_views() {
    Instruction in{.op = Op::Buffer, .dtype = DType::Int32, .shape = shape()};
    for (std::int64_t i = 0; i < elements_of(in.shape); i++) in.bits.push_back(i + 1);
    append(std::move(in));
    for (int i = 0; i < options_.steps; i++) {
      movement_step(static_cast<int>(program_.code.size()) - 1);
    }
    program_.roots = {static_cast<int>(program_.code.size()) - 1};
    return std::move(program_);
  }

  // ---- chance ----

  std::int64_t below(std::int64_t n) { return chance_.below(n); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return chance_.between(low, high); }
  bool chance(int percent) { return chance_.percent(percent); }
  template <typename T, std::size_t N>
  T one_of(const T (&choices)[N]) {
    return chance_.one_of(choices);
  }

  DType dtype() {
    if (options_.rare_dtypes && chance(25)) return one_of(rare_dtypes);
    return chance(70) ? DType::Float32 : chance(80) ? DType::Int32 : DType::Bool;
  }

  Dims shape() {
    Dims result;
    std::int64_t elements = 1;
    const std::int64_t rank = between(0, 4);
    for (std::int64_t axis = 0; axis < rank; axis++) {
      const std::int64_t size = chance(1) ? 0 : one_of(sizes);
      if (elements * size > options_.largest) continue;
      elements *= size;
      result.push_back(size);
    }
    return result;
  }

  // A value made earlier; late ones are likelier, but old ones stay in use.
  int pick() {
    const auto n = static_cast<std::int64_t>(program_.code.size());
    return static_cast<int>(chance(75) ? n - 1 - below(std::min<std::int64_t>(n, 3)) : below(n));
  }

  Dims shape_of(int i) const { return program_.at(i).shape; }  // a copy: the program grows
  DType dtype_of(int i) const { return program_.at(i).dtype; }
  std::int64_t size_of_axis(int i, std::int64_t axis) const { return shape_of(i)[axis]; }
  std::int64_t rank_of(int i) const { return shape_of(i).size(); }
  static std::int64_t elements_of(const Dims& shape) {
    std::int64_t n = 1;
    for (std::int64_t size : shape) n *= size;
    return n;
  }

  // ---- instructions; -1 if the program would not take them ----

  int append(Instruction in) {
    return program_.append(std::move(in)) ? static_cast<int>(program_.code.size()) - 1 : -1;
  }

  // Mostly small whole numbers, so that results are exact; sometimes fractions.
  int buffer(DType t, const Dims& s) {
    Instruction in{.op = Op::Buffer, .dtype = t, .shape = s};
    const double specials[] = {std::nan(""), HUGE_VAL, -HUGE_VAL, -0.0, -0.0};
    const bool whole = !is_float(t) || chance(60);
    const std::int64_t largest = t == DType::Bool ? 1 : chance(50) ? 3 : 30;
    for (std::int64_t i = 0; i < elements_of(s); i++) {
      const std::int64_t low = is_unsigned(t) ? 0 : -largest;
      const std::int64_t number = between(low, largest);
      const double value =
          whole ? static_cast<double>(number) : 0.37 * static_cast<double>(number) + 0.11;
      const bool special = is_float(t) && chance(options_.specials);
      in.bits.push_back(bits_of(special ? one_of(specials) : value, t));
    }
    return append(std::move(in));
  }

  int constant(DType t) {
    const std::int64_t n = between(is_unsigned(t) ? 0 : -4, 5);
    return append({.op = Op::Const, .dtype = t, .shape = {}, .src = {}, .arg = {bits_of(n, t)}});
  }

  int movement(Op op, int x, Ints arg) {
    return append({.op = op, .dtype = dtype_of(x), .shape = {}, .src = {x}, .arg = std::move(arg)});
  }

  int cast(int x, DType t) {
    if (dtype_of(x) == t) return x;
    return append({.op = Op::Cast, .dtype = t, .shape = {}, .src = {x}});
  }

  int elementwise(Op op, DType t, std::vector<int> src) {
    if (std::ranges::find(src, -1) != src.end()) return -1;
    return append({.op = op, .dtype = t, .shape = {}, .src = std::move(src)});
  }

  // Another value of this shape and dtype: one that exists, one made to fit, a constant, a new
  // buffer.
  int partner(const Dims& s, DType t) {
    if (chance(20)) return constant(t);
    for (int tries = 0; tries < 6; tries++) {
      const int candidate = pick();
      const int fitted = fit(candidate, s);
      if (fitted < 0) continue;
      const int result = cast(fitted, t);
      if (result >= 0) return result;
    }
    return buffer(t, s);
  }

  // An operand of `s`: `x` itself if it is a constant, else broadcast; or -1.
  int fit(int x, const Dims& s) { return program_.at(x).op == Op::Const ? x : broadcast(x, s); }

  int broadcast(int x, const Dims& s) {
    if (shape_of(x) == s) return x;
    if (rank_of(x) == 0) {
      x = movement(Op::Reshape, x, Ints(static_cast<std::size_t>(s.size()), 1));
    }
    if (rank_of(x) != s.size()) return -1;
    for (std::int64_t i = 0; i < s.size(); i++) {
      if (size_of_axis(x, i) != s[i] && size_of_axis(x, i) != 1) return -1;
    }
    return shape_of(x) == s ? x : movement(Op::Expand, x, Ints(s.begin(), s.end()));
  }

  // ---- steps ----

  void step() {
    const int x = pick();
    if (chance(options_.contractions)) return void(chance(60) ? matmul() : convolution());
    if (chance(options_.assigns)) return assign();
    const std::int64_t kind = below(100);
    if (kind < 45) {
      elementwise_step(x);
    } else if (kind < 65) {
      movement_step(x);
    } else if (kind < 80) {
      reduce_step(x);
    } else if (kind < 84) {
      gather(x);
    } else if (kind < 88) {
      scatter(x);
    } else if (kind < 92) {
      const Op kept[] = {Op::Contiguous, Op::Detach, Op::ContiguousBackward};
      append({.op = one_of(kept), .dtype = dtype_of(x), .shape = {}, .src = {x}});
    } else if (kind < 94) {
      iota();
    } else {
      chain(x);
    }
  }

  void elementwise_step(int x) {
    const DType t = dtype_of(x);
    if (chance(12)) {
      cast(x, dtype());
    } else if (chance(12)) {
      elementwise(one_of(comparisons), DType::Bool, {x, partner(shape_of(x), t)});
    } else if (chance(12)) {
      const int condition = partner(shape_of(x), DType::Bool);
      elementwise(Op::Where, t, {condition, x, partner(shape_of(x), t)});
    } else if (t == DType::Bool) {
      chance(30) ? elementwise(Op::Not, t, {x}) : binary(one_of(bool_binary), x);
    } else if (is_float(t)) {
      if (chance(30)) {
        elementwise(one_of(float_unary), t, {x});
      } else {
        binary(one_of(float_binary), x);
      }
    } else if (chance(20)) {
      const Op unary[] = {Op::Neg, Op::Not, Op::Trunc};
      elementwise(one_of(unary), t, {x});
    } else {
      binary(one_of(integer_binary), x);
    }
  }

  int binary(Op op, int x) {
    const int y = partner(shape_of(x), dtype_of(x));
    return elementwise(op, dtype_of(x),
                       chance(50) ? std::vector<int>{x, y} : std::vector<int>{y, x});
  }

  void movement_step(int x) {
    switch (below(8)) {
      case 0: reshape(x); break;
      case 1: expand(x); break;
      case 2: movement(Op::Permute, x, order_of(rank_of(x))); break;
      case 3: movement(Op::Flip, x, flags(rank_of(x))); break;
      case 4: pad(x); break;
      case 5: shrink(x); break;
      case 6: window(x); break;
      default: unwindow(x); break;
    }
  }

  // Several movements on one value, with no arithmetic between.
  void chain(int x) {
    for (int i = 0; i < 3 && x >= 0; i++) {
      movement_step(x);
      x = static_cast<int>(program_.code.size()) - 1;
    }
  }

  Ints order_of(std::int64_t rank) {
    Ints order;
    for (std::int64_t i = 0; i < rank; i++) order.push_back(i);
    for (std::int64_t i = rank; i-- > 1;) {
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(below(i + 1))]);
    }
    return order;
  }

  Ints flags(std::int64_t rank) {
    Ints result;
    for (std::int64_t i = 0; i < rank; i++) result.push_back(below(2));
    return result;
  }

  int reshape(int x) {
    std::int64_t rest = elements_of(shape_of(x));
    Ints to;
    if (rest == 0) {
      to = {0, between(1, 3)};
    } else {
      while (rest > 1) {
        std::int64_t factor = between(1, rest);
        while (rest % factor != 0) factor--;
        if (chance(50)) factor = rest;
        for (std::int64_t p : {2, 3, 5, 7, 13, 17}) {
          if (chance(20) && rest % p == 0) factor = p;
        }
        to.push_back(factor);
        rest /= factor;
        if (to.size() == 4 && rest > 1) {
          to.back() *= rest;
          rest = 1;
        }
      }
      if (chance(40) && to.size() < 4) to.insert(to.begin() + below(to.size() + 1), 1);
    }
    return movement(Op::Reshape, x, to);
  }

  int expand(int x) {
    const Dims from = shape_of(x);
    Ints to(from.begin(), from.end());
    std::int64_t elements = elements_of(from);
    if (to.size() < 4 && std::ranges::find(to, 1) == to.end()) {
      to.insert(to.begin() + below(to.size() + 1), 1);
      x = movement(Op::Reshape, x, to);
    }
    for (std::int64_t& size : to) {
      const std::int64_t wanted = one_of(sizes);
      if (size == 1 && elements * wanted <= options_.largest) {
        size = wanted;
        elements *= wanted;
      }
    }
    return movement(Op::Expand, x, to);
  }

  int pad(int x) {
    Ints arg;
    std::int64_t elements = 1;
    for (std::int64_t size : shape_of(x)) {
      const bool pads = chance(60);
      arg.push_back(pads ? below(4) : 0);
      arg.push_back(pads ? below(4) : 0);
      elements *= size + arg[arg.size() - 2] + arg.back();
    }
    return elements > 2 * options_.largest ? -1 : movement(Op::Pad, x, arg);
  }

  int shrink(int x) {
    Ints arg;
    for (std::int64_t size : shape_of(x)) {
      std::int64_t begin = below(size + 1), end = between(begin, size);
      if (chance(50) || (end == begin && !chance(10))) begin = 0, end = size;
      arg.push_back(begin);
      arg.push_back(end);
    }
    return movement(Op::Shrink, x, arg);
  }

  int window(int x) {
    if (rank_of(x) == 0 || rank_of(x) > 4) return -1;
    const std::int64_t axis = below(rank_of(x)), length = size_of_axis(x, axis);
    const std::int64_t size = between(1, std::min<std::int64_t>(length, 5));
    const std::int64_t stride = between(1, 3), dilation = between(1, 2);
    if (length == 0 || dilation * (size - 1) + 1 > length) return -1;
    if (elements_of(shape_of(x)) * size > 2 * options_.largest) return -1;
    return movement(Op::Window, x, {axis, size, stride, dilation});
  }

  int unwindow(int x) {
    if (rank_of(x) < 2) return -1;
    const std::int64_t k = shape_of(x).back(), axis = below(rank_of(x) - 1);
    const std::int64_t o = size_of_axis(x, axis), stride = between(1, 3), dilation = between(1, 2);
    if (o == 0 || k == 0) return -1;
    const std::int64_t length = (o - 1) * stride + (k - 1) * dilation + 1 + below(3);
    if (elements_of(shape_of(x)) / o * length > 2 * options_.largest) return -1;
    return movement(Op::Unwindow, x, {axis, length, stride, dilation});
  }

  int reduce(Op op, int x, Ints axes) {
    axes.insert(axes.begin(), static_cast<std::int64_t>(op));
    return append({.op = Op::Reduce, .dtype = dtype_of(x), .shape = {}, .src = {x}, .arg = axes});
  }

  void reduce_step(int x) {
    if (dtype_of(x) == DType::Bool) x = cast(x, DType::Int32);
    if (x < 0) return;
    Ints axes;
    for (std::int64_t i = 0; i < rank_of(x); i++) {
      if (chance(50)) axes.push_back(i);
    }
    if (axes.empty()) return;
    if (chance(20)) return dependent_reduction(x, axes);
    const int r = reduce(one_of(reductions), x, axes);
    // Half of the time the way of a softmax or a norm: back to x with the result.
    if (r < 0 || chance(50)) return;
    const int wide = fit(r, shape_of(x));
    if (wide < 0) return;
    const DType t = dtype_of(x);
    elementwise(is_float(t) ? one_of(float_binary) : one_of(integer_binary), t, {x, wide});
  }

  // A reduction that needs another one over the same axes, as those of a softmax, a variance and an
  // argmax do.
  void dependent_reduction(int x, const Ints& axes) {
    const DType t = dtype_of(x);
    const bool squares = is_float(t) && chance(40);
    int centre = reduce(squares ? Op::Add : Op::Max, x, axes);
    if (centre < 0) return;
    if (squares) {
      const std::int64_t count =
          elements_of(shape_of(x)) / std::max<std::int64_t>(1, elements_of(shape_of(centre)));
      const std::int64_t bits = bits_of(static_cast<double>(count), t);
      const int terms =
          append({.op = Op::Const, .dtype = t, .shape = {}, .src = {}, .arg = {bits}});
      centre = elementwise(Op::Div, t, {centre, terms});
    }
    const int wide = centre < 0 ? -1 : fit(centre, shape_of(x));
    int term = -1;
    if (is_float(t) && (squares || chance(60))) {
      const int difference = elementwise(Op::Add, t, {x, elementwise(Op::Neg, t, {wide})});
      term = squares ? elementwise(Op::Mul, t, {difference, difference})
                     : elementwise(Op::Exp, t, {difference});
    } else if (const int equal = elementwise(Op::Eq, DType::Bool, {x, wide}); equal >= 0) {
      term = elementwise(Op::Where, t, {equal, partner(shape_of(x), t), constant(t)});
    }
    if (term >= 0) reduce(squares || chance(80) ? Op::Add : Op::Min, term, axes);
  }

  // One index per axis of `s`, in the shape `at`; some out of range.
  std::vector<int> indices(const Dims& s, const Dims& at) {
    const DType types[] = {DType::Int32, DType::Int64, DType::UInt8, DType::Int16};
    std::vector<int> result;
    for (std::int64_t size : s) {
      Instruction in{.op = Op::Buffer, .dtype = one_of(types), .shape = at};
      const std::int64_t low = is_unsigned(in.dtype) || chance(50) ? 0 : -2;
      const std::int64_t high = chance(50) ? size - 1 : size + 1;
      for (std::int64_t i = 0; i < elements_of(at); i++) {
        in.bits.push_back(bits_of(between(low, std::max(low, high)), in.dtype));
      }
      result.push_back(append(std::move(in)));
    }
    return result;
  }

  void gather(int x) {
    if (rank_of(x) == 0) return;
    std::vector<int> src{x};
    for (int i : indices(shape_of(x), shape())) src.push_back(i);
    append({.op = Op::Gather, .dtype = dtype_of(x), .shape = {}, .src = src});
  }

  void scatter(int base) {
    if (rank_of(base) == 0) return;
    const Dims at = shape();
    const bool adds = chance(60) && dtype_of(base) != DType::Bool;
    const int value = partner(at, dtype_of(base));
    if (value < 0 || shape_of(value) != at) return;
    std::vector<int> src{base, value};
    for (int i : indices(shape_of(base), at)) src.push_back(i);
    append({.op = Op::Scatter,
            .dtype = dtype_of(base),
            .shape = {},
            .src = src,
            .arg = {adds ? static_cast<std::int64_t>(Op::Add) : 0}});
  }

  void iota() {
    const Dims s = shape();
    if (s.size() == 0) return;
    const DType types[] = {DType::Int32, DType::Float32, DType::Int64};
    append(
        {.op = Op::Iota, .dtype = one_of(types), .shape = s, .src = {}, .arg = {below(s.size())}});
  }

  // ---- assignment ----

  struct State {
    int first, last;  // the buffer, and the instruction that stands for it now
  };

  State& state() {
    if (states_.empty() || chance(25)) {
      int candidate = pick();
      const bool taken =
          std::ranges::any_of(states_, [&](State s) { return s.first == candidate; });
      if (program_.at(candidate).op != Op::Buffer || taken) candidate = buffer(dtype(), shape());
      states_.push_back({candidate, candidate});
    }
    return states_[static_cast<std::size_t>(below(std::ssize(states_)))];
  }

  // A part of a buffer, or all of it, takes the values of something, often of itself.
  void assign() {
    State& target = state();
    Instruction in{.op = Op::After, .dtype = dtype_of(target.last), .shape = {}};
    int view = target.last;
    const std::int64_t moves = below(3);
    for (std::int64_t i = 0; i < moves; i++) {
      const int next = view_step(view);
      if (next < 0) continue;
      view = next;
      in.path.emplace_back(program_.at(view).op, program_.at(view).arg);
    }
    const Dims s = shape_of(view);
    int value = chance(40) ? view : pick();
    if (value == view && chance(70) && s.size() > 0) {
      value = movement(Op::Flip, value, flags(s.size()));
    }
    value = broadcast(value, s);
    if (value >= 0) value = cast(value, in.dtype);
    if (value < 0 || chance(20)) value = broadcast(partner(s, in.dtype), s);
    if (value < 0) return;
    in.src = {target.last, value};
    const int after = append(std::move(in));
    if (after >= 0) target.last = after;
  }

  // A view that can be written: no two of its elements are one.
  int view_step(int x) {
    switch (below(4)) {
      case 0: return reshape(x);
      case 1: return movement(Op::Permute, x, order_of(rank_of(x)));
      case 2: return movement(Op::Flip, x, flags(rank_of(x)));
      default: return shrink(x);
    }
  }

  // ---- contractions ----

  int matrix(std::int64_t rows, std::int64_t columns, DType t) {
    const Dims s{rows, columns};
    for (int tries = 0; tries < 4; tries++) {
      const int x = pick();
      if (shape_of(x) == s && dtype_of(x) == t) return x;
    }
    return buffer(t, s);
  }

  void matmul() {
    // Tiles of whole groups, or any shape.
    const bool square = chance(25);
    const std::int64_t depths[] = {16, 32, 64};
    const std::int64_t m = square ? 64 : one_of(sizes), n = square ? 64 : one_of(sizes);
    const std::int64_t k = square ? one_of(depths) : one_of(sizes);
    const DType t = chance(80) ? DType::Float32 : DType::Int32;
    int a = movement(Op::Reshape, matrix(m, k, t), {m, k, 1});
    int b = movement(Op::Reshape, matrix(k, n, t), {1, k, n});
    a = movement(Op::Expand, a, {m, k, n});
    b = movement(Op::Expand, b, {m, k, n});
    const int product = elementwise(Op::Mul, t, {a, b});
    if (product < 0) return;
    const int sum = reduce(Op::Add, product, {1});
    if (sum >= 0) movement(Op::Reshape, sum, {m, n});
  }

  // Batch 1: x is (channels, y, x), w is (out, channels, 3, 3).
  void convolution() {
    const std::int64_t c = between(1, 4), size = between(5, 17), out = between(1, 8);
    const std::int64_t stride = between(1, 2), border = below(2);
    int x = buffer(DType::Float32, {c, size, size});
    x = movement(Op::Pad, x, {0, 0, border, border, border, border});
    x = movement(Op::Window, x, {1, 3, stride, 1});
    x = movement(Op::Window, x, {2, 3, stride, 1});
    const std::int64_t o = size_of_axis(x, 1);
    const int w = buffer(DType::Float32, {out, c, 3, 3});
    const int wide_x =
        movement(Op::Expand, movement(Op::Reshape, x, {1, c, o, o, 3, 3}), {out, c, o, o, 3, 3});
    const int wide_w =
        movement(Op::Expand, movement(Op::Reshape, w, {out, c, 1, 1, 3, 3}), {out, c, o, o, 3, 3});
    const int product = elementwise(Op::Mul, DType::Float32, {wide_x, wide_w});
    if (product < 0) return;
    const int sum = reduce(Op::Add, product, {1, 4, 5});
    if (sum >= 0) movement(Op::Reshape, sum, {out, o, o});
  }

  // ---- roots ----

  bool is_stale(int i) const {
    // A view of an assigned buffer is checked through the buffer.
    return std::ranges::any_of(states_, [&](State s) { return s.first == i || s.last == i; }) ||
           program_.at(i).op == Op::After;
  }

  void choose_roots() {
    // What nothing uses, latest first: so most of the program is computed.
    const std::int64_t wanted = between(1, 3);
    std::vector<bool> used(program_.code.size(), false);
    const auto last = static_cast<int>(program_.code.size()) - 1;
    for (int i = last; i >= 0 && std::ssize(program_.roots) < wanted; i--) {
      for (int s : program_.at(i).src) used[static_cast<std::size_t>(s)] = true;
      const Op op = program_.at(i).op;
      const bool skip = used[static_cast<std::size_t>(i)] && !chance(5);
      if (!skip && !is_stale(i) && op != Op::Const && op != Op::Buffer) program_.roots.push_back(i);
    }
    for (State s : states_) {
      if (s.first != s.last) program_.roots.push_back(s.last);
    }
    if (program_.roots.empty()) program_.roots.push_back(append_root(last));
  }

  int append_root(int x) {
    return append({.op = Op::Contiguous, .dtype = dtype_of(x), .shape = {}, .src = {x}});
  }

  Chance chance_;
  const FuzzOptions& options_;
  FuzzProgram program_;
  std::vector<State> states_;
};

}  // namespace

FuzzProgram random_program(std::uint64_t seed, const FuzzOptions& options) {
  return Generator(seed, options).run();
}

}  // namespace croze::fuzz
