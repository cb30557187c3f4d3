// parser.h -- the tokens of a template to its tree.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/llm/template/ast.h"
#include "croze/llm/template/lexer.h"
#include "croze/llm/template/source.h"

namespace croze::llm::jinja {

// The grammar is that of Jinja; a function for each rule.  Rules that hold others count how deep
// they are.  Each function throws Error with line and column for what the grammar does not have.
class Parser {
 public:
  explicit Parser(const Source& source) : source_(source), tokens_(tokens_of(source)) {}

  Body parse();

 private:
  static constexpr int max_depth = 100;

  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      parser_.depth_++;
      parser_.check_here(parser_.depth_ <= max_depth, "nested more than {} deep", max_depth);
    }
    ~Level() { parser_.depth_--; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  // ---- tokens
  const Token& current() const { return tokens_[at_]; }
  const Token& following() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Place place() const { return current().place; }
  void advance() {
    if (at_ + 1 < tokens_.size()) at_++;
  }
  bool is(TokenKind kind) const { return current().kind == kind; }
  bool is_operator(std::string_view text) const {
    return is(TokenKind::Operator) && current().text == text;
  }
  bool is_name(std::string_view text) const {
    return is(TokenKind::Name) && current().text == text;
  }
  bool skip_operator(std::string_view text);
  bool skip_name(std::string_view text);
  void expect_operator(std::string_view text);
  void expect_name(std::string_view text);
  void expect_end_of_tag();
  std::string name(std::string_view what);
  [[noreturn]] void fail_unexpected(std::string_view wanted) const;
  template <typename... Args>
  void check_here(bool condition, fmt::format_string<Args...> format, Args&&... args) const {
    source_.check_at(condition, place(), format, std::forward<Args>(args)...);
  }

  // ---- expressions
  ExpressionPtr expression(bool with_choice = true);
  // Several with commas between are a tuple.
  ExpressionPtr tuple(bool with_choice, bool in_parentheses = false);
  bool is_end_of_tuple() const;
  ExpressionPtr logic(bool is_or);
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr arithmetic(int rank);
  ExpressionPtr concatenation();
  ExpressionPtr signed_value(bool with_filters = true);
  ExpressionPtr primary();
  ExpressionPtr number();
  ExpressionPtr dict();
  ExpressionPtr list();
  void append_postfix(std::vector<Step>& steps);
  void append_filters_and_tests(std::vector<Step>& steps);
  Step subscript();
  Step attribute();
  Step test();
  Step filter();
  std::vector<Step> filters();
  std::string dotted_name();
  CallArguments call_arguments();

  // ---- statements
  Body body(std::initializer_list<std::string_view> ends);
  Statement statement();
  Statement if_statement(Place place);
  Statement for_statement(Place place);
  Statement set_statement(Place place);
  Statement macro_statement(Place place);
  Statement call_statement(Place place);
  Statement filter_statement(Place place);
  Statement with_statement(Place place);
  std::vector<Parameter> parameters();
  Target target(bool with_attribute);
  Target target_part(bool with_attribute);
  void end_tag(std::string_view name);

  const Source& source_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;  // around the statement, in the same macro
};

}  // namespace croze::llm::jinja
