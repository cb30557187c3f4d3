// filters_sequence.cpp -- filters of lists and dicts.
#include <algorithm>
#include <utility>

#include "croze/base/error.h"
#include "croze/llm/template/access.h"
#include "croze/llm/template/builtins/builtins.h"
#include "croze/llm/template/characters.h"
#include "croze/llm/template/dict.h"
#include "croze/llm/template/operators.h"

namespace croze::llm::jinja {
namespace {

using Elements = std::vector<Value>;

Value iterator(Elements elements) {
  return Value::sequence(SequenceKind::Iterator, std::move(elements));
}

Value pair(const Value& a, const Value& b) { return Value::sequence(SequenceKind::Tuple, {a, b}); }

Value length_filter(Runtime& runtime, const Value& value, Arguments&) {
  return length_of(value, runtime.budget);
}

Value list_filter(Runtime& runtime, const Value& value, Arguments&) {
  return Value::list(elements_of(value, runtime.budget));
}

Value first_filter(Runtime& runtime, const Value& value, Arguments&) {
  const Elements elements = elements_of(value, runtime.budget);
  return elements.empty() ? Value::undefined("there is no first element") : elements.front();
}

Value last_filter(Runtime& runtime, const Value& value, Arguments&) {
  const Elements elements = elements_of(value, runtime.budget);
  return elements.empty() ? Value::undefined("there is no last element") : elements.back();
}

Value reverse_filter(Runtime& runtime, const Value& value, Arguments&) {
  Elements elements = elements_of(value, runtime.budget);
  std::ranges::reverse(elements);
  if (!value.is_text()) return iterator(std::move(elements));
  TextBuilder out(runtime.budget);
  for (const Value& c : elements) out.append(c.text());
  return out.take();
}

// ---- order ------------------------------------------------------------------------------------

// By what elements are compared: a part of them, texts in lower case unless case matters.
class Key {
 public:
  Key(const Value* attribute, bool with_case, Runtime& runtime)
      : attribute_(attribute && !attribute->is_none() ? attribute : nullptr),
        with_case_(with_case),
        runtime_(runtime) {}

  Value operator()(const Value& element) const {
    Value key = attribute_ ? path_of(element, *attribute_, runtime_) : element;
    if (with_case_ || !key.is_text()) return key;
    TextBuilder out(runtime_.budget);
    out.append(lowered(key.text()));
    return out.take();
  }

 private:
  const Value* attribute_;
  bool with_case_;
  Runtime& runtime_;
};

struct Keyed {
  Value key, element;
};

// What is equal stays in its order.  NaN has no order: stable_sort, unlike sort, stays inside of
// the list all the same.
void sort_keyed(std::vector<Keyed>& list, bool reversed, Budget& budget) {
  const auto before = [&](const Keyed& a, const Keyed& b) {
    return reversed ? is_less(b.key, a.key, budget) : is_less(a.key, b.key, budget);
  };
  std::ranges::stable_sort(list, before);
}

std::vector<Keyed> keyed(const Elements& elements, const Key& key) {
  std::vector<Keyed> list;
  for (const Value& element : elements) list.push_back({key(element), element});
  return list;
}

Elements without_keys(std::vector<Keyed> list) {
  Elements result;
  for (Keyed& k : list) result.push_back(std::move(k.element));
  return result;
}

Value sort_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const bool reversed = arguments.flag_or("reverse", false);
  const bool with_case = arguments.flag_or("case_sensitive", false);
  const Value* attribute = arguments.find("attribute");
  const bool is_list =
      attribute && attribute->is_text() && attribute->text().find(',') != std::string::npos;
  check(!is_list, "sorting by several attributes is not supported");
  std::vector<Keyed> list =
      keyed(elements_of(value, runtime.budget), Key(attribute, with_case, runtime));
  sort_keyed(list, reversed, runtime.budget);
  return Value::list(without_keys(std::move(list)));
}

Value unique_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const bool with_case = arguments.flag_or("case_sensitive", false);
  const Key key(arguments.find("attribute"), with_case, runtime);
  Dict seen;
  Elements result;
  for (const Value& element : elements_of(value, runtime.budget)) {
    const Value k = key(element);
    if (seen.find(k)) continue;
    seen.set(k, true);
    result.push_back(element);
  }
  return iterator(std::move(result));
}

template <bool greatest>
Value extreme_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const bool with_case = arguments.flag_or("case_sensitive", false);
  const Key key(arguments.find("attribute"), with_case, runtime);
  const std::vector<Keyed> list = keyed(elements_of(value, runtime.budget), key);
  if (list.empty()) return Value::undefined("there is no element");
  const Keyed* best = &list[0];
  for (const Keyed& k : list) {
    const bool is_better = greatest ? is_less(best->key, k.key, runtime.budget)
                                    : is_less(k.key, best->key, runtime.budget);
    if (is_better) best = &k;
  }
  return best->element;
}

Value sum_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const Value* attribute = arguments.find("attribute");
  const Value* start = arguments.find("start");
  const Key key(attribute, true, runtime);
  Value sum = start ? *start : Value(0);
  for (const Value& element : elements_of(value, runtime.budget)) {
    sum = arithmetic(Arithmetic::Op::Add, sum, key(element), runtime.budget);
  }
  return sum;
}

// ---- dicts ------------------------------------------------------------------------------------

