// weights_file.cpp -- contents one after the other.
#include "croze/export/weights_file.h"

#include <cstring>

#include "croze/base/bytes.h"
#include "croze/base/hash.h"

namespace croze::exporting {
namespace {

// Appends the contents at a multiple of the alignment; returns where.
std::int64_t append(std::string& bytes, const Array& array, std::int64_t alignment) {
  const std::int64_t at = (std::ssize(bytes) + alignment - 1) & -alignment;
  bytes.resize(static_cast<std::size_t>(at));
  bytes.append(as_text(array.contents));
  return at;
}

}  // namespace

WeightsFile weights_file(const Model& model, std::int64_t alignment) {
  WeightsFile file;
  file.bytes.resize(sizeof file.tag);
  for (const Array& a : model.weights) {
    file.weights.push_back(a.is_used ? append(file.bytes, a, alignment) : -1);
  }
  for (const Array& a : model.state) {
    file.state.push_back(is_zero(a) ? -1 : append(file.bytes, a, alignment));
  }
  file.tag = hash_bytes(file.bytes);
  std::memcpy(file.bytes.data(), &file.tag, sizeof file.tag);
  return file;
}

}  // namespace croze::exporting
