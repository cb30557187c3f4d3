// folder.h -- internal to export/: several files that get their names when all are complete.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "croze/base/file.h"

namespace croze::exporting {

// A folder that gets files.  Until commit() they stand beside their places.
class OutputFolder {
 public:
  // Makes the folder and those above it.  Throws Error if it cannot be made or is something else.
  explicit OutputFolder(const std::string& path);
  // Without commit(), what was made is gone.
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // Throws Error if the file cannot be written.
  void add(const std::string& name, std::string_view content);
  // Returns the paths of the files, in order.
  std::vector<std::string> commit();

 private:
  void remove_made();

  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  // folders, outermost first
  std::vector<std::string> files_;
  std::vector<std::unique_ptr<FileWriter>> writers_;
};

}  // namespace croze::exporting