const Dict& dict_of(const Value& value) {
  if (value.is_undefined()) fail({}, "{}", value.problem());
  check(value.dict() != nullptr, "a value of type {} is no dict", value.type_name());
  return *value.dict();
}

Elements pairs_of(const Dict& dict, Budget& budget) {
  budget.elements(3 * dict.members().size());
  Elements pairs;
  for (const auto& [key, member] : dict.members()) pairs.push_back(pair(key, member));
  return pairs;
}

Value items_filter(Runtime& runtime, const Value& value, Arguments&) {
  if (value.is_undefined()) return iterator({});
  return iterator(pairs_of(dict_of(value), runtime.budget));
}

Value dictsort_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const bool with_case = arguments.flag_or("case_sensitive", false);
  const std::string by = arguments.text_or("by", "key");
  const bool reversed = arguments.flag_or("reverse", false);
  check(by == "key" || by == "value", "sorting by \"{}\"", by.substr(0, 40));
  const Value place(by == "key" ? 0 : 1);
  std::vector<Keyed> list =
      keyed(pairs_of(dict_of(value), runtime.budget), Key(&place, with_case, runtime));
  sort_keyed(list, reversed, runtime.budget);
  return Value::list(without_keys(std::move(list)));
}

// ---- a filter or a test for each element ------------------------------------------------------

// What is false, none among it, has no elements for these filters.
Elements elements_if_any(const Value& value, Runtime& runtime) {
  return value.is_true() ? elements_of(value, runtime.budget) : Elements();
}

Value map_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const Elements elements = elements_if_any(value, runtime);
  Elements result;
  if (arguments.has_positional()) {
    const std::string name = arguments.text("filter");
    const Arguments rest(arguments.rest(), arguments.rest_named());
    for (const Value& element : elements) {
      runtime.budget.work(1);
      result.push_back(apply_filter(name, element, rest.copy(), runtime));
    }
    return iterator(std::move(result));
  }
  const Value& attribute = arguments.take("attribute");
  const Value* otherwise = arguments.find("default");
  for (const Value& element : elements) {
    result.push_back(path_of(element, attribute, runtime, otherwise));
  }
  return iterator(std::move(result));
}

// select, reject, selectattr, rejectattr: the elements that are to be kept.
template <bool by_attribute, bool wanted>
Value select_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const Value attribute = by_attribute ? arguments.take("attribute") : Value();
  const bool has_test = arguments.has_positional();
  const std::string test = has_test ? arguments.text("test") : std::string();
  const Arguments rest(arguments.rest(), arguments.rest_named());
  Elements result;
  for (const Value& element : elements_if_any(value, runtime)) {
    runtime.budget.work(1);
    const Value part = by_attribute ? path_of(element, attribute, runtime) : element;
    const bool passes = has_test ? passes_test(test, part, rest.copy(), runtime) : part.is_true();
    if (passes == wanted) result.push_back(element);
  }
  return iterator(std::move(result));
}

// ---- parts ------------------------------------------------------------------------------------

Value batch_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const std::int64_t size = arguments.integer("linecount");
  const Value* fill = arguments.find("fill_with");
  check(size > 0, "batches of {}", size);
  Elements batches, batch;
  for (const Value& element : elements_of(value, runtime.budget)) {
    if (std::ssize(batch) == size) batches.push_back(Value::list(std::exchange(batch, {})));
    batch.push_back(element);
  }
  if (batch.empty()) return iterator(std::move(batches));
  if (fill && !fill->is_none()) {
    const auto missing = size - std::ssize(batch);
    runtime.budget.elements(static_cast<std::size_t>(missing));
    batch.insert(batch.end(), static_cast<std::size_t>(missing), *fill);
  }
  batches.push_back(Value::list(std::move(batch)));
  return iterator(std::move(batches));
}

Value slice_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const std::int64_t count = arguments.integer("slices");
  const Value* fill = arguments.find("fill_with");
  check(count > 0, "{} slices", count);
  runtime.budget.elements(static_cast<std::size_t>(count));
  const Elements elements = elements_of(value, runtime.budget);
  const std::int64_t each = std::ssize(elements) / count, longer = std::ssize(elements) % count;
  Elements slices;
  auto at = elements.begin();
  for (std::int64_t i = 0; i < count; i++) {
    const auto end = at + each + (i < longer ? 1 : 0);
    Elements slice(at, end);
    if (fill && !fill->is_none() && i >= longer) slice.push_back(*fill);
    slices.push_back(Value::list(std::move(slice)));
    at = end;
  }
  return iterator(std::move(slices));
}

constexpr NamedFunction table[] = {
    {"batch", batch_filter},
    {"count", length_filter},
    {"dictsort", dictsort_filter},
    {"first", first_filter},
    {"items", items_filter},
    {"last", last_filter},
    {"length", length_filter},
    {"list", list_filter},
    {"map", map_filter},
    {"max", extreme_filter<true>},
    {"min", extreme_filter<false>},
    {"reject", select_filter<false, false>},
    {"rejectattr", select_filter<true, false>},
    {"reverse", reverse_filter},
    {"select", select_filter<false, true>},
    {"selectattr", select_filter<true, true>},
    {"slice", slice_filter},
    {"sort", sort_filter},
    {"sum", sum_filter},
    {"unique", unique_filter},
};

}  // namespace

std::span<const NamedFunction> sequence_filters() { return table; }

}  // namespace croze::llm::jinja
