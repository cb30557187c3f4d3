// folder.cpp -- folders and files, taken back unless all is well.
#include "croze/export/folder.h"

#include <ranges>
#include <system_error>

#include "croze/base/error.h"

namespace croze::exporting {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(const std::string& path) : path_(path) {
  check(!path.empty(), "the folder of an export has no name");
  std::error_code error;
  for (fs::path p = fs::absolute(path_).lexically_normal(); !fs::exists(p, error);) {
    // A name that ends with a slash has an empty last part.
    if (p.has_filename()) made_.insert(made_.begin(), p);
    if (p == p.parent_path()) break;
    p = p.parent_path();
  }
  for (const fs::path& p : made_) {
    fs::create_directory(p, error);
    if (!error) continue;
    remove_made();
    fail({}, "cannot make the folder {}: {}", path, error.message());
  }
  const bool is_folder = fs::is_directory(path_, error);
  check(is_folder, "cannot write into {}: it is no folder", path);
}

OutputFolder::~OutputFolder() {
  writers_.clear();
  remove_made();
}

// What is not empty stays: it has something of others.
void OutputFolder::remove_made() {
  std::error_code error;
  for (const fs::path& p : std::views::reverse(made_)) fs::remove(p, error);
}

void OutputFolder::add(const std::string& name, std::string_view content) {
  files_.push_back((path_ / name).string());
  writers_.push_back(std::make_unique<FileWriter>(files_.back()));
  writers_.back()->write(content);
}

std::vector<std::string> OutputFolder::commit() {
  for (const auto& writer : writers_) writer->commit();
  made_.clear();
  return std::move(files_);
}

}  // namespace croze::exporting
