// evaluate.cpp -- expressions and calls.
#include <algorithm>
#include <memory>

#include "croze/base/error.h"
#include "croze/llm/template/access.h"
#include "croze/llm/template/builtins/builtins.h"
#include "croze/llm/template/dict.h"
#include "croze/llm/template/interpreter.h"
#include "croze/llm/template/operators.h"
#include "croze/llm/template/printing.h"

namespace croze::llm::jinja {

Value Interpreter::evaluate(const Expression& expression) {
  place_ = expression.place;
  const Level level(*this);
  runtime_.budget.work(1);
  return std::visit([&](const auto& what) { return value_of(what); }, expression.what);
}

Value Interpreter::value_of(const Name& name) {
  for (const Scope* scope = scope_; scope; scope = scope->around) {
    for (const auto& [known, value] : scope->names) {
      if (known == name.name) return value;
    }
  }
  if (auto function = global_function(name.name)) return function;
  return Value::undefined(fmt::format("\"{}\" is undefined", name.name.substr(0, 80)));
}

Value Interpreter::value_of(const ListLiteral& list) {
  runtime_.budget.elements(list.elements.size());
  std::vector<Value> elements;
  for (const ExpressionPtr& element : list.elements) elements.push_back(evaluate(*element));
  return Value::sequence(list.is_tuple ? SequenceKind::Tuple : SequenceKind::List,
                         std::move(elements));
}

Value Interpreter::value_of(const DictLiteral& dict) {
  runtime_.budget.elements(2 * dict.members.size());
  const auto result = std::make_shared<Dict>();
  for (const auto& [key, value] : dict.members) {
    Value made_key = evaluate(*key);
    result->set(std::move(made_key), evaluate(*value));
  }
  return std::shared_ptr<const Dict>(result);
}

Value Interpreter::value_of(const Unary& unary) {
  const Value value = evaluate(*unary.operand);
  switch (unary.op) {
    case Unary::Op::Not: return !value.is_true();
    case Unary::Op::Minus: return negative(value);
    case Unary::Op::Plus: break;
  }
  return negative(negative(value));
}

Value Interpreter::value_of(const Arithmetic& terms) {
  Value value = evaluate(*terms.first);
  for (const Arithmetic::Term& term : terms.rest) {
    const Value operand = evaluate(*term.operand);
    place_ = term.place;
    value = arithmetic(term.op, value, operand, runtime_.budget);
  }
  return value;
}

Value Interpreter::value_of(const Concatenation& concatenation) {
  TextBuilder out(runtime_.budget);
  for (const ExpressionPtr& part : concatenation.parts) {
    const Value value = evaluate(*part);
    place_ = part->place;
    append_text(value, out);
  }
  return out.take();
}

Value Interpreter::value_of(const Logic& logic) {
  Value value;
  for (const ExpressionPtr& operand : logic.operands) {
    value = evaluate(*operand);
    if (value.is_true() == logic.is_or) break;
  }
  return value;
}

Value Interpreter::value_of(const Comparison& comparison) {
  Value left = evaluate(*comparison.first);
  for (const Comparison::Term& term : comparison.rest) {
    Value right = evaluate(*term.operand);
    place_ = term.place;
    if (!compares(term.op, left, right, runtime_.budget)) return false;
    left = std::move(right);
  }
  return true;
}

Value Interpreter::value_of(const Choice& choice) {
  if (evaluate(*choice.condition).is_true()) return evaluate(*choice.then);
  if (choice.otherwise) return evaluate(*choice.otherwise);
  return Value::undefined("an \"if\" without \"else\" has no value");
}

// ---- what stands behind a value ---------------------------------------------------------------

Value Interpreter::value_of(const Steps& steps) {
  return after(evaluate(*steps.base), steps.steps);
}

Value Interpreter::after(Value value, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    runtime_.budget.work(1);
    value =
        std::visit([&](const auto& what) { return take_step(value, what, step.place); }, step.what);
  }
  return value;
}

