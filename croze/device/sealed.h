// sealed.h -- compiled code in a wrapper that shows whether it is whole: a mark that says for which
// loader it is, and a checksum.  Loaders of foreign formats (shared objects, OpenCL binaries) may
// crash on damaged bytes, so they only see bytes that came back as they were.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "croze/base/error.h"
#include "croze/base/hash.h"

namespace croze {

// `mark` is eight characters.
inline std::string seal(std::string_view mark, std::string_view payload) {
  const std::uint64_t sum = hash_bytes(payload);
  std::string sealed(mark);
  sealed.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  sealed.append(payload);
  return sealed;
}

// The payload.  Throws Error if the bytes are not what seal() returned for this mark.
inline std::string_view unseal(std::string_view mark, std::string_view sealed) {
  std::uint64_t sum = 0;
  const std::size_t header = mark.size() + sizeof(sum);
  check(sealed.size() >= header && sealed.starts_with(mark), "this is no code of kind '{}'", mark);
  std::memcpy(&sum, sealed.data() + mark.size(), sizeof(sum));
  const std::string_view payload = sealed.substr(header);
  check(hash_bytes(payload) == sum, "code of kind '{}' is damaged", mark);
  return payload;
}

}  // namespace croze
