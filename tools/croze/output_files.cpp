// output_files.cpp -- a folder of arrays.
#include "output_files.h"

#include <croze/base/error.h>
#include <croze/io/npy.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <system_error>

namespace croze::tool {
namespace {

std::string file_name(std::string name) {
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return name;
}

// NumPy has no numbers of 8 bits and no bfloat16.
Tensor storable(const Tensor& tensor) {
  const bool small = is_half(tensor.dtype()) && tensor.dtype() != DType::Float16;
  return small ? tensor.cast(DType::Float32) : tensor;
}

}  // namespace

void make_output_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  check(!error, "--output-dir {}: {}", path, error.message());
  check(::access(path.c_str(), W_OK) == 0, "--output-dir {}: it cannot be written to", path);
}

std::string save_output(const std::string& folder, const std::string& name, const Tensor& tensor) {
  std::string path = fmt::format("{}/{}.npy", folder, file_name(name));
  save_npy(path, storable(tensor));
  return path;
}

}  // namespace croze::tool
