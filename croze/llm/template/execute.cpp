// execute.cpp -- statements.
#include <algorithm>
#include <memory>
#include <new>

#include "croze/base/error.h"
#include "croze/llm/template/interpreter.h"
#include "croze/llm/template/operators.h"
#include "croze/llm/template/printing.h"

namespace croze::llm::jinja {

Interpreter::Inside::Inside(Interpreter& interpreter, Scope* around)
    : interpreter_(interpreter), before_(interpreter.scope_) {
  scope_.around = around;
  scope_.serial = ++interpreter.serial_;
  interpreter.scope_ = &scope_;
  interpreter.scopes_.push_back(&scope_);
}

Interpreter::Inside::~Inside() {
  interpreter_.scopes_.pop_back();
  interpreter_.scope_ = before_;
}

Interpreter::Level::Level(Interpreter& interpreter) : interpreter_(interpreter) {
  check(interpreter.depth_ < interpreter.limits_.depth,
        "calls and expressions nest more than {} deep", interpreter.limits_.depth);
  interpreter.depth_++;
}

std::string Interpreter::run(const Body& body, const Variables& variables) {
  TextBuilder out(runtime_.budget);
  try {
    const Inside variables_scope(*this, nullptr);
    for (const auto& [name, value] : variables) set(name, value);
    const Inside scope(*this);
    out_ = &out;
    execute(body);
  } catch (const Error& e) {
    source_.fail_at(place_, e.message());
  } catch (const std::bad_alloc&) {
    source_.fail_at(place_, "out of memory");
  }
  return out.take();
}

Interpreter::Flow Interpreter::execute(const Body& body) {
  for (const Statement& statement : body) {
    const Flow flow = execute(statement);
    if (flow != Flow::Onward) return flow;
  }
  return Flow::Onward;
}

Interpreter::Flow Interpreter::execute(const Statement& statement) {
  place_ = statement.place;
  const Level level(*this);
  runtime_.budget.work(1);
  return std::visit([&](const auto& what) { return perform(what); }, statement.what);
}

// ---- printing ---------------------------------------------------------------------------------

void Interpreter::check_output() {
  check(static_cast<std::int64_t>(out_->size()) <= limits_.output,
        "the template prints more than {} bytes", limits_.output);
}

Interpreter::Flow Interpreter::perform(const Text& text) {
  out_->append(text.text);
  check_output();
  return Flow::Onward;
}

Interpreter::Flow Interpreter::perform(const Output& output) {
  const Value value = evaluate(*output.value);
  place_ = output.value->place;
  append_text(value, *out_);
  check_output();
  return Flow::Onward;
}

template <typename F>
std::string Interpreter::printed_by(F write) {
  TextBuilder inner(runtime_.budget);
  TextBuilder* outer = std::exchange(out_, &inner);
  write();
  out_ = outer;
  return inner.take();
}

Interpreter::Flow Interpreter::perform(const FilterBlock& statement) {
  Flow flow = Flow::Onward;
  std::string text = printed_by([&] {
    const Inside scope(*this);
    flow = execute(statement.body);
  });
  append_text(after(std::move(text), statement.filters), *out_);
  check_output();
  return flow;
}

// ---- choices and loops ------------------------------------------------------------------------

Interpreter::Flow Interpreter::perform(const If& statement) {
  for (const If::Branch& branch : statement.branches) {
    if (evaluate(*branch.condition).is_true()) return execute(branch.body);
  }
  return execute(statement.otherwise);
}

std::vector<Value> Interpreter::items_of(const For& statement) {
  const Value from = evaluate(*statement.items);
  place_ = statement.items->place;
  std::vector<Value> items = elements_of(from, runtime_.budget);
  if (!statement.condition) return items;
  std::erase_if(items, [&](const Value& item) {
    const Inside scope(*this);
    assign(statement.target, item);
    return !evaluate(*statement.condition).is_true();
  });
  return items;
}

Interpreter::Flow Interpreter::perform(const For& statement) {
  std::vector<Value> items = items_of(statement);
  const std::size_t count = items.size();
  bool reached_end = false;  // of the body: if none did, "else" follows, as in Jinja
  const auto loop = std::make_shared<Loop>(Loop{Value::list(std::move(items)), 0});
  for (std::size_t i = 0; i < count; i++) {
    runtime_.budget.work(1);
    loop->index = i;
    const Inside scope(*this);
    set("loop", loop);
    assign(statement.target, loop->items.sequence()->elements[i]);
    const Flow flow = execute(statement.body);
    if (flow == Flow::Break) break;
    reached_end = reached_end || flow == Flow::Onward;
  }
  if (reached_end) return Flow::Onward;
  const Inside scope(*this);
  return execute(statement.otherwise);
}

// ---- names ------------------------------------------------------------------------------------

void Interpreter::set(std::string_view name, Value value) {
  const auto it =
      std::ranges::find(scope_->names, name, &std::pair<std::string_view, Value>::first);
  if (it != scope_->names.end()) {
    it->second = std::move(value);
  } else {
    scope_->names.emplace_back(name, std::move(value));
  }
}

void Interpreter::assign(const Target& target, Value value) {
  if (!target.parts.empty()) {
    const std::vector<Value> parts = elements_of(value, runtime_.budget);
    place_ = target.place;
    check(parts.size() == target.parts.size(), "{} values for {} names", parts.size(),
          target.parts.size());
    for (std::size_t i = 0; i < parts.size(); i++) assign(target.parts[i], parts[i]);
    return;
  }
  if (target.attribute.empty()) return set(target.name, std::move(value));
  Namespace* space = value_of(Name{target.name}).space();
  place_ = target.place;
  check(space != nullptr, "\"{}\" is no namespace", target.name);
  auto& attributes = space->attributes;
  const auto it =
      std::ranges::find(attributes, target.attribute, &std::pair<std::string, Value>::first);
  if (it != attributes.end()) {
    it->second = std::move(value);
  } else {
    runtime_.budget.elements(1);
    attributes.emplace_back(target.attribute, std::move(value));
  }
}

Interpreter::Flow Interpreter::perform(const Set& statement) {
  assign(statement.target, evaluate(*statement.value));
  return Flow::Onward;
}

Interpreter::Flow Interpreter::perform(const SetBlock& statement) {
  Flow flow = Flow::Onward;
  std::string text = printed_by([&] {
    const Inside scope(*this);
    flow = execute(statement.body);
  });
  assign(statement.target, after(std::move(text), statement.filters));
  return flow;
}

Interpreter::Flow Interpreter::perform(const Block& statement) {
  std::vector<Value> values;
  for (const auto& [target, value] : statement.assignments) values.push_back(evaluate(*value));
  const Inside scope(*this);
  for (std::size_t i = 0; i < values.size(); i++) {
    assign(statement.assignments[i].first, std::move(values[i]));
  }
  return execute(statement.body);
}

// ---- macros -----------------------------------------------------------------------------------

Value Interpreter::bound_macro(const Macro& macro) const {
  const auto place = static_cast<std::size_t>(std::ranges::find(scopes_, scope_) - scopes_.begin());
  return std::make_shared<const Callable>(
      Callable{macro.name, nullptr, Value(), {&macro, place, scope_->serial}});
}

Interpreter::Flow Interpreter::perform(const MacroDefinition& statement) {
  runtime_.budget.elements(1);
  set(statement.macro->name, bound_macro(*statement.macro));
  return Flow::Onward;
}

// The call is the last step of its expression; it is done with the caller at hand.
Interpreter::Flow Interpreter::perform(const CallBlock& statement) {
  const Value caller = bound_macro(*statement.caller);
  const auto& [base, steps] = std::get<Steps>(statement.call->what);
  Value callee = evaluate(*base);
  for (std::size_t i = 0; i + 1 < steps.size(); i++) {
    callee = std::visit([&](const auto& what) { return take_step(callee, what, steps[i].place); },
                        steps[i].what);
  }
  Arguments arguments = evaluated(std::get<CallStep>(steps.back().what).arguments);
  caller_ = &caller;
  const Value result = call(callee, std::move(arguments), steps.back().place);
  caller_ = nullptr;
  append_text(result, *out_);
  check_output();
  return Flow::Onward;
}

}  // namespace croze::llm::jinja
