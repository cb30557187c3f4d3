// interpreter.h -- what a template prints.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/llm/template/arguments.h"
#include "croze/llm/template/ast.h"
#include "croze/llm/template/limits.h"
#include "croze/llm/template/runtime.h"
#include "croze/llm/template/source.h"

namespace croze::llm::jinja {

using Variables = std::vector<std::pair<std::string, Value>>;

// Walks over a tree once.  Throws Error with the line and column at which something went wrong, or
// at which a limit was reached.
class Interpreter {
 public:
  Interpreter(const Source& source, const Limits& limits, const std::tm& now)
      : source_(source), limits_(limits), runtime_{Budget(limits), now, {}} {}

  std::string run(const Body& body, const Variables& variables);

 private:
  enum class Flow { Onward, Break, Continue };

  // Names with values; what a scope does not have is looked for in the one around it.
  struct Scope {
    std::vector<std::pair<std::string_view, Value>> names;
    Scope* around = nullptr;
    std::uint64_t serial = 0;
  };

  // A scope from here to the end of a block of ours.
  class Inside {
   public:
    Inside(Interpreter& interpreter, Scope* around);
    explicit Inside(Interpreter& interpreter) : Inside(interpreter, interpreter.scope_) {}
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Interpreter& interpreter_;
    Scope scope_;
    Scope* before_;
  };

  // One level of calls and expressions in each other.
  class Level {
   public:
    explicit Level(Interpreter& interpreter);
    ~Level() { interpreter_.depth_--; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Interpreter& interpreter_;
  };

  // ---- statements
  Flow execute(const Body& body);
  Flow execute(const Statement& statement);
  Flow perform(const Text& text);
  Flow perform(const Output& output);
  Flow perform(const If& statement);
  Flow perform(const For& statement);
  Flow perform(const Set& statement);
  Flow perform(const SetBlock& statement);
  Flow perform(const MacroDefinition& statement);
  Flow perform(const CallBlock& statement);
  Flow perform(const FilterBlock& statement);
  Flow perform(const Block& statement);
  Flow perform(const Break&) { return Flow::Break; }
  Flow perform(const Continue&) { return Flow::Continue; }
  std::vector<Value> items_of(const For& statement);
  // Calls `write` and returns what it has printed.
  template <typename F>
  std::string printed_by(F write);
  void check_output();
  void assign(const Target& target, Value value);
  void set(std::string_view name, Value value);
  Value bound_macro(const Macro& macro) const;

  // ---- expressions
  Value evaluate(const Expression& expression);
  Value value_of(const Literal& literal) { return literal.value; }
  Value value_of(const Name& name);
  Value value_of(const ListLiteral& list);
  Value value_of(const DictLiteral& dict);
  Value value_of(const Unary& unary);
  Value value_of(const Arithmetic& arithmetic);
  Value value_of(const Concatenation& concatenation);
  Value value_of(const Logic& logic);
  Value value_of(const Comparison& comparison);
  Value value_of(const Choice& choice);
  Value value_of(const Steps& steps);
  Value after(Value value, const std::vector<Step>& steps);
  Value take_step(const Value& value, const AttributeStep& step, Place place);
  Value take_step(const Value& value, const ItemStep& step, Place place);
  Value take_step(const Value& value, const SliceStep& step, Place place);
  Value take_step(const Value& value, const CallStep& step, Place place);
  Value take_step(const Value& value, const FilterStep& step, Place place);
  Value take_step(const Value& value, const TestStep& step, Place place);
  Arguments evaluated(const CallArguments& arguments);
  Value call(const Value& callee, Arguments arguments, Place place);
  Value call_macro(const BoundMacro& bound, Arguments arguments);
  void bind(const Macro& macro, Arguments& arguments);

  const Source& source_;
  const Limits limits_;
  Runtime runtime_;
  Place place_;  // of what is being done, for errors
  int depth_ = 0;
  Scope* scope_ = nullptr;
  std::vector<Scope*> scopes_;  // all that are there
  std::uint64_t serial_ = 0;
  TextBuilder* out_ = nullptr;
  const Value* caller_ = nullptr;  // of the macro that is called by a call block
};

}  // namespace croze::llm::jinja
