// ast.h -- a template as a tree.  What is written one behind the other, "a + b - c" or "a.b[c]|d",
// is one node with a list, so a tree is no deeper than its template nests.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "croze/llm/template/source.h"
#include "croze/llm/template/value.h"

namespace croze::llm::jinja {

// ---- expressions ------------------------------------------------------------------------------

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct Literal {
  Value value;
};

struct Name {
  std::string name;
};

struct ListLiteral {
  std::vector<ExpressionPtr> elements;
  bool is_tuple = false;
};

struct DictLiteral {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> members;
};

struct Unary {
  enum class Op { Not, Minus, Plus } op;
  ExpressionPtr operand;
};

// Operators of the same rank, from left to right.
struct Arithmetic {
  enum class Op { Add, Subtract, Multiply, Divide, FloorDivide, Modulo, Power };
  struct Term {
    Op op;
    ExpressionPtr operand;
    Place place;  // of the operator
  };
  ExpressionPtr first;
  std::vector<Term> rest;
};

struct Concatenation {
  std::vector<ExpressionPtr> parts;
};

// The value of the first operand that decides: that is false of "and", that is true of "or".
struct Logic {
  bool is_or = false;
  std::vector<ExpressionPtr> operands;
};

// "a < b <= c": each with its neighbour.
struct Comparison {
  enum class Op { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, In, NotIn };
  struct Term {
    Op op;
    ExpressionPtr operand;
    Place place;
  };
  ExpressionPtr first;
  std::vector<Term> rest;
};

// "a if b else c"
struct Choice {
  ExpressionPtr condition, then, otherwise;  // null: undefined
};

struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
};

struct AttributeStep {
  std::string name;
};
struct ItemStep {
  ExpressionPtr index;
};
struct SliceStep {
  ExpressionPtr begin, end, stride;  // null where nothing is written
};
struct CallStep {
  CallArguments arguments;
};
struct FilterStep {
  std::string name;
  CallArguments arguments;
};
struct TestStep {
  std::string name;
  bool is_negated = false;
  CallArguments arguments;
};

// What is done to a value behind which it is written.
struct Step {
  std::variant<AttributeStep, ItemStep, SliceStep, CallStep, FilterStep, TestStep> what;
  Place place;
};

struct Steps {
  ExpressionPtr base;
  std::vector<Step> steps;
};

struct Expression {
  std::variant<Literal, Name, ListLiteral, DictLiteral, Unary, Arithmetic, Concatenation, Logic,
               Comparison, Choice, Steps>
      what;
  Place place;
};

// ---- statements -------------------------------------------------------------------------------

struct Statement;
using Body = std::vector<Statement>;

// What is assigned to: a name, an attribute of a namespace, or several of these.
struct Target {
  std::string name;
  std::string attribute;      // empty: the name itself
  std::vector<Target> parts;  // if it is several
  Place place;
};

struct Text {
  std::string text;
};

struct Output {
  ExpressionPtr value;
};

struct If {
  struct Branch {
    ExpressionPtr condition;
    Body body;
  };
  std::vector<Branch> branches;
  Body otherwise;
};

struct For {
  Target target;
  ExpressionPtr items;
  ExpressionPtr condition;  // may be null
  Body body, otherwise;
};

struct Set {
  Target target;
  ExpressionPtr value;
};

// "{% set x %}..{% endset %}"
struct SetBlock {
  Target target;
  std::vector<Step> filters;
  Body body;
};

struct Parameter {
  std::string name;
  ExpressionPtr otherwise;  // null: undefined
};

struct Macro {
  std::string name;
  std::vector<Parameter> parameters;
  Body body;
};

struct MacroDefinition {
  std::unique_ptr<const Macro> macro;
};

// "{% call f(x) %}..{% endcall %}": the body is the macro "caller" for the one that is called.
struct CallBlock {
  std::unique_ptr<const Macro> caller;
  ExpressionPtr call;
};

struct FilterBlock {
  std::vector<Step> filters;
  Body body;
};

// "{% with a = 1 %}" and "{% generation %}": names that are set inside end with the body.
struct Block {
  std::vector<std::pair<Target, ExpressionPtr>> assignments;
  Body body;
};

struct Break {};
struct Continue {};

struct Statement {
  std::variant<Text, Output, If, For, Set, SetBlock, MacroDefinition, CallBlock, FilterBlock, Block,
               Break, Continue>
      what;
  Place place;
};

}  // namespace croze::llm::jinja
