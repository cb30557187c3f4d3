// parse_expressions.cpp -- from the loosest to the tightest:
//
//     choice:  or if or else choice
//     or, and, not, comparison
//     + -   then  ~   then  * / // %   then  **
//     sign, then what stands behind a value: .name [item] (call), then |filter and "is test"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "croze/llm/template/parser.h"

namespace croze::llm::jinja {
namespace {

template <typename T>
ExpressionPtr make(Place place, T what) {
  return std::make_unique<const Expression>(Expression{std::move(what), place});
}

using ArithmeticOp = Arithmetic::Op;

struct RankedOperator {
  std::string_view text;
  ArithmeticOp op;
  int rank;
};
constexpr int sum_rank = 0, product_rank = 1, power_rank = 2;
constexpr RankedOperator arithmetic_operators[] = {
    {"+", ArithmeticOp::Add, sum_rank},
    {"-", ArithmeticOp::Subtract, sum_rank},
    {"*", ArithmeticOp::Multiply, product_rank},
    {"/", ArithmeticOp::Divide, product_rank},
    {"//", ArithmeticOp::FloorDivide, product_rank},
    {"%", ArithmeticOp::Modulo, product_rank},
    {"**", ArithmeticOp::Power, power_rank},
};

using ComparisonOp = Comparison::Op;
constexpr std::pair<std::string_view, ComparisonOp> comparison_operators[] = {
    {"==", ComparisonOp::Equal},  {"!=", ComparisonOp::NotEqual},
    {"<", ComparisonOp::Less},    {"<=", ComparisonOp::LessEqual},
    {">", ComparisonOp::Greater}, {">=", ComparisonOp::GreaterEqual},
};

}  // namespace

// ---- tokens -----------------------------------------------------------------------------------

bool Parser::skip_operator(std::string_view text) {
  const bool found = is_operator(text);
  if (found) advance();
  return found;
}

bool Parser::skip_name(std::string_view text) {
  const bool found = is_name(text);
  if (found) advance();
  return found;
}

void Parser::expect_operator(std::string_view text) {
  if (!skip_operator(text)) fail_unexpected(text);
}

void Parser::expect_name(std::string_view text) {
  if (!skip_name(text)) fail_unexpected(text);
}

std::string Parser::name(std::string_view what) {
  if (!is(TokenKind::Name)) fail_unexpected(what);
  std::string text = current().text;
  advance();
  return text;
}

void Parser::fail_unexpected(std::string_view wanted) const {
  constexpr std::string_view kinds[] = {"text",
                                        "\"{{\"",
                                        "the end of the tag",
                                        "\"{%\"",
                                        "the end of the tag",
                                        "name",
                                        "text",
                                        "number",
                                        "number",
                                        "operator",
                                        "the end of the template"};
  const Token& token = current();
  const std::string_view kind = kinds[static_cast<std::size_t>(token.kind)];
  const std::string found = token.text.empty()
                                ? std::string(kind)
                                : fmt::format("the {} \"{}\"", kind, token.text.substr(0, 40));
  source_.fail_at(place(), fmt::format("{} where {} is expected", found, wanted));
}

// ---- operators --------------------------------------------------------------------------------

ExpressionPtr Parser::expression(bool with_choice) {
  const Level level(*this);
  ExpressionPtr value = logic(true);
  if (!with_choice) return value;
  const Place begin = value->place;
  for (int choices = 0; skip_name("if"); choices++) {
    check_here(choices < max_depth, "nested more than {} deep", max_depth);
    ExpressionPtr condition = logic(true);
    ExpressionPtr otherwise = skip_name("else") ? expression() : nullptr;
    value = make(begin, Choice{std::move(condition), std::move(value), std::move(otherwise)});
  }
  return value;
}

ExpressionPtr Parser::logic(bool is_or) {
  const Place begin = place();
  Logic result{is_or, {}};
  do {
    result.operands.push_back(is_or ? logic(false) : negation());
  } while (skip_name(is_or ? "or" : "and"));
  if (result.operands.size() == 1) return std::move(result.operands[0]);
  return make(begin, std::move(result));
}

ExpressionPtr Parser::negation() {
  const Place begin = place();
  if (!skip_name("not")) return comparison();
  const Level level(*this);
  return make(begin, Unary{Unary::Op::Not, negation()});
}

ExpressionPtr Parser::comparison() {
  const Place begin = place();
  Comparison result{arithmetic(sum_rank), {}};
  while (true) {
    const Place operator_place = place();
    const auto* found = std::ranges::find_if(comparison_operators,
                                             [&](const auto& op) { return is_operator(op.first); });
    ComparisonOp op;
    if (found != std::end(comparison_operators)) {
      op = found->second;
    } else if (is_name("in")) {
      op = ComparisonOp::In;
    } else if (is_name("not") && following().kind == TokenKind::Name && following().text == "in") {
      advance();
      op = ComparisonOp::NotIn;
    } else {
      break;
    }
    advance();
    result.rest.push_back({op, arithmetic(sum_rank), operator_place});
  }
  if (result.rest.empty()) return std::move(result.first);
  return make(begin, std::move(result));
}

ExpressionPtr Parser::arithmetic(int rank) {
  const auto operand = [&] {
    return rank == sum_rank       ? concatenation()
           : rank == product_rank ? arithmetic(power_rank)
                                  : signed_value();
  };
  const Place begin = place();
  Arithmetic result{operand(), {}};
  while (true) {
    const auto* found = std::ranges::find_if(arithmetic_operators, [&](const RankedOperator& op) {
      return op.rank == rank && is_operator(op.text);
    });
    if (found == std::end(arithmetic_operators)) break;
    const Place operator_place = place();
    advance();
    result.rest.push_back({found->op, operand(), operator_place});
  }
  if (result.rest.empty()) return std::move(result.first);
  return make(begin, std::move(result));
}

ExpressionPtr Parser::concatenation() {
  const Place begin = place();
  Concatenation result;
  do {
    result.parts.push_back(arithmetic(product_rank));
  } while (skip_operator("~"));
  if (result.parts.size() == 1) return std::move(result.parts[0]);
  return make(begin, std::move(result));
}

ExpressionPtr Parser::signed_value(bool with_filters) {
  const Place begin = place();
  ExpressionPtr value;
  if (is_operator("-") || is_operator("+")) {
    const Level level(*this);
    const Unary::Op op = is_operator("-") ? Unary::Op::Minus : Unary::Op::Plus;
    advance();
    value = make(begin, Unary{op, signed_value(false)});
  } else {
    value = primary();
  }
  std::vector<Step> steps;
  append_postfix(steps);
  if (with_filters) append_filters_and_tests(steps);
  if (steps.empty()) return value;
  return make(begin, Steps{std::move(value), std::move(steps)});
}

// ---- values -----------------------------------------------------------------------------------

ExpressionPtr Parser::primary() {
  const Token& token = current();
  const Place begin = token.place;
  if (token.kind == TokenKind::Integer || token.kind == TokenKind::Float) return number();
  if (token.kind == TokenKind::Name) {
    const std::string& name = token.text;
    advance();
    if (name == "true" || name == "True") return make(begin, Literal{true});
    if (name == "false" || name == "False") return make(begin, Literal{false});
    if (name == "none" || name == "None") return make(begin, Literal{Value()});
    return make(begin, Name{name});
  }
  if (token.kind == TokenKind::String) {
    std::string text;
    for (; is(TokenKind::String); advance()) text += current().text;
    return make(begin, Literal{std::move(text)});
  }
  if (is_operator("[")) return list();
  if (is_operator("{")) return dict();
  if (!skip_operator("(")) fail_unexpected("a value");
  ExpressionPtr value = tuple(true, true);
  expect_operator(")");
  return value;
}

ExpressionPtr Parser::number() {
  const Token& token = current();
  const std::string_view text = token.text;
  const char* end = text.data() + text.size();
  Value value;
  std::errc problem{};
  if (token.kind == TokenKind::Float) {
    double number = 0;
    problem = std::from_chars(text.data(), end, number).ec;
    if (problem == std::errc::result_out_of_range) {
      problem = {};
      number = text.find('-') == text.npos ? HUGE_VAL : 0;
    }
    value = number;
  } else {
    const char kind = text.size() > 1 ? text[1] : '\0';
    const int base = kind == 'x' || kind == 'X'   ? 16
                     : kind == 'o' || kind == 'O' ? 8
                     : kind == 'b' || kind == 'B' ? 2
                                                  : 10;
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data() + (base == 10 ? 0 : 2), end, number, base);
    problem = read.ptr == end ? read.ec : std::errc::invalid_argument;
    value = number;
  }
  check_here(problem == std::errc(), "the number {} does not fit 64 bits", text.substr(0, 40));
  advance();
  return make(token.place, Literal{std::move(value)});
}

