#include "croze/llm/template/access.h"

#include <algorithm>
#include <charconv>

#include "croze/base/error.h"
#include "croze/llm/template/characters.h"
#include "croze/llm/template/dict.h"
#include "croze/llm/template/operators.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm::jinja {
namespace {

Value missing(const Value& value, std::string_view name) {
  return Value::undefined(fmt::format("a value of type {} has no member \"{}\"", value.type_name(),
                                      name.substr(0, 80)));
}

// The variable "loop": its members, but for its methods.
Value loop_member(const Loop& loop, std::string_view name) {
  const std::vector<Value>& items = loop.items.sequence()->elements;
  const std::size_t i = loop.index, size = items.size();
  if (name == "index") return i + 1;
  if (name == "index0") return i;
  if (name == "revindex") return size - i;
  if (name == "revindex0") return size - i - 1;
  if (name == "first") return i == 0;
  if (name == "last") return i + 1 == size;
  if (name == "length") return size;
  if (name == "depth") return 1;
  if (name == "depth0") return 0;
  if (name == "previtem")
    return i == 0 ? Value::undefined("there is no item before") : items[i - 1];
  if (name == "nextitem") {
    return i + 1 == size ? Value::undefined("there is no item behind") : items[i + 1];
  }
  return Value::undefined(fmt::format("\"loop\" has no member \"{}\"", name.substr(0, 80)));
}

// The place that a number of Python means: negative ones count from the end.  Negative if there is
// none.
std::int64_t place_of(std::int64_t index, std::int64_t size) {
  if (index < 0) index += size;
  return index < size ? index : -1;
}

Value element_of(const Value& value, std::int64_t index, Runtime& runtime) {
  const std::int64_t place = place_of(index, length_of(value, runtime.budget));
  if (place < 0) return missing(value, std::to_string(index));
  if (!value.is_text()) return value.sequence()->elements[static_cast<std::size_t>(place)];
  const std::string_view text = value.text();
  runtime.budget.reading(text.size());
  const std::size_t begin = byte_of_char(text, place);
  std::size_t end = begin;
  next_char(text, end);
  return text.substr(begin, end - begin);
}

bool is_indexed(const Value& value) {
  const Sequence* s = value.sequence();
  return value.is_text() ||
         (s && (s->kind == SequenceKind::List || s->kind == SequenceKind::Tuple ||
                s->kind == SequenceKind::Range));
}

const Value* attribute_of_namespace(const Namespace& space, std::string_view name) {
  const auto it = std::ranges::find(space.attributes, name, &std::pair<std::string, Value>::first);
  return it == space.attributes.end() ? nullptr : &it->second;
}

struct Range {
  std::int64_t begin, end, stride;
};

// What a slice of Python means for that many elements.
Range range_of(const Value& begin, const Value& end, const Value& stride, std::int64_t size) {
  for (const Value* part : {&begin, &end, &stride}) {
    check(part->is_none() || part->is_integral(), "a slice by {}", part->type_name());
  }
  const std::int64_t step = stride.is_none() ? 1 : stride.integer();
  check(step != 0, "a slice of stride zero");
  const std::int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? size - 1 : size;
  const auto clamped = [&](const Value& part, std::int64_t otherwise) {
    if (part.is_none()) return otherwise;
    std::int64_t place = part.integer();
    if (place < 0) place += size;
    return std::clamp(place, lowest, std::max(lowest, highest));
  };
  return {clamped(begin, step < 0 ? highest : lowest), clamped(end, step < 0 ? lowest : highest),
          step};
}

}  // namespace

Value attribute_of(const Value& value, std::string_view name, Runtime& runtime) {
  if (value.is_undefined()) fail({}, "{}", value.problem());
  if (value.loop()) {
    if (const auto method = method_of(value, name)) return method;
    return loop_member(*value.loop(), name);
  }
  if (value.space()) {
    const Value* found = attribute_of_namespace(*value.space(), name);
    return found ? *found : missing(value, name);
  }
  if (const auto method = method_of(value, name)) return method;
  runtime.budget.work(1);
  const Value* found = value.dict() ? value.dict()->find_name(name) : nullptr;
  return found ? *found : missing(value, name);
}

Value item_of(const Value& value, const Value& index, Runtime& runtime) {
  if (value.is_undefined()) fail({}, "{}", value.problem());
  if (const Dict* dict = value.dict()) {
    runtime.budget.work(1);
    if (const Value* found = dict->find(index)) return *found;
  } else if (is_indexed(value) && index.is_integral()) {
    return element_of(value, index.integer(), runtime);
  }
  if (index.is_text() && !value.is_none()) {
    if (value.dict()) {
      if (const auto method = method_of(value, index.text())) return method;
      return missing(value, index.text());
    }
    return attribute_of(value, index.text(), runtime);
  }
  return missing(value, index.is_integer() ? std::to_string(index.integer()) : "");
}

Value slice_of(const Value& value, const Value& begin, const Value& end, const Value& stride,
               Budget& budget) {
  if (value.is_undefined()) fail({}, "{}", value.problem());
  check(is_indexed(value), "a slice of a value of type {}", value.type_name());
  const std::int64_t size = length_of(value, budget);
  const Range range = range_of(begin, end, stride, size);
  if (value.is_text() && range.stride == 1) {
    const std::string_view text = value.text();
    budget.reading(text.size());
    const std::size_t first = byte_of_char(text, range.begin);
    const std::size_t count =
        range.end > range.begin ? byte_of_char(text.substr(first), range.end - range.begin) : 0;
    TextBuilder out(budget);
    out.append(text.substr(first, count));
    return out.take();
  }
  const std::vector<Value> elements = elements_of(value, budget);
  std::vector<Value> chosen;
  // A step may be as large as an integer: what is left is compared, not where the next one is.
  for (std::int64_t at = range.begin; range.stride > 0 ? at < range.end : at > range.end;
       at += range.stride) {
    chosen.push_back(elements[static_cast<std::size_t>(at)]);
    const std::int64_t left = range.end - at;
    if (range.stride > 0 ? range.stride >= left : range.stride <= left) break;
  }
  if (!value.is_text()) return Value::sequence(value.sequence()->kind, std::move(chosen));
  TextBuilder out(budget);
  for (const Value& element : chosen) out.append(element.text());
  return out.take();
}

Value path_of(const Value& value, const Value& path, Runtime& runtime, const Value* otherwise) {
  const auto part_of = [&](const Value& whole, const Value& part) {
    Value found = item_of(whole, part, runtime);
    return found.is_undefined() && otherwise ? *otherwise : found;
  };
  if (!path.is_text()) return part_of(value, path);
  Value result = value;
  std::string_view rest = path.text();
  while (true) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view part = rest.substr(0, dot);
    std::int64_t number = 0;
    const char* end = part.data() + part.size();
    const bool is_number = std::from_chars(part.data(), end, number).ptr == end && !part.empty();
    result = part_of(result, is_number ? Value(number) : Value(part));
    if (dot == rest.size()) return result;
    rest.remove_prefix(dot + 1);
  }
}

}  // namespace croze::llm::jinja
