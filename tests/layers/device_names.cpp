#include "layers/device_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>

namespace croze::layers {
namespace {

// Words in any case, and what the table of devices has in quotes.
constexpr std::array words = {"opencl", "vulkan", "webgpu", "cuda", "nvidia", "nvrtc", "pocl"};
constexpr std::array quoted = {"\"CPU", "\"C\"", "\"C:", "\"INTERP", "\"NULL"};

constexpr std::array places = {
    "croze/backends/",      "croze/render/",        "croze/run/devices.cpp", "croze/base/options.",
    "croze/export/webgpu/", "croze/export/webgpu.", "croze/export/onnx.",    "croze/export/c/"};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The name that a line has; empty for none.  The linkage of C is no device.
std::string_view name_in(std::string line) {
  constexpr std::string_view linkage = "extern \"C\"";
  if (const std::size_t at = line.find(linkage); at != std::string::npos) {
    line.erase(at, linkage.size());
  }
  const std::string any_case = lower(line);
  for (const std::string_view name : words) {
    if (any_case.find(name) != std::string::npos) return name;
  }
  for (const std::string_view name : quoted) {
    if (line.find(name) != std::string::npos) return name.substr(1);
  }
  return {};
}

}  // namespace

std::vector<std::string> device_names(const std::vector<SourceFile>& files) {
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    if (!file.path.starts_with("croze/")) continue;
    if (std::ranges::any_of(places, [&](auto p) { return file.path.starts_with(p); })) continue;
    std::istringstream lines(file.uncommented);
    std::string line;
    for (int number = 1; std::getline(lines, line); number++) {
      const std::string_view name = name_in(line);
      if (name.empty()) continue;
      found.push_back(fmt::format("{}:{}: {} is named outside its folder and the table of devices",
                                  file.path, number, name));
    }
  }
  return found;
}

}  // namespace croze::layers
