// temporary_folder.h -- a folder that is gone afterwards.
#pragma once

#include <string>

namespace croze {

class TemporaryFolder {
 public:
  // Throws Error if none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace croze
