// sources.h -- the files of the repository as the checks see them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace croze::layers {

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
  std::vector<Include> includes;
  std::vector<Function> functions;
  std::string code;         // without comments, strings and preprocessor lines, which are blank
  std::string uncommented;  // without comments alone
};

// All headers and sources below root/folder, by path; none if there is no such folder.
std::vector<SourceFile> read_tree(const std::filesystem::path& root, const char* folder);

}  // namespace croze::layers
