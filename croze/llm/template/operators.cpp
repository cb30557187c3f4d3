#include "croze/llm/template/operators.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "croze/base/error.h"
#include "croze/llm/template/characters.h"
#include "croze/llm/template/dict.h"
#include "croze/llm/template/printing.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm::jinja {
namespace {

using Op = Arithmetic::Op;

std::string_view sign_of(Op op) {
  constexpr std::string_view signs[] = {"+", "-", "*", "/", "//", "%", "**"};
  return signs[static_cast<std::size_t>(op)];
}

[[noreturn]] void fail_types(std::string_view sign, const Value& a, const Value& b) {
  for (const Value* value : {&a, &b}) {
    if (value->is_undefined()) fail({}, "{}", value->problem());
  }
  fail({}, "there is no {} of {} and {}", sign, a.type_name(), b.type_name());
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  bool fits = true;
  // Beyond 64 turns only 0, 1 and -1 fit.
  if (exponent > 64 && (base == 0 || base == 1 || base == -1)) exponent = 64 + exponent % 2;
  for (; exponent > 0 && fits; exponent--) fits = !__builtin_mul_overflow(result, base, &result);
  check(fits, "an integer that does not fit 64 bits");
  return result;
}

std::int64_t integer_result(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflows = false;
  switch (op) {
    case Op::Add: overflows = __builtin_add_overflow(a, b, &result); break;
    case Op::Subtract: overflows = __builtin_sub_overflow(a, b, &result); break;
    case Op::Multiply: overflows = __builtin_mul_overflow(a, b, &result); break;
    case Op::Power: return power(a, b);
    case Op::FloorDivide:
    case Op::Modulo: {
      check(b != 0, "a division by zero");
      if (b == -1) {  // the quotient of the least integer does not fit
        overflows = __builtin_sub_overflow(std::int64_t{0}, a, &result);
        if (op == Op::Modulo) return 0;
        break;
      }
      const std::int64_t remainder = a % b;
      const bool below = remainder != 0 && (remainder < 0) != (b < 0);
      return op == Op::Modulo ? remainder + (below ? b : 0) : a / b - (below ? 1 : 0);
    }
    case Op::Divide: break;
  }
  check(!overflows, "an integer that does not fit 64 bits");
  return result;
}

double float_result(Op op, double a, double b) {
  const bool divides = op == Op::Divide || op == Op::FloorDivide || op == Op::Modulo;
  check(!divides || b != 0, "a division by zero");
  switch (op) {
    case Op::Add: return a + b;
    case Op::Subtract: return a - b;
    case Op::Multiply: return a * b;
    case Op::Divide: return a / b;
    case Op::FloorDivide: return std::floor(a / b);
    case Op::Modulo: {
      const double remainder = std::fmod(a, b);
      if (remainder == 0) return std::copysign(0.0, b);
      return (remainder < 0) != (b < 0) ? remainder + b : remainder;
    }
    case Op::Power: break;
  }
  const double result = std::pow(a, b);
  check(std::isfinite(result) || !std::isfinite(a) || !std::isfinite(b),
        "a power that is no number");
  return result;
}

Value repeated(const Value& value, std::int64_t count, Budget& budget) {
  if (value.is_text()) {
    TextBuilder out(budget);
    out.repeat(value.text(), count);
    return out.take();
  }
  const Sequence& sequence = *value.sequence();
  count = sequence.elements.empty() ? 0 : std::max<std::int64_t>(count, 0);
  constexpr std::int64_t most = 1 << 24;  // is more than a budget has
  budget.elements(static_cast<std::size_t>(std::min(count, most)) * sequence.elements.size());
  std::vector<Value> result;
  for (std::int64_t i = 0; i < count; i++) {
    result.insert(result.end(), sequence.elements.begin(), sequence.elements.end());
  }
  return Value::sequence(sequence.kind, std::move(result));
}

bool is_list(const Value& value) {
  const Sequence* s = value.sequence();
  return s && (s->kind == SequenceKind::List || s->kind == SequenceKind::Tuple);
}

Value joined(const Sequence& a, const Sequence& b, Budget& budget) {
  budget.elements(a.elements.size() + b.elements.size());
  std::vector<Value> elements = a.elements;
  elements.insert(elements.end(), b.elements.begin(), b.elements.end());
  return Value::sequence(a.kind, std::move(elements));
}

bool is_less_list(const Sequence& a, const Sequence& b, Budget& budget) {
  const std::size_t common = std::min(a.elements.size(), b.elements.size());
  for (std::size_t i = 0; i < common; i++) {
    if (equal(a.elements[i], b.elements[i], budget)) continue;
    return is_less(a.elements[i], b.elements[i], budget);
  }
  return a.elements.size() < b.elements.size();
}

}  // namespace

Value arithmetic(Op op, const Value& a, const Value& b, Budget& budget) {
  if (a.is_number() && b.is_number()) {
    const bool is_exact = a.is_integral() && b.is_integral() && op != Op::Divide &&
                          !(op == Op::Power && b.integer() < 0);
    if (is_exact) return integer_result(op, a.integer(), b.integer());
    return float_result(op, a.number(), b.number());
  }
  if (op == Op::Multiply) {
    if ((a.is_text() || is_list(a)) && b.is_integral()) return repeated(a, b.integer(), budget);
    if ((b.is_text() || is_list(b)) && a.is_integral()) return repeated(b, a.integer(), budget);
  }
  if (op == Op::Add && a.is_text() && b.is_text()) {
    TextBuilder out(budget);
    out.append(a.text());
    out.append(b.text());
    return out.take();
  }
  if (op == Op::Add && is_list(a) && is_list(b) && a.sequence()->kind == b.sequence()->kind) {
    return joined(*a.sequence(), *b.sequence(), budget);
  }
  if (op == Op::Modulo && a.is_text()) {
    const Sequence* tuple = b.sequence();
    const bool is_tuple = tuple && tuple->kind == SequenceKind::Tuple;
    return formatted_by_percent(a.text(), is_tuple ? tuple->elements : std::vector{b}, budget);
  }
  fail_types(sign_of(op), a, b);
}