ExpressionPtr Parser::list() {
  const Place begin = place();
  ListLiteral result;
  expect_operator("[");
  while (!is_operator("]")) {
    if (!result.elements.empty()) {
      expect_operator(",");
      if (is_operator("]")) break;
    }
    result.elements.push_back(expression());
  }
  expect_operator("]");
  return make(begin, std::move(result));
}

ExpressionPtr Parser::dict() {
  const Place begin = place();
  DictLiteral result;
  expect_operator("{");
  while (!is_operator("}")) {
    if (!result.members.empty()) {
      expect_operator(",");
      if (is_operator("}")) break;
    }
    ExpressionPtr key = expression();
    expect_operator(":");
    result.members.emplace_back(std::move(key), expression());
  }
  expect_operator("}");
  return make(begin, std::move(result));
}

bool Parser::is_end_of_tuple() const {
  return is(TokenKind::OutputEnd) || is(TokenKind::TagEnd) || is_operator(")") ||
         is_name("recursive");
}

ExpressionPtr Parser::tuple(bool with_choice, bool in_parentheses) {
  const Place begin = place();
  ListLiteral result{{}, true};
  bool has_comma = false;
  while (!is_end_of_tuple()) {
    result.elements.push_back(expression(with_choice));
    if (!skip_operator(",")) break;
    has_comma = true;
  }
  if (!has_comma && result.elements.size() == 1) return std::move(result.elements[0]);
  if (!has_comma && !in_parentheses) fail_unexpected("a value");
  return make(begin, std::move(result));
}

