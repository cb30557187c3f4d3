// access.h -- members of values: `value.name`, `value[item]`, `value[a:b:c]`.
#pragma once

#include <optional>
#include <string_view>

#include "croze/llm/template/budget.h"
#include "croze/llm/template/runtime.h"
#include "croze/llm/template/value.h"

namespace croze::llm::jinja {

// A method if the type has one of that name, else the item of a dict; undefined if there is
// neither. Throws Error for members of what is undefined.
Value attribute_of(const Value& value, std::string_view name, Runtime& runtime);
// The other way round: first the item.
Value item_of(const Value& value, const Value& index, Runtime& runtime);
Value slice_of(const Value& value, const Value& begin, const Value& end, const Value& stride,
               Budget& budget);
// "a.b.0": one after the other, as filters name them; `otherwise`, if there is one, stands in for
// each that is undefined.
Value path_of(const Value& value, const Value& path, Runtime& runtime,
              const Value* otherwise = nullptr);

// A method of the type of `value`; null if it has none of that name.
std::shared_ptr<const Callable> method_of(const Value& value, std::string_view name);

}  // namespace croze::llm::jinja
