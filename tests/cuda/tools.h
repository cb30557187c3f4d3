// tools.h -- NVIDIA's programs that install.sh has fetched, or that the machine has.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "croze/backends/cuda/nvrtc_library.h"
#include "croze/base/options.h"

namespace croze::test {

// The file whose name begins so among those that were fetched; empty if there is none.
inline std::string fetched_tool(std::string_view name) {
  if (!std::filesystem::is_directory(CUDA_TOOLS)) return {};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CUDA_TOOLS)) {
    if (entry.path().filename().string().starts_with(name)) return entry.path().string();
  }
  return {};
}

// The compiler that was fetched, or that the machine has; null if there is none.  It is looked for
// once in a process, when it is first asked for.
inline const cuda::Nvrtc* found_nvrtc() {
  const std::string fetched = fetched_tool("libnvrtc.so");
  if (fetched.empty()) return cuda::Nvrtc::get();
  const Options::Scope given{{Option::NvrtcLibrary, fetched}};
  return cuda::Nvrtc::get();
}

}  // namespace croze::test