Value negative(const Value& value) {
  if (value.is_float()) return -value.number();
  check(value.is_integral(), "there is no sign of {}", value.type_name());
  return integer_result(Op::Subtract, 0, value.integer());
}

bool is_less(const Value& a, const Value& b, Budget& budget) {
  budget.work(1);
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return a.integer() < b.integer();
    return a.number() < b.number();
  }
  if (a.is_text() && b.is_text()) {
    budget.reading(std::min(a.text().size(), b.text().size()));
    return a.text() < b.text();  // the order of UTF-8 is that of the code points
  }
  if (is_list(a) && is_list(b) && a.sequence()->kind == b.sequence()->kind) {
    return is_less_list(*a.sequence(), *b.sequence(), budget);
  }
  fail_types("<", a, b);
}

bool compares(Comparison::Op op, const Value& a, const Value& b, Budget& budget) {
  using Compare = Comparison::Op;
  const bool is_nan =
      (a.is_float() && std::isnan(a.number())) || (b.is_float() && std::isnan(b.number()));
  switch (op) {
    case Compare::Equal: return equal(a, b, budget);
    case Compare::NotEqual: return !equal(a, b, budget);
    case Compare::Less: return is_less(a, b, budget);
    case Compare::Greater: return is_less(b, a, budget);
    case Compare::LessEqual: return !is_less(b, a, budget) && !is_nan;
    case Compare::GreaterEqual: return !is_less(a, b, budget) && !is_nan;
    case Compare::In: return contains(b, a, budget);
    case Compare::NotIn: break;
  }
  return !contains(b, a, budget);
}

bool contains(const Value& whole, const Value& part, Budget& budget) {
  if (whole.is_text()) {
    check(part.is_text(), "a {} is looked for in a text", part.type_name());
    budget.reading(whole.text().size());
    return find_text(whole.text(), part.text()) != std::string::npos;
  }
  if (whole.dict()) return whole.dict()->find(part) != nullptr;
  if (!whole.sequence()) {
    check(whole.is_undefined(), "there is no \"in\" of {}", whole.type_name());
    return false;
  }
  return std::ranges::any_of(whole.sequence()->elements,
                             [&](const Value& element) { return equal(element, part, budget); });
}

bool has_elements(const Value& value) {
  return value.is_text() || value.sequence() || value.dict() || value.is_undefined();
}

std::vector<Value> elements_of(const Value& value, Budget& budget) {
  std::vector<Value> result;
  if (value.is_undefined()) return result;
  if (value.is_text()) {
    const std::string& text = value.text();
    budget.elements(text.size());
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      next_char(text, at);
      result.emplace_back(text.substr(begin, at - begin));
    }
    return result;
  }
  if (const Dict* dict = value.dict()) {
    budget.elements(dict->members().size());
    for (const auto& [key, member] : dict->members()) result.push_back(key);
    return result;
  }
  const Sequence* sequence = value.sequence();
  check(sequence != nullptr, "a value of type {} has no elements", value.type_name());
  if (sequence->kind == SequenceKind::Iterator && std::exchange(sequence->walked, true)) {
    return result;
  }
  budget.elements(sequence->elements.size());
  return sequence->elements;
}

std::int64_t length_of(const Value& value, Budget& budget) {
  if (value.is_undefined()) return 0;
  if (value.is_text()) {
    budget.reading(value.text().size());
    return count_chars(value.text());
  }
  if (value.dict()) return std::ssize(value.dict()->members());
  const Sequence* sequence = value.sequence();
  check(sequence && sequence->kind != SequenceKind::Iterator, "a value of type {} has no length",
        value.type_name());
  return std::ssize(sequence->elements);
}

Value formatted_by_percent(std::string_view format, const std::vector<Value>& values,
                           Budget& budget) {
  TextBuilder out(budget);
  std::size_t next = 0;
  for (std::size_t at = 0; at < format.size(); at++) {
    const std::size_t percent = std::min(format.find('%', at), format.size());
    out.append(format.substr(at, percent - at));
    at = percent + 1;
    if (percent == format.size()) break;
    const char kind = at < format.size() ? format[at] : '\0';
    if (kind == '%') {
      out.append('%');
      continue;
    }
    check(kind == 's' || kind == 'r' || kind == 'd' || kind == 'i',
          "of formats only %s, %r, %d, %i and %% are supported");
    check(next < values.size(), "a format with more values than are given");
    const Value& value = values[next++];
    if (kind == 's') {
      append_text(value, out);
    } else if (kind == 'r') {
      append_repr(value, out);
    } else {
      check(value.is_number(), "a {} for %{}", value.type_name(), kind);
      out.append(value.is_integral() ? std::to_string(value.integer())
                                     : fmt::format("{:.0f}", std::trunc(value.number())));
    }
  }
  check(next == values.size(), "a format with fewer values than are given");
  return out.take();
}

}  // namespace croze::llm::jinja
