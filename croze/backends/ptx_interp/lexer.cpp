// lexer.cpp -- from characters to words.
#include "croze/backends/ptx_interp/lexer.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "croze/base/error.h"

namespace croze::ptx_interp {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' ||
         c == '%';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) tokens_.push_back(next());
    tokens_.push_back({{}, line_});
    return std::move(tokens_);
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  void skip_to(std::string_view what) {
    const std::size_t found = text_.find(what, at_);
    const std::size_t end = found == std::string_view::npos ? text_.size() : found;
    for (; at_ < end; at_++) line_ += text_[at_] == '\n';
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (starts("//")) {
        skip_to("\n");
      } else if (starts("/*")) {
        skip_to("*/");
        at_ = std::min(at_ + 2, text_.size());
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        line_ += text_[at_++] == '\n';
      } else {
        return;
      }
    }
  }

  Token next() {
    const std::size_t begin = at_;
    if (is_word(text_[at_])) {
      while (at_ < text_.size() && (is_word(text_[at_]) || starts("::"))) {
        at_ += is_word(text_[at_]) ? 1 : 2;
      }
    } else {
      constexpr std::string_view signs = "{}()[]<>,;:@!+-";
      check(signs.find(text_[at_]) != std::string_view::npos,
            "PTX, line {}: no word begins with '{}'", line_, text_[at_]);
      at_++;
    }
    return {text_.substr(begin, at_ - begin), line_};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int32_t line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).run(); }

}  // namespace croze::ptx_interp
