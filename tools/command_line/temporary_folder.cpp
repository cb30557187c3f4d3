#include "command_line/temporary_folder.h"

#include <stdlib.h>

#include <filesystem>
#include <system_error>

#include "croze/base/error.h"

namespace croze {

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "croze-XXXXXX").string();
  check(mkdtemp(path_.data()) != nullptr, "no folder can be made in {}",
        std::filesystem::temp_directory_path().string());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace croze
