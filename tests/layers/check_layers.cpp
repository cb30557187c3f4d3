// croze-layers <root>: prints the layers of croze/ with their sizes and what each includes, and
// fails on whatever would spoil the layout: an include against the order of the layers, a back end
// included elsewhere than in the table of devices, a file or a function that has grown too long, a
// header of the standard library that is used and not included, a device named outside its folder.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layers/device_names.h"
#include "layers/missing_includes.h"
#include "layers/sources.h"

namespace croze::layers {
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

class Checker {
 public:
  explicit Checker(fs::path root) : root_(std::move(root)) {}

  // Prints the report; returns whether all is well.
  bool run() {
    std::vector<SourceFile> all = read_tree(root_, "croze");
    for (const SourceFile& file : all) check_library_file(file);
    for (const char* folder : {"tools", "bench", "examples", "tests"}) {
      std::vector<SourceFile> files = read_tree(root_, folder);
      for (const SourceFile& file : files) check_sizes(file);
      std::ranges::move(files, std::back_inserter(all));
    }
    std::ranges::move(missing_includes(all), std::back_inserter(faults_));
    const std::vector<std::string> named = device_names(all);
    std::ranges::copy(named, std::back_inserter(faults_));
    for (const auto& [folder, files] : files_of_) {
      if (files > max_files_of_folder) fault("{}: folder of {} sources", folder, files);
    }
    print_layers();
    for (const std::string& fault : faults_) fmt::print("{}\n", fault);
    fmt::print("{} lines name a device outside its folder and the table of devices\n",
               named.size());
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
      if (!include.path.starts_with("croze/")) continue;
      Include own{include.line, include.path.substr(std::string_view("croze/").size())};
      std::string target = first_folder(own.path);
      if (target != folder) entry.includes[target] += 1;
      check_include(file.path, path, own);
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
}  // namespace croze::layers

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: croze-layers <root of the repository>\n");
    return 2;
  }
  return croze::layers::Checker(argv[1]).run() ? 0 : 1;
}