Value Interpreter::take_step(const Value& value, const AttributeStep& step, Place place) {
  place_ = place;
  return attribute_of(value, step.name, runtime_);
}

Value Interpreter::take_step(const Value& value, const ItemStep& step, Place place) {
  const Value index = evaluate(*step.index);
  place_ = place;
  return item_of(value, index, runtime_);
}

Value Interpreter::take_step(const Value& value, const SliceStep& step, Place place) {
  const auto part = [&](const ExpressionPtr& e) { return e ? evaluate(*e) : Value(); };
  const Value begin = part(step.begin), end = part(step.end), stride = part(step.stride);
  place_ = place;
  return slice_of(value, begin, end, stride, runtime_.budget);
}

Value Interpreter::take_step(const Value& value, const CallStep& step, Place place) {
  return call(value, evaluated(step.arguments), place);
}

Value Interpreter::take_step(const Value& value, const FilterStep& step, Place place) {
  Arguments arguments = evaluated(step.arguments);
  place_ = place;
  return apply_filter(step.name, value, std::move(arguments), runtime_);
}

Value Interpreter::take_step(const Value& value, const TestStep& step, Place place) {
  Arguments arguments = evaluated(step.arguments);
  place_ = place;
  return passes_test(step.name, value, std::move(arguments), runtime_) != step.is_negated;
}

// ---- calls ------------------------------------------------------------------------------------

Arguments Interpreter::evaluated(const CallArguments& arguments) {
  std::vector<Value> positional;
  Arguments::Named named;
  for (const ExpressionPtr& argument : arguments.positional) {
    positional.push_back(evaluate(*argument));
  }
  for (const auto& [name, argument] : arguments.named) {
    named.emplace_back(name, evaluate(*argument));
  }
  return {std::move(positional), std::move(named)};
}

Value Interpreter::call(const Value& callee, Arguments arguments, Place place) {
  place_ = place;
  if (callee.is_undefined()) fail({}, "{}", callee.problem());
  const Callable* callable = callee.callable();
  check(callable != nullptr, "a value of type {} is called", callee.type_name());
  if (!callable->function) return call_macro(callable->macro, std::move(arguments));
  try {
    const Value result = callable->function(runtime_, callable->receiver, arguments);
    arguments.finish();
    return result;
  } catch (const Error& e) {
    fail({}, "{}(): {}", callable->name, e.message());
  }
}

// The scope of the call has the parameters; defaults see those before them.
void Interpreter::bind(const Macro& macro, Arguments& arguments) {
  for (const Parameter& parameter : macro.parameters) {
    const Value* given = arguments.find(parameter.name);
    if (given) {
      set(parameter.name, *given);
    } else if (parameter.otherwise) {
      set(parameter.name, evaluate(*parameter.otherwise));
    } else {
      set(parameter.name,
          Value::undefined(fmt::format("the parameter \"{}\" of \"{}\" is not given",
                                       parameter.name, macro.name)));
    }
  }
  try {
    arguments.finish();
  } catch (const Error& e) {
    fail({}, "{}(): {}", macro.name, e.message());
  }
}

Value Interpreter::call_macro(const BoundMacro& bound, Arguments arguments) {
  const bool is_there =
      bound.scope < scopes_.size() && scopes_[bound.scope]->serial == bound.serial;
  check(is_there, "the macro \"{}\" is called outside of where it is defined", bound.macro->name);
  const Level level(*this);
  const Value* caller = std::exchange(caller_, nullptr);
  const Inside scope(*this, scopes_[bound.scope]);
  if (caller) set("caller", *caller);
  bind(*bound.macro, arguments);
  TextBuilder text(runtime_.budget);
  TextBuilder* outer = std::exchange(out_, &text);
  execute(bound.macro->body);
  out_ = outer;
  return text.take();
}

}  // namespace croze::llm::jinja
