// tools.h -- NVIDIA's programs that install.sh has fetched, or that the machine has.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace croze::test {

// The file whose name begins so among those that were fetched; empty if there is none.
inline std::string fetched_tool(std::string_view name) {
  if (!std::filesystem::is_directory(CUDA_TOOLS)) return {};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CUDA_TOOLS)) {
    if (entry.path().filename().string().starts_with(name)) return entry.path().string();
  }
  return {};
}

}  // namespace croze::test
