// append_file.h -- a file that grows piece by piece, and has its pieces even if the program dies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "croze/base/file.h"

namespace croze {

class AppendFile {
 public:
  // Makes the file, or empties what is there.  Throws Error if that cannot be done, and for all
  // that is no regular file.
  explicit AppendFile(std::string path);
  // The same of a file that is not there yet; none if it is.
  static std::optional<AppendFile> create(std::string path);

  // Throws Error if the system refuses, for example because the disk is full.
  void write(std::string_view bytes);

 private:
  AppendFile(std::string path, FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  FileDescriptor file_;
};

}  // namespace croze
