// evaluate.h -- the value of a scalar expression for given values of its leaves.
//
// The expression is flattened once into a list of ops, so that a test can run it on millions of
// inputs.  What an op means is taken from graph/eval.h.  Like a device it computes both arms of a
// Where, and it throws InternalError where a device may do anything: at a truncating division by
// zero or one that overflows, and at a shift by the width or more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <unordered_map>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/eval.h"
#include "croze/graph/graph.h"

namespace croze {

class Evaluator {
 public:
  // `leaves`: the nodes whose values are given, of any kind.  Below them everything must be
  // elementwise.
  Evaluator(UOp root, std::span<const UOp> leaves) {
    std::unordered_map<std::uint32_t, int> slots;
    for (UOp leaf : leaves) {
      slots.emplace(leaf.id(), static_cast<int>(values_.size()));
      values_.push_back(0);
    }
    std::vector<UOp> stack{root};
    while (!stack.empty()) {
      const UOp u = stack.back();
      if (slots.contains(u.id())) {
        stack.pop_back();
        continue;
      }
      const std::size_t before = stack.size();
      for (UOp s : u.sources()) {
        if (!slots.contains(s.id())) stack.push_back(s);
      }
      if (stack.size() != before) continue;
      stack.pop_back();
      slots.emplace(u.id(), static_cast<int>(values_.size()));
      add(u, slots);
    }
    result_ = slots.at(root.id());
  }

  // The bits of the value (see eval.h); `inputs` are those of the leaves, in their order.
  std::int64_t operator()(std::span<const std::int64_t> inputs) {
    std::copy(inputs.begin(), inputs.end(), values_.begin());
    for (const Step& s : steps_) {
      const std::int64_t v[] = {values_[s.src[0]], values_[s.src[1]], values_[s.src[2]]};
      check_defined(s, v[0], v[1]);
      values_[s.target] = eval(s.op, s.type, s.operand, std::span(v, s.count));
    }
    return values_[static_cast<std::size_t>(result_)];
  }
  std::int64_t operator()(std::initializer_list<std::int64_t> inputs) {
    return (*this)(std::span(inputs.begin(), inputs.size()));
  }

  // How many ops the expression has, constants not counted.
  std::size_t size() const { return steps_.size(); }

 private:
  struct Step {
    Op op;
    DType type, operand;
    std::size_t count, target;
    std::size_t src[3];
  };

  static void check_defined(const Step& s, std::int64_t a, std::int64_t b) {
    if (s.op == Op::CDiv || s.op == Op::CMod) {
      const bool overflows = !is_unsigned(s.type) && b == -1 && a == min_value(s.type);
      ensure(b != 0 && !overflows, "{} of {} by {}", info(s.op).name, a, b);
    } else if (s.op == Op::Shl || s.op == Op::Shr) {
      ensure(b >= 0 && b < 8 * size_of(s.type), "{} by {}", info(s.op).name, b);
    }
  }

  void add(UOp u, const std::unordered_map<std::uint32_t, int>& slots) {
    values_.push_back(u.is_const() ? u.arg().value : 0);
    if (u.is_const()) return;
    Step step{u.op(), u.dtype(), u.dtype(), 0, values_.size() - 1, {0, 0, 0}};
    for (UOp s : u.sources()) {
      step.operand = s.dtype();
      step.src[step.count++] = static_cast<std::size_t>(slots.at(s.id()));
    }
    steps_.push_back(step);
  }

  std::vector<Step> steps_;
  std::vector<std::int64_t> values_;
  int result_ = 0;
};

}  // namespace croze
