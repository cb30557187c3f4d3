// launch_size.cpp -- making, evaluating and writing sizes.
#include "croze/device/launch_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "croze/base/checked.h"
#include "croze/base/error.h"

namespace croze {
namespace {

struct Word {
  Op op;
  char name;
};
// In the order of LaunchSize::Kind, from Add on.
constexpr Word words[] = {{Op::Add, '+'}, {Op::Mul, '*'}, {Op::IDiv, '/'},
                          {Op::Mod, '%'}, {Op::Max, '>'}, {Op::Min, '<'}};

// As eval() has it: x / 0 is 0 and x % 0 is x.  The least number over -1 has no quotient.
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return checked_mul(a, -1);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

}  // namespace

LaunchSize LaunchSize::of(UOp index) {
  LaunchSize size;
  size.append(index);
  size.keep_constant();
  ensure(size.is_well_formed(), "a size takes more than {} numbers at once", deepest_stack);
  return size;
}

// Sizes are short: recursion follows how their ops are nested.
void LaunchSize::append(UOp index) {
  if (index.is_const()) return steps_.push_back({Kind::Constant, index.const_int()});
  if (index.is(Op::Variable)) return steps_.push_back({Kind::Variable, index.slot()});
  const auto* word = std::ranges::find(words, index.op(), &Word::op);
  ensure(word != std::end(words), "a size is computed by {}", info(index.op()).name);
  append(index.src(0));
  append(index.src(1));
  steps_.push_back({static_cast<Kind>(static_cast<int>(Kind::Add) + (word - words))});
}

void LaunchSize::keep_constant() {
  if (steps_.size() != 1 || steps_[0].kind != Kind::Constant) return;
  constant_ = steps_[0].number;
  steps_.clear();
}

std::int64_t LaunchSize::evaluated(std::span<const std::int64_t> variables) const {
  std::array<std::int64_t, deepest_stack> stack;
  std::size_t top = 0;
  for (const Step& step : steps_) {
    if (step.kind == Kind::Constant) {
      stack[top++] = step.number;
      continue;
    }
    if (step.kind == Kind::Variable) {
      const auto slot = static_cast<std::size_t>(step.number);
      check(slot < variables.size(), "a launch has {} variables, its size needs number {}",
            variables.size(), slot);
      stack[top++] = variables[slot];
      continue;
    }
    const std::int64_t b = stack[--top], a = stack[top - 1];
    std::int64_t& result = stack[top - 1];
    switch (step.kind) {
      case Kind::Add: result = checked_add(a, b); break;
      case Kind::Mul: result = checked_mul(a, b); break;
      case Kind::Div: result = floor_div(a, b); break;
      case Kind::Mod: result = b == 0 ? a : b == -1 ? 0 : a - floor_div(a, b) * b; break;
      case Kind::Max: result = std::max(a, b); break;
      default: result = std::min(a, b); break;
    }
  }
  return stack[0];
}

bool LaunchSize::is_well_formed() const {
  int top = 0;
  for (const Step& step : steps_) {
    const bool pushes = step.kind == Kind::Constant || step.kind == Kind::Variable;
    if (step.kind == Kind::Variable && step.number < 0) return false;
    top += pushes ? 1 : -1;
    if (top < 1 || top > deepest_stack) return false;
  }
  return steps_.empty() || top == 1;
}

std::string LaunchSize::text() const {
  if (is_constant()) return fmt::format("{}", constant_);
  std::string text;
  for (const Step& step : steps_) {
    if (!text.empty()) text += ' ';
    switch (step.kind) {
      case Kind::Constant: text += fmt::format("{}", step.number); break;
      case Kind::Variable: text += fmt::format("v{}", step.number); break;
      default: text += words[static_cast<int>(step.kind) - static_cast<int>(Kind::Add)].name;
    }
  }
  return text;
}

LaunchSize LaunchSize::parse(std::string_view text) {
  const std::string_view whole = text;
  LaunchSize size;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const auto* op = std::ranges::find(words, word.empty() ? '\0' : word[0], &Word::name);
    if (word.size() == 1 && op != std::end(words)) {
      size.steps_.push_back({static_cast<Kind>(static_cast<int>(Kind::Add) + (op - words))});
      continue;
    }
    const bool is_variable = !word.empty() && word[0] == 'v';
    const char* const end = word.data() + word.size();
    Step step{is_variable ? Kind::Variable : Kind::Constant};
    const auto read = std::from_chars(word.data() + is_variable, end, step.number);
    check(read.ec == std::errc() && read.ptr == end, "'{}' is no size: '{}'", whole, word);
    size.steps_.push_back(step);
  }
  check(!size.steps_.empty() && size.is_well_formed(), "'{}' is no size", whole);
  size.keep_constant();
  return size;
}

}  // namespace croze
