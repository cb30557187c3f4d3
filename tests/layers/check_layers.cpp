// croze-layers <root>: prints the layers of croze/ with their sizes and what each includes, and
// fails on whatever would spoil the layout: an include against the order of the layers, a back end
// included elsewhere than in the table of devices, a file or a function that has grown too long.
//
// Functions are found by matching braces in the text freed of comments and strings, and the line
// breaks that clang-format makes are relied on; this is no C++ parser and need not be one.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

// The order: a folder may include itself and whatever stands to its right.
constexpr std::string_view order =
    "viz llm export log io prepared nn jit tensor run tune schedule codegen backends render device "
    "prove "
    "graph trace base";
constexpr std::string_view device_table = "run/devices.cpp";
constexpr int max_file_lines = 600;
constexpr int max_function_lines = 60;
constexpr int max_files_of_folder = 40;
constexpr std::string_view long_table_mark = "// long-table";

struct Include {
  int line;
  std::string path;
};

struct Function {
  int line;
  int lines;
};

struct SourceFile {
  std::string path;  // from the root
  int lines = 0;
  std::vector<Include> includes;  // of croze's own headers, from croze/
  std::vector<Function> functions;
};

struct Folder {
  int files = 0;
  int lines = 0;
  int longest_file = 0;
  int longest_function = 0;
  std::map<std::string, int> includes;  // folder -> number of include lines
};

// The place of a folder in the order, -1 for none.
int rank_of(std::string_view folder) {
  std::istringstream names{std::string(order)};
  std::string name;
  for (int rank = 0; names >> name; ++rank) {
    if (name == folder) return rank;
  }
  return -1;
}

std::string first_folder(std::string_view path) {
  size_t slash = path.find('/');
  return std::string(slash == std::string_view::npos ? "" : path.substr(0, slash));
}

// Replaces comments, strings, characters and preprocessor lines by spaces, keeping all line breaks.
class Blanker {
 public:
  explicit Blanker(std::string text) : text_(std::move(text)) {}

  std::string run() {
    while (at_ < text_.size()) step();
    return std::move(text_);
  }

 private:
  bool starts(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }

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
      blank_to(after(close, open));
    } else if (c == '"' || (c == '\'' && !word_before)) {  // 1'000 is a number
      blank_to(after_quoted(c));
    } else if (c == '#') {
      blank_to(after_directive());
    } else {
      ++at_;
    }
  }

  std::string text_;
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
    constexpr std::string_view include = "#include \"croze/";
    if (line.starts_with(include)) {
      size_t end = line.find('"', include.size());
      file.includes.push_back({file.lines, line.substr(include.size(), end - include.size())});
    }
    if (line.find(long_table_mark) != std::string::npos) marks.push_back(file.lines);
  }
  file.functions = FunctionFinder(Blanker(text).run()).run();
  std::erase_if(file.functions, [&](const Function& function) {
    return std::any_of(marks.begin(), marks.end(), [&](int mark) {
      return function.line - 1 <= mark && mark < function.line + function.lines;
    });
  });
  return file;
}

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

class Checker {
 public:
  explicit Checker(fs::path root) : root_(std::move(root)) {}

  // Prints the report; returns whether all is well.
  bool run() {
    for (const SourceFile& file : read_tree(root_, "croze")) check_library_file(file);
    for (const char* folder : {"tools", "bench", "examples", "tests"}) {
      for (const SourceFile& file : read_tree(root_, folder)) check_sizes(file);
    }
    for (const auto& [folder, files] : files_of_) {
      if (files > max_files_of_folder) fault("{}: folder of {} sources", folder, files);
    }
    print_layers();
    for (const std::string& fault : faults_) fmt::print("{}\n", fault);
    fmt::print("{} faults\n", faults_.size());
    return faults_.empty();
  }

 private:
  template <typename... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args) {
    faults_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void check_sizes(const SourceFile& file) {
    files_of_[fs::path(file.path).parent_path().generic_string()] += 1;
    if (file.lines > max_file_lines) fault("{}: file of {} lines", file.path, file.lines);
    for (const Function& function : file.functions) {
      if (function.lines > max_function_lines) {
        fault("{}:{}: function of {} lines", file.path, function.line, function.lines);
      }
    }
  }

  void check_library_file(const SourceFile& file) {
    check_sizes(file);
    std::string path = file.path.substr(std::string_view("croze/").size());
    std::string folder = first_folder(path);
    Folder& entry = folders_[folder];
    entry.files += 1;
    entry.lines += file.lines;
    entry.longest_file = std::max(entry.longest_file, file.lines);
    for (const Function& function : file.functions) {
      entry.longest_function = std::max(entry.longest_function, function.lines);
    }
    bool umbrella = folder.empty();
    if (!umbrella && rank_of(folder) < 0) {
      fault("{}: the folder {} has no place in the order", file.path, folder);
      return;
    }
    for (const Include& include : file.includes) {
      std::string target = first_folder(include.path);
      if (target != folder) entry.includes[target] += 1;
      check_include(file.path, path, include);
    }
  }

  void check_include(const std::string& shown, const std::string& path, const Include& include) {
    std::string from = first_folder(path), to = first_folder(include.path);
    if (!fs::exists(root_ / "croze" / include.path)) {
      fault("{}:{}: {} does not exist", shown, include.line, include.path);
    } else if (to == "backends") {
      // "backends/cpu/": a back end is a folder of its own below backends/.
      std::string_view backend =
          std::string_view(include.path)
              .substr(0, include.path.find('/', std::string_view("backends/").size()) + 1);
      if (path != device_table && !path.starts_with(backend)) {
        fault("{}:{}: only {} may include {}", shown, include.line, device_table, include.path);
      }
    } else if (!from.empty() && (to.empty() || rank_of(to) < rank_of(from))) {
      fault("{}:{}: {} may not include {}", shown, include.line, from, include.path);
    }
  }

  // One row a folder, in the order; the last column is the include graph.
  void print_layers() const {
    fmt::print("{:<10} {:>5} {:>6} {:>12} {:>16}  includes\n", "layer", "files", "lines",
               "longest file", "longest function");
    std::vector<std::pair<int, std::string>> rows;
    for (const auto& [name, folder] : folders_) rows.emplace_back(rank_of(name), name);
    std::sort(rows.begin(), rows.end());
    for (const auto& [rank, name] : rows) {
      const Folder& folder = folders_.at(name);
      std::string includes;
      for (const auto& [target, count] : folder.includes) {
        includes += fmt::format(" {}:{}", target, count);
      }
      fmt::print("{:<10} {:>5} {:>6} {:>12} {:>16} {}\n", name.empty() ? "(top)" : name,
                 folder.files, folder.lines, folder.longest_file, folder.longest_function,
                 includes);
    }
  }

  fs::path root_;
  std::map<std::string, Folder> folders_;
  std::map<std::string, int> files_of_;  // folder -> sources right in it
  std::vector<std::string> faults_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: croze-layers <root of the repository>\n");
    return 2;
  }
  return Checker(argv[1]).run() ? 0 : 1;
}
