// declarations.cpp -- reading declarations out of headers.
//
// No parser of C++: our headers are written plainly, so it is enough to split them at ';' and '{'
// outside of parentheses, and to know whether a brace opens a namespace, a class or anything else.
#include "declarations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string_view>

#include "croze/base/error.h"

namespace croze::tool {
namespace {

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Without comments and directives, every run of blanks one blank.
std::string plain(std::istream& lines) {
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    for (const char c : line.substr(0, line.find("//")) + " ") {
      const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
      if (!blank) text += c;
      if (blank && !text.empty() && text.back() != ' ') text += ' ';
    }
  }
  return text;
}

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at; (at = text.find(part)) != text.npos;) text.erase(at, part.size());
}

class Reader {
 public:
  explicit Reader(Declarations& result) : result_(result) {}

  void read(const std::string& text) {
    for (const char c : text) {
      parentheses_ += (c == '(') - (c == ')');
      if (parentheses_ == 0 && (c == ';' || c == '{' || c == '}')) {
        end_of_statement(c);
      } else if (skipped_ == 0 && !(statement_.empty() && c == ' ')) {
        statement_ += c;
      }
    }
  }

 private:
  void end_of_statement(char c) {
    if (skipped_ > 0) {
      skipped_ += (c == '{') - (c == '}');
    } else if (c == '}') {
      if (!scopes_.empty()) scopes_.pop_back();
    } else {
      take_statement();
      if (c == '{') open();
    }
    statement_.clear();
  }

  // A namespace or a class has declarations inside; whatever else stands in braces is passed over.
  void open() {
    const bool of_class = statement_.starts_with("class ") || statement_.starts_with("struct ");
    if (statement_.starts_with("namespace ") || of_class) {
      scopes_.push_back(of_class ? statement_ : "");
    } else {
      skipped_ = 1;
    }
  }

  void take_statement() {
    std::string text = statement_;
    for (const std::string_view label : {"public: ", "[[nodiscard]] ", "inline "}) {
      erase_all(text, label);
    }
    const bool in_tensor = !scopes_.empty() && scopes_.back().starts_with("class Tensor ");
    const bool in_class = !scopes_.empty() && !scopes_.back().empty();
    const std::size_t open = text.find('(');
    if (open == text.npos || (in_class && !in_tensor) || text.starts_with("template")) return;
    std::size_t begin = open;
    while (begin > 0 && is_name_char(text[begin - 1])) begin--;
    std::string name = text.substr(begin, open - begin);
    if (begin == 0 || name.empty() || name == "operator") return;
    erase_all(text, ", Location at = Location::current()");
    erase_all(text, "Location at = Location::current()");
    erase_all(text, "std::");
    if (in_tensor) {
      text.insert(begin, "Tensor::");
      if (!text.starts_with("static ")) name.insert(0, ".");
      erase_all(text, "static ");
    }
    result_[name].push_back(text);
  }

  Declarations& result_;
  std::vector<std::string> scopes_;  // of a class what opens it, of a namespace nothing
  std::string statement_;
  int parentheses_ = 0;
  int skipped_ = 0;  // braces open around what is passed over
};

std::ifstream open(const std::string& source, const std::string& header) {
  const std::string path = source + "/" + header;
  std::ifstream file(path);
  check(file.good(), "cannot read {}: --source names the folder with croze/croze.h", path);
  return file;
}

}  // namespace

Declarations public_declarations(const std::string& source) {
  constexpr std::string_view include = "#include \"";
  Declarations result;
  std::ifstream all = open(source, "croze/croze.h");
  for (std::string line; std::getline(all, line);) {
    if (!line.starts_with(include)) continue;
    const std::string header = line.substr(include.size(), line.rfind('"') - include.size());
    if (!header.starts_with("croze/tensor/")) continue;
    std::ifstream file = open(source, header);
    Reader(result).read(plain(file));
  }
  return result;
}

}  // namespace croze::tool
