// sources.cpp -- functions are found by matching braces in the text freed of comments and strings,
// and the line breaks that clang-format makes are relied on; this is no C++ parser and need not be
// one.
#include "layers/sources.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace croze::layers {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view long_table_mark = "// long-table";

enum class Blanked { Comments, AllButCode };

// Replaces comments, and strings, characters and preprocessor lines if those too, by spaces,
// keeping all line breaks.
class Blanker {
 public:
  Blanker(std::string text, Blanked what) : text_(std::move(text)), what_(what) {}

  std::string run() {
    while (at_ < text_.size()) step();
    return std::move(text_);
  }

 private:
  bool starts(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }

  // Goes on after what is no comment.
  void pass_to(size_t end) {
    if (what_ == Blanked::AllButCode) return blank_to(end);
    at_ = std::min(end, text_.size());
  }

  // Blanks up to `end`, exclusive.
  void blank_to(size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_) {
      if (text_[at_] != '\n') text_[at_] = ' ';
    }
  }

  size_t after(std::string_view what, size_t from) const {
    size_t found = text_.find(what, from);
    return found == std::string::npos ? text_.size() : found + what.size();
  }

  size_t after_quoted(char quote) const {
    size_t i = at_ + 1;
    while (i < text_.size() && text_[i] != quote) i += text_[i] == '\\' ? 2 : 1;
    return i + 1;
  }

  size_t after_directive() const {
    size_t end = at_;
    do {
      end = after("\n", end);
    } while (end >= 2 && end < text_.size() && text_[end - 2] == '\\');
    return end;
  }

  void step() {
    char c = text_[at_];
    bool word_before = at_ > 0 && (std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0);
    if (starts("//")) {
      blank_to(text_.find('\n', at_));
    } else if (starts("/*")) {
      blank_to(after("*/", at_ + 2));
    } else if (starts("R\"")) {
      size_t open = text_.find('(', at_);
      std::string close = ")" + text_.substr(at_ + 2, open - at_ - 2) + "\"";
      pass_to(after(close, open));
    } else if (c == '"' || (c == '\'' && !word_before)) {  // 1'000 is a number
      pass_to(after_quoted(c));
    } else if (c == '#' && what_ == Blanked::AllButCode) {
      blank_to(after_directive());
    } else {
      ++at_;
    }
  }

  std::string text_;
  Blanked what_;
  size_t at_ = 0;
};

// Finds the functions that stand in namespaces and classes.
class FunctionFinder {
 public:
  explicit FunctionFinder(std::string_view code) : code_(code) {}

  std::vector<Function> run() {
    size_t head = 0;  // where the declaration at hand begins
    for (size_t i = 0; i < code_.size(); ++i) {
      char c = code_[i];
      if (c == ';' || c == '}') head = i + 1;
      if (c != '{') continue;
      std::string_view declaration = code_.substr(head, i - head);
      if (opens_scope(declaration)) {
        head = i + 1;
        continue;
      }
      size_t close = matching_brace(i);
      bool member_initializer = i > 0 && !std::isspace(static_cast<unsigned char>(code_[i - 1]));
      if (!member_initializer && declaration.find(')') != std::string_view::npos) {
        int first = line_of(i);
        functions_.push_back({first, line_of(close) - first + 1});
        head = close + 1;
      }
      i = close;
    }
    return std::move(functions_);
  }

 private:
  // Whether the declaration before a brace is that of a namespace or a type, whose inside holds
  // more declarations.
  static bool opens_scope(std::string_view declaration) {
    std::istringstream words{std::string(without_template(declaration))};
    std::string first;
    words >> first;
    constexpr std::array scopes = {"namespace", "class",  "struct", "union",
                                   "enum",      "extern", "inline"};
    if (std::find(scopes.begin(), scopes.end(), first) == scopes.end()) return false;
    return first != "inline" || declaration.find("namespace") != std::string_view::npos;
  }

  // Skips access labels and `template <...>`.
  static std::string_view without_template(std::string_view text) {
    for (std::string_view label : {"public:", "private:", "protected:"}) {
      if (size_t found = text.rfind(label); found != std::string_view::npos) {
        text.remove_prefix(found + label.size());
      }
    }
    while (true) {
      size_t start = text.find_first_not_of(" \n");
      if (start == std::string_view::npos) return {};
      text.remove_prefix(start);
      if (!text.starts_with("template")) return text;
      int depth = 0;
      size_t end = text.find('<');
      for (; end < text.size(); ++end) {
        depth += text[end] == '<' ? 1 : text[end] == '>' ? -1 : 0;
        if (depth == 0) break;
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  size_t matching_brace(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < code_.size(); ++i) {
      depth += code_[i] == '{' ? 1 : code_[i] == '}' ? -1 : 0;
      if (depth == 0) return i;
    }
    return code_.size();
  }

  int line_of(size_t position) const {
    return 1 + static_cast<int>(std::count(code_.begin(),
                                           code_.begin() + static_cast<ptrdiff_t>(position), '\n'));
  }

  std::string_view code_;
  std::vector<Function> functions_;
};

SourceFile read_source(const fs::path& root, const fs::path& path) {
  SourceFile file;
  file.path = fs::relative(path, root).generic_string();
  std::ifstream stream(path);
  std::string text, line;
  std::vector<int> marks;
  while (std::getline(stream, line)) {
    ++file.lines;
    text += line + '\n';
    constexpr std::string_view include = "#include ";
    if (line.starts_with(include)) {
      size_t end = line.find_first_of("\">", include.size() + 1);
      size_t begin = include.size() + 1;
      file.includes.push_back({file.lines, line.substr(begin, end - begin)});
    }
    if (line.find(long_table_mark) != std::string::npos) marks.push_back(file.lines);
  }
  file.code = Blanker(text, Blanked::AllButCode).run();
  file.uncommented = Blanker(text, Blanked::Comments).run();
  file.functions = FunctionFinder(file.code).run();
  std::erase_if(file.functions, [&](const Function& function) {
    return std::any_of(marks.begin(), marks.end(), [&](int mark) {
      return function.line - 1 <= mark && mark < function.line + function.lines;
    });
  });
  return file;
}

}  // namespace

std::vector<SourceFile> read_tree(const fs::path& root, const char* folder) {
  std::vector<SourceFile> files;
  if (!fs::exists(root / folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    std::string extension = entry.path().extension().string();
    if (extension == ".h" || extension == ".cpp") files.push_back(read_source(root, entry.path()));
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

}  // namespace croze::layers
