// step_file.h -- files of steps taken apart and put together, by what croze/prepared/file.cpp says
// of their format.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "croze/base/hash.h"

namespace croze::test {

struct StepFile {
  std::string head, weights;

  static constexpr std::size_t front = 32, page = 4096;

  static StepFile of(const std::string& bytes) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + 16, sizeof(size));
    return {bytes.substr(front, size), bytes.substr((front + size + page - 1) / page * page)};
  }

  // With the hash of what the head is now.
  std::string sealed(std::uint32_t version = 1) const {
    std::string bytes = "CROZSTEP";
    const std::uint64_t words[] = {version, head.size(), hash_bytes(head)};
    bytes.append(reinterpret_cast<const char*>(words), sizeof(words));
    bytes += head;
    bytes.resize((bytes.size() + page - 1) / page * page);
    return bytes + weights;
  }
};

}  // namespace croze::test