// ---- what stands behind a value ---------------------------------------------------------------

void Parser::append_postfix(std::vector<Step>& steps) {
  while (true) {
    const Place begin = place();
    if (is_operator(".")) {
      steps.push_back(attribute());
    } else if (is_operator("[")) {
      steps.push_back(subscript());
    } else if (is_operator("(")) {
      steps.push_back({CallStep{call_arguments()}, begin});
    } else {
      return;
    }
  }
}

void Parser::append_filters_and_tests(std::vector<Step>& steps) {
  while (true) {
    const Place begin = place();
    if (is_operator("|")) {
      steps.push_back(filter());
    } else if (is_name("is")) {
      steps.push_back(test());
    } else if (is_operator("(")) {
      steps.push_back({CallStep{call_arguments()}, begin});
    } else {
      return;
    }
  }
}

Step Parser::attribute() {
  const Place begin = place();
  expect_operator(".");
  if (is(TokenKind::Integer)) return {ItemStep{number()}, begin};
  return {AttributeStep{name("a name")}, begin};
}

Step Parser::subscript() {
  const Place begin = place();
  expect_operator("[");
  ExpressionPtr parts[3];
  int colons = 0;
  while (!is_operator("]")) {
    if (is_operator(":")) {
      colons++;
      check_here(colons <= 2, "a slice of more than three parts");
      advance();
    } else {
      if (parts[colons]) fail_unexpected("]");
      parts[colons] = expression();
    }
  }
  if (colons == 0 && !parts[0]) fail_unexpected("a value");
  expect_operator("]");
  if (colons == 0) return {ItemStep{std::move(parts[0])}, begin};
  return {SliceStep{std::move(parts[0]), std::move(parts[1]), std::move(parts[2])}, begin};
}

std::string Parser::dotted_name() {
  std::string text = name("a name");
  while (skip_operator(".")) text += "." + name("a name");
  return text;
}

Step Parser::filter() {
  const Place begin = place();
  expect_operator("|");
  FilterStep result{dotted_name(), {}};
  if (is_operator("(")) result.arguments = call_arguments();
  return {std::move(result), begin};
}

std::vector<Step> Parser::filters() {
  std::vector<Step> steps;
  while (is_operator("|")) steps.push_back(filter());
  return steps;
}

Step Parser::test() {
  const Place begin = place();
  expect_name("is");
  TestStep result;
  result.is_negated = skip_name("not");
  result.name = dotted_name();
  const bool is_word = is_name("else") || is_name("or") || is_name("and");
  const bool begins_value = is(TokenKind::Name) || is(TokenKind::String) ||
                            is(TokenKind::Integer) || is(TokenKind::Float) || is_operator("[") ||
                            is_operator("{");
  if (is_operator("(")) {
    result.arguments = call_arguments();
  } else if (begins_value && !is_word) {
    check_here(!is_name("is"), "a test of the result of a test");
    const Place argument_place = place();
    ExpressionPtr argument = primary();
    std::vector<Step> steps;
    append_postfix(steps);
    if (!steps.empty())
      argument = make(argument_place, Steps{std::move(argument), std::move(steps)});
    result.arguments.positional.push_back(std::move(argument));
  }
  return {std::move(result), begin};
}

CallArguments Parser::call_arguments() {
  const Level level(*this);
  CallArguments result;
  expect_operator("(");
  for (bool first = true; !is_operator(")"); first = false) {
    if (!first) {
      expect_operator(",");
      if (is_operator(")")) break;
    }
    check_here(!is_operator("*") && !is_operator("**"),
               "arguments out of a list or a dict are not supported");
    const bool is_named =
        is(TokenKind::Name) && following().kind == TokenKind::Operator && following().text == "=";
    if (!is_named) {
      check_here(result.named.empty(), "an argument without a name behind one with a name");
      result.positional.push_back(expression());
      continue;
    }
    std::string argument = name("a name");
    expect_operator("=");
    result.named.emplace_back(std::move(argument), expression());
  }
  expect_operator(")");
  return result;
}

}  // namespace croze::llm::jinja
