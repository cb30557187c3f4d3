// functions.cpp -- the global functions: Jinja's, and those that Hugging Face adds.
#include <algorithm>
#include <ctime>

#include "croze/base/error.h"
#include "croze/llm/template/builtins/builtins.h"
#include "croze/llm/template/dict.h"
#include "croze/llm/template/operators.h"
#include "croze/llm/template/printing.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm::jinja {
namespace {

// The sandbox of Jinja allows no more, either.
constexpr std::int64_t max_range = 100'000;

Value range_function(Runtime& runtime, const Value&, Arguments& arguments) {
  const std::vector<Value> numbers = arguments.rest();
  check(!numbers.empty() && numbers.size() <= 3, "range of {} numbers", numbers.size());
  for (const Value& number : numbers) {
    if (number.is_undefined()) fail({}, "{}", number.problem());
    check(number.is_integral(), "range of a value of type {}", number.type_name());
  }
  const bool has_begin = numbers.size() > 1;
  std::int64_t at = has_begin ? numbers[0].integer() : 0;
  const std::int64_t end = numbers[has_begin ? 1 : 0].integer();
  const std::int64_t step = numbers.size() == 3 ? numbers[2].integer() : 1;
  check(step != 0, "range of step zero");
  std::vector<Value> elements;
  while (step > 0 ? at < end : at > end) {
    check(std::ssize(elements) < max_range, "a range of more than {} numbers", max_range);
    runtime.budget.elements(1);
    elements.emplace_back(at);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return Value::sequence(SequenceKind::Range, std::move(elements));
}

// The members that dict(..) and namespace(..) are called with.
Dict members_of(Runtime& runtime, Arguments& arguments) {
  Dict members;
  if (arguments.has_positional()) {
    const Value& from = arguments.take("members");
    if (from.dict()) {
      members = *from.dict();
    } else {
      for (const Value& element : elements_of(from, runtime.budget)) {
        const std::vector<Value> pair = elements_of(element, runtime.budget);
        check(pair.size() == 2, "a member of {} parts", pair.size());
        members.set(pair[0], pair[1]);
      }
    }
  }
  for (auto& [name, value] : arguments.rest_named()) members.set(name, std::move(value));
  runtime.budget.elements(2 * members.members().size());
  return members;
}

Value dict_function(Runtime& runtime, const Value&, Arguments& arguments) {
  return std::make_shared<const Dict>(members_of(runtime, arguments));
}

Value namespace_function(Runtime& runtime, const Value&, Arguments& arguments) {
  Namespace space;
  const Dict members = members_of(runtime, arguments);
  for (const auto& [key, value] : members.members()) {
    check(key.is_text(), "an attribute that is no text");
    space.attributes.emplace_back(key.text(), value);
  }
  runtime.budget.memory(sizeof(Namespace));
  return &runtime.namespaces.emplace_back(std::move(space));
}

Value raise_function(Runtime& runtime, const Value&, Arguments& arguments) {
  fail({}, "the template refuses: {}", text_of(arguments.take("message"), runtime.budget));
}

Value strftime_function(Runtime& runtime, const Value&, Arguments& arguments) {
  const std::string& format = arguments.text("format");
  if (format.empty()) return "";
  char buffer[1024];
  const std::size_t size = std::strftime(buffer, sizeof buffer, format.c_str(), &runtime.now);
  check(size > 0, "a time that is empty, or longer than {} bytes", sizeof buffer);
  return to_valid_utf8({buffer, size});
}

constexpr NamedFunction table[] = {
    {"dict", dict_function},
    {"namespace", namespace_function},
    {"raise_exception", raise_function},
    {"range", range_function},
    {"strftime_now", strftime_function},
};

}  // namespace

std::shared_ptr<const Callable> global_function(std::string_view name) {
  const NamedFunction* entry = find_named(table, name);
  if (!entry) return nullptr;
  return std::make_shared<const Callable>(Callable{entry->name, entry->function, Value(), {}});
}

}  // namespace croze::llm::jinja
