// value.cpp -- what holds of all values, and dictionaries.
#include "croze/llm/template/value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "croze/base/error.h"
#include "croze/llm/template/budget.h"
#include "croze/llm/template/dict.h"
#include "croze/llm/template/runtime.h"

namespace croze::llm::jinja {
namespace {

int checked_depth(int depth) {
  check(depth <= max_value_depth, "a value nests deeper than {}", max_value_depth);
  return depth;
}

// Keys that are equal have the same form: 1, 1.0 and true are one key.  Nothing if a value is no
// key.
std::optional<std::string> hashed_form(const Value& key) {
  if (const std::string* text = key.text_pointer()) return "s" + *text;
  if (key.is_none()) return "0";
  if (key.is_integral()) return "i" + std::to_string(key.integer());
  if (key.is_float()) {
    const double number = key.number();
    if (std::trunc(number) == number && std::abs(number) < 0x1p62) {
      return "i" + std::to_string(static_cast<std::int64_t>(number));
    }
    return "f" + std::to_string(std::bit_cast<std::uint64_t>(number));
  }
  const Sequence* tuple = key.sequence();
  if (!tuple || tuple->kind != SequenceKind::Tuple) return std::nullopt;
  std::string form = "t";
  for (const Value& element : tuple->elements) {
    const std::optional<std::string> part = hashed_form(element);
    check(part && form.size() < 4096, "a tuple that is no key of a dict");
    form += std::to_string(part->size()) + "," + *part;
  }
  return form;
}

}  // namespace

// ---- dictionaries -----------------------------------------------------------------------------

void Dict::set(Value key, Value value) {
  std::optional<std::string> form = hashed_form(key);
  check(form.has_value(), "a value of type {} is no key of a dict", key.type_name());
  depth_ = std::max(depth_, checked_depth(1 + std::max(key.depth(), value.depth())));
  const auto [place, is_new] = places_.try_emplace(std::move(*form), members_.size());
  if (is_new) {
    members_.emplace_back(std::move(key), std::move(value));
  } else {
    members_[place->second].second = std::move(value);
  }
}

const Value* Dict::at(const std::optional<std::string>& form) const {
  const auto it = form ? places_.find(*form) : places_.end();
  return it == places_.end() ? nullptr : &members_[it->second].second;
}

const Value* Dict::find(const Value& key) const { return at(hashed_form(key)); }

const Value* Dict::find_name(std::string_view key) const { return at("s" + std::string(key)); }

// ---- values -----------------------------------------------------------------------------------

Value Value::list(std::vector<Value> elements) {
  return sequence(SequenceKind::List, std::move(elements));
}

Value Value::sequence(SequenceKind kind, std::vector<Value> elements) {
  int depth = 1;
  for (const Value& e : elements) depth = std::max(depth, checked_depth(1 + e.depth()));
  return std::make_shared<const Sequence>(Sequence{kind, std::move(elements), depth});
}

Value Value::dict(std::vector<std::pair<std::string, Value>> members) {
  const auto dict = std::make_shared<Dict>();
  for (auto& [name, value] : members) dict->set(std::move(name), std::move(value));
  return std::shared_ptr<const Dict>(dict);
}

Value Value::undefined(std::string problem) {
  Value value;
  value.value_ = Undefined{std::make_shared<const std::string>(std::move(problem))};
  return value;
}

std::int64_t Value::integer() const {
  const bool* flag = std::get_if<bool>(&value_);
  return flag ? *flag : std::get<std::int64_t>(value_);
}

double Value::number() const {
  const double* number = std::get_if<double>(&value_);
  return number ? *number : static_cast<double>(integer());
}

bool Value::is_true() const {
  if (is_none() || is_undefined()) return false;
  if (is_number()) return number() != 0;
  if (is_text()) return !text().empty();
  if (const Sequence* s = sequence()) {
    return s->kind == SequenceKind::Iterator || !s->elements.empty();
  }
  if (const Dict* d = dict()) return !d->members().empty();
  return true;
}

std::string_view Value::type_name() const {
  if (is_none()) return "none";
  if (is_undefined()) return "undefined";
  if (is_flag()) return "bool";
  if (is_integer()) return "int";
  if (is_float()) return "float";
  if (is_text()) return "str";
  if (dict()) return "dict";
  if (space()) return "namespace";
  if (loop()) return "loop";
  const Sequence* s = sequence();
  if (!s) return "function";
  switch (s->kind) {
    case SequenceKind::List: return "list";
    case SequenceKind::Tuple: return "tuple";
    case SequenceKind::Range: return "range";
    case SequenceKind::Keys: return "dict_keys";
    case SequenceKind::Values: return "dict_values";
    case SequenceKind::Items: return "dict_items";
    case SequenceKind::Iterator: break;
  }
  return "iterator";
}

int Value::depth() const {
  if (const Sequence* s = sequence()) return s->depth;
  if (const Dict* d = dict()) return d->depth();
  // The object that a method belongs to is a part of it.
  if (const Callable* c = callable()) return c->receiver.depth();
  if (const Loop* l = loop()) return l->items.depth();
  return 0;
}

bool Value::is_same(const Value& other) const {
  if (value_.index() != other.value_.index()) return false;
  if (is_none()) return true;
  if (is_number()) return number() == other.number();
  if (is_text()) return text_pointer() == other.text_pointer() || text() == other.text();
  if (is_undefined()) return false;
  return sequence() == other.sequence() && dict() == other.dict() &&
         callable() == other.callable() && loop() == other.loop() && space() == other.space();
}

namespace {

bool equal_sequences(const Sequence& a, const Sequence& b, Budget& budget) {
  if (a.kind != b.kind || a.kind == SequenceKind::Iterator) return &a == &b;
  if (a.elements.size() != b.elements.size()) return false;
  for (std::size_t i = 0; i < a.elements.size(); i++) {
    if (!equal(a.elements[i], b.elements[i], budget)) return false;
  }
  return true;
}

bool equal_dicts(const Dict& a, const Dict& b, Budget& budget) {
  if (a.members().size() != b.members().size()) return false;
  for (const auto& [key, value] : a.members()) {
    const Value* other = b.find(key);
    if (!other || !equal(value, *other, budget)) return false;
  }
  return true;
}

}  // namespace

bool equal(const Value& a, const Value& b, Budget& budget) {
  budget.work(1);
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return a.integer() == b.integer();
    return a.number() == b.number();
  }
  if (a.is_text() && b.is_text()) {
    if (a.text().size() != b.text().size()) return false;
    budget.reading(a.text().size());
    return a.text() == b.text();
  }
  if (a.is_undefined() && b.is_undefined()) return true;
  if (a.sequence() && b.sequence()) return equal_sequences(*a.sequence(), *b.sequence(), budget);
  if (a.dict() && b.dict()) return equal_dicts(*a.dict(), *b.dict(), budget);
  return a.is_same(b);
}

}  // namespace croze::llm::jinja
