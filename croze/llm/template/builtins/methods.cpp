// methods.cpp -- methods of dicts, lists and loops, and which methods a type has.
#include <algorithm>
#include <array>

#include "croze/base/error.h"
#include "croze/llm/template/access.h"
#include "croze/llm/template/builtins/builtins.h"
#include "croze/llm/template/dict.h"
#include "croze/llm/template/operators.h"

namespace croze::llm::jinja {
namespace {

// ---- dicts ------------------------------------------------------------------------------------

Value get_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const Value& key = arguments.take("key");
  const Value* otherwise = arguments.find("default");
  runtime.budget.work(1);
  const Value* found = receiver.dict()->find(key);
  return found ? *found : otherwise ? *otherwise : Value();
}

template <SequenceKind kind>
Value view_method(Runtime& runtime, const Value& receiver, Arguments&) {
  const auto& members = receiver.dict()->members();
  runtime.budget.elements(members.size() * (kind == SequenceKind::Items ? 3 : 1));
  std::vector<Value> elements;
  for (const auto& [key, value] : members) {
    elements.push_back(kind == SequenceKind::Keys ? key
                       : kind == SequenceKind::Values
                           ? value
                           : Value::sequence(SequenceKind::Tuple, {key, value}));
  }
  return Value::sequence(kind, std::move(elements));
}

Value copy_method(Runtime&, const Value& receiver, Arguments&) { return receiver; }

// ---- lists ------------------------------------------------------------------------------------

Value index_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const Value& wanted = arguments.take("value");
  const std::vector<Value>& elements = receiver.sequence()->elements;
  for (std::size_t i = 0; i < elements.size(); i++) {
    if (equal(elements[i], wanted, runtime.budget)) return i;
  }
  fail({}, "the list has no such element");
}

Value count_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const Value& wanted = arguments.take("value");
  return std::ranges::count_if(receiver.sequence()->elements, [&](const Value& element) {
    return equal(element, wanted, runtime.budget);
  });
}

// ---- loops ------------------------------------------------------------------------------------

Value cycle_method(Runtime&, const Value& receiver, Arguments& arguments) {
  const std::vector<Value> values = arguments.rest();
  check(!values.empty(), "there is nothing to cycle");
  return values[receiver.loop()->index % values.size()];
}

// ---- tables -----------------------------------------------------------------------------------

constexpr NamedFunction dict_methods[] = {
    {"copy", copy_method},
    {"get", get_method},
    {"items", view_method<SequenceKind::Items>},
    {"keys", view_method<SequenceKind::Keys>},
    {"values", view_method<SequenceKind::Values>},
};
constexpr NamedFunction list_methods[] = {
    {"copy", copy_method}, {"count", count_method}, {"index", index_method}};
constexpr NamedFunction loop_methods[] = {{"cycle", cycle_method}};

// Methods of Python that change what they belong to.  The sandbox that Hugging Face runs templates
// in refuses them, too.
constexpr std::array<std::string_view, 5> changing_dicts = {"clear", "pop", "popitem", "setdefault",
                                                            "update"};
constexpr std::array<std::string_view, 8> changing_lists = {"append", "clear",  "extend",  "insert",
                                                            "pop",    "remove", "reverse", "sort"};

Value refused(Runtime&, const Value& receiver, Arguments&) {
  fail({}, "it changes a {}, which a template may not do", receiver.type_name());
}

std::span<const NamedFunction> methods_of(const Value& value) {
  if (value.is_text()) return text_methods();
  if (value.dict()) return dict_methods;
  if (value.loop()) return loop_methods;
  const Sequence* s = value.sequence();
  const bool has_methods = s && (s->kind == SequenceKind::List || s->kind == SequenceKind::Tuple);
  return has_methods ? std::span<const NamedFunction>(list_methods)
                     : std::span<const NamedFunction>();
}

std::shared_ptr<const Callable> bound(std::string_view name, Function function,
                                      const Value& receiver) {
  return std::make_shared<const Callable>(Callable{name, function, receiver, {}});
}

template <std::size_t count>
const std::string_view* find_name(const std::array<std::string_view, count>& names,
                                  std::string_view name) {
  const auto* it = std::ranges::find(names, name);
  return it == names.end() ? nullptr : it;
}

}  // namespace

std::shared_ptr<const Callable> method_of(const Value& value, std::string_view name) {
  const auto methods = methods_of(value);
  const auto it = std::ranges::find(methods, name, &NamedFunction::name);
  if (it != methods.end()) return bound(it->name, it->function, value);
  const Sequence* s = value.sequence();
  const std::string_view* changing = value.dict() ? find_name(changing_dicts, name)
                                     : s && s->kind == SequenceKind::List
                                         ? find_name(changing_lists, name)
                                         : nullptr;
  return changing ? bound(*changing, refused, value) : nullptr;
}

}  // namespace croze::llm::jinja
