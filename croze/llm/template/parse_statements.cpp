// parse_statements.cpp -- texts, outputs and tags.
#include <algorithm>
#include <utility>

#include "croze/llm/template/parser.h"

namespace croze::llm::jinja {

Body Parser::parse() {
  Body result = body({});
  if (!is(TokenKind::End)) fail_unexpected("the end of the template");
  return result;
}

// Up to a tag of one of these names, behind whose name the parser stands then, or the end of the
// template if there are none.
Body Parser::body(std::initializer_list<std::string_view> ends) {
  const Level level(*this);
  Body result;
  while (!is(TokenKind::End)) {
    if (is(TokenKind::TagBegin)) {
      const Token& name = following();
      const bool is_end =
          name.kind == TokenKind::Name && std::ranges::find(ends, name.text) != ends.end();
      if (is_end) {
        advance();
        return result;
      }
    }
    result.push_back(statement());
  }
  if (ends.size() > 0) fail_unexpected(fmt::format("the tag {}", *(ends.end() - 1)));
  return result;
}

Statement Parser::statement() {
  const Place begin = place();
  if (is(TokenKind::Text)) {
    Statement text{Text{current().text}, begin};
    advance();
    return text;
  }
  if (is(TokenKind::OutputBegin)) {
    advance();
    ExpressionPtr value = tuple(true);
    if (!is(TokenKind::OutputEnd)) fail_unexpected("}}");
    advance();
    return {Output{std::move(value)}, begin};
  }
  advance();
  const std::string tag = name("the name of a tag");
  if (tag == "if") return if_statement(begin);
  if (tag == "for") return for_statement(begin);
  if (tag == "set") return set_statement(begin);
  if (tag == "macro") return macro_statement(begin);
  if (tag == "call") return call_statement(begin);
  if (tag == "filter") return filter_statement(begin);
  if (tag == "with") return with_statement(begin);
  if (tag == "generation") {
    expect_end_of_tag();
    Body inside = body({"endgeneration"});
    end_tag("endgeneration");
    return {Block{{}, std::move(inside)}, begin};
  }
  if (tag == "break" || tag == "continue") {
    source_.check_at(loops_ > 0, begin, "a {} outside of a for", tag);
    expect_end_of_tag();
    if (tag == "break") return {Break{}, begin};
    return {Continue{}, begin};
  }
  source_.fail_at(begin, fmt::format("the tag \"{}\" is not supported", tag.substr(0, 40)));
}

void Parser::expect_end_of_tag() {
  if (!is(TokenKind::TagEnd)) fail_unexpected("the end of the tag");
  advance();
}

void Parser::end_tag(std::string_view name) {
  expect_name(name);
  expect_end_of_tag();
}

Statement Parser::if_statement(Place begin) {
  If result;
  do {
    ExpressionPtr condition = tuple(false);
    expect_end_of_tag();
    result.branches.push_back({std::move(condition), body({"elif", "else", "endif"})});
  } while (skip_name("elif"));
  if (skip_name("else")) {
    expect_end_of_tag();
    result.otherwise = body({"endif"});
  }
  end_tag("endif");
  return {std::move(result), begin};
}

Statement Parser::for_statement(Place begin) {
  For result;
  result.target = target(false);
  expect_name("in");
  result.items = tuple(false);
  if (skip_name("if")) result.condition = expression();
  check_here(!is_name("recursive"), "loops that call themselves are not supported");
  expect_end_of_tag();
  loops_++;
  result.body = body({"else", "endfor"});
  loops_--;
  if (skip_name("else")) {
    expect_end_of_tag();
    result.otherwise = body({"endfor"});
  }
  end_tag("endfor");
  return {std::move(result), begin};
}

Target Parser::target_part(bool with_attribute) {
  const Level level(*this);
  Target result;
  result.place = place();
  if (skip_operator("(")) {
    result = target(with_attribute);
    expect_operator(")");
    return result;
  }
  result.name = name("a name");
  for (const char* word : {"true", "false", "none", "True", "False", "None"}) {
    source_.check_at(result.name != word, result.place, "{} cannot be assigned to", word);
  }
  if (with_attribute && skip_operator(".")) result.attribute = name("a name");
  return result;
}

Target Parser::target(bool with_attribute) {
  const Place begin = place();
  Target first = target_part(with_attribute);
  if (!is_operator(",")) return first;
  Target result;
  result.place = begin;
  result.parts.push_back(std::move(first));
  while (skip_operator(",")) {
    if (!is(TokenKind::Name) && !is_operator("(")) break;
    if (is_name("in")) break;
    result.parts.push_back(target_part(with_attribute));
  }
  return result;
}

Statement Parser::set_statement(Place begin) {
  Target assigned = target(true);
  if (skip_operator("=")) {
    ExpressionPtr value = tuple(true);
    expect_end_of_tag();
    return {Set{std::move(assigned), std::move(value)}, begin};
  }
  SetBlock result{std::move(assigned), filters(), {}};
  expect_end_of_tag();
  result.body = body({"endset"});
  end_tag("endset");
  return {std::move(result), begin};
}

std::vector<Parameter> Parser::parameters() {
  std::vector<Parameter> result;
  expect_operator("(");
  while (!is_operator(")")) {
    if (!result.empty()) {
      expect_operator(",");
      if (is_operator(")")) break;
    }
    const bool had_default = !result.empty() && result.back().otherwise;
    Parameter parameter{name("the name of a parameter"), nullptr};
    if (skip_operator("=")) parameter.otherwise = expression();
    check_here(parameter.otherwise || !had_default,
               "a parameter without a default behind one with a default");
    result.push_back(std::move(parameter));
  }
  expect_operator(")");
  return result;
}

Statement Parser::macro_statement(Place begin) {
  auto macro = std::make_unique<Macro>();
  macro->name = name("the name of a macro");
  macro->parameters = parameters();
  expect_end_of_tag();
  const int loops_around = std::exchange(loops_, 0);
  macro->body = body({"endmacro"});
  loops_ = loops_around;
  end_tag("endmacro");
  return {MacroDefinition{std::move(macro)}, begin};
}

Statement Parser::call_statement(Place begin) {
  auto caller = std::make_unique<Macro>();
  caller->name = "caller";
  if (is_operator("(")) caller->parameters = parameters();
  ExpressionPtr call = expression();
  const auto* steps = std::get_if<Steps>(&call->what);
  const bool is_call = steps && std::holds_alternative<CallStep>(steps->steps.back().what);
  source_.check_at(is_call, call->place, "a call block without a call");
  expect_end_of_tag();
  const int loops_around = std::exchange(loops_, 0);
  caller->body = body({"endcall"});
  loops_ = loops_around;
  end_tag("endcall");
  return {CallBlock{std::move(caller), std::move(call)}, begin};
}

Statement Parser::filter_statement(Place begin) {
  FilterBlock result;
  const Place filter_place = place();
  FilterStep first{dotted_name(), {}};
  if (is_operator("(")) first.arguments = call_arguments();
  result.filters.push_back({std::move(first), filter_place});
  for (Step& step : filters()) result.filters.push_back(std::move(step));
  expect_end_of_tag();
  result.body = body({"endfilter"});
  end_tag("endfilter");
  return {std::move(result), begin};
}

Statement Parser::with_statement(Place begin) {
  Block result;
  while (!is(TokenKind::TagEnd)) {
    if (!result.assignments.empty()) expect_operator(",");
    Target assigned = target_part(false);
    expect_operator("=");
    result.assignments.emplace_back(std::move(assigned), expression());
  }
  expect_end_of_tag();
  result.body = body({"endwith"});
  end_tag("endwith");
  return {std::move(result), begin};
}

}  // namespace croze::llm::jinja
