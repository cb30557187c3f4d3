// value.h -- the values that chat templates compute with: those of JSON, and what Python, whose
// semantics templates have, knows beside them.
//
// A value does not change, so values share their parts; what refers to itself cannot be made.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace croze::llm::jinja {

class Budget;
class Dict;
class Value;
struct Callable;
struct Loop;
struct Namespace;

// Lists in lists and dicts nest at most so deep, from JSON or in a template.
inline constexpr int max_value_depth = 100;

// What is said of values: only the first five have a form as JSON.
enum class SequenceKind {
  List,
  Tuple,
  Range,
  Keys,  // of a dict, as are the next two
  Values,
  Items,
  Iterator,  // has neither length nor elements by number, and is empty when it was walked over once
};

struct Sequence {
  SequenceKind kind = SequenceKind::List;
  std::vector<Value> elements;
  int depth = 0;
  mutable bool walked = false;  // of an iterator
};

// What a name without a value, or a member that is not there, gives.  Printing it gives nothing;
// most of what else can be done with it is an Error with this text.
struct Undefined {
  std::shared_ptr<const std::string> problem;
};

class Value {
 public:
  Value() = default;  // none
  Value(bool value) : value_(value) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Value(T value) : value_(static_cast<std::int64_t>(value)) {}
  Value(double value) : value_(value) {}
  Value(std::string text) : value_(std::make_shared<const std::string>(std::move(text))) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  Value(std::shared_ptr<const Sequence> sequence) : value_(std::move(sequence)) {}
  Value(std::shared_ptr<const Dict> dict) : value_(std::move(dict)) {}
  Value(std::shared_ptr<const Callable> callable) : value_(std::move(callable)) {}
  Value(std::shared_ptr<Loop> loop) : value_(std::move(loop)) {}
  Value(Namespace* space) : value_(space) {}

  // Throws Error if it nests too deep; so does dict.
  static Value list(std::vector<Value> elements);
  static Value sequence(SequenceKind kind, std::vector<Value> elements);
  // Members in this order; of those with the same name the last counts.
  static Value dict(std::vector<std::pair<std::string, Value>> members);
  static Value undefined(std::string problem);
  // Throws Error, calling the text `what`, if it is no JSON or nests too deep.
  static Value parse(std::string_view json, const std::string& what = "JSON");

  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_undefined() const { return std::holds_alternative<Undefined>(value_); }
  bool is_flag() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_float() const { return std::holds_alternative<double>(value_); }
  bool is_text() const { return text_pointer() != nullptr; }
  // Python's bool is an integer, too.
  bool is_integral() const { return is_integer() || is_flag(); }
  bool is_number() const { return is_integral() || is_float(); }

  // Null if it is none.
  const std::string* text_pointer() const {
    const auto* text = std::get_if<std::shared_ptr<const std::string>>(&value_);
    return text ? text->get() : nullptr;
  }
  const Sequence* sequence() const { return pointer_to<const Sequence>(); }
  const Dict* dict() const { return pointer_to<const Dict>(); }
  const Callable* callable() const { return pointer_to<const Callable>(); }
  Loop* loop() const { return pointer_to<Loop>(); }
  Namespace* space() const {
    const auto* space = std::get_if<Namespace*>(&value_);
    return space ? *space : nullptr;
  }

  // Of what is one.
  const std::string& text() const { return *text_pointer(); }
  std::int64_t integer() const;  // a flag is 0 or 1
  double number() const;
  const std::string& problem() const { return *std::get<Undefined>(value_).problem; }

  // Whether it counts as true: neither zero nor empty.
  bool is_true() const;
  // What Python calls its type, for messages.
  std::string_view type_name() const;
  // How deep it nests: 0 for what has no parts.
  int depth() const;
  // Whether both are the same thing, or equal and too simple to tell.
  bool is_same(const Value& other) const;

 private:
  template <typename T>
  T* pointer_to() const {
    const auto* pointer = std::get_if<std::shared_ptr<T>>(&value_);
    return pointer ? pointer->get() : nullptr;
  }

  std::variant<std::monostate, Undefined, bool, std::int64_t, double,
               std::shared_ptr<const std::string>, std::shared_ptr<const Sequence>,
               std::shared_ptr<const Dict>, std::shared_ptr<const Callable>, std::shared_ptr<Loop>,
               Namespace*>
      value_;
};

// Whether values are equal as Python has it: numbers of any type by value, lists by element.
// Costs work for each element that is looked at.
bool equal(const Value& a, const Value& b, Budget& budget);

}  // namespace croze::llm::jinja
