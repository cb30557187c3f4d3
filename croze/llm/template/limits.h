// limits.h -- how much a chat template may use.
#pragma once

#include <cstdint>

namespace croze::llm::jinja {

struct Limits {
  std::int64_t steps = 10'000'000;   // nodes and elements visited, and each 16 bytes looked at
  std::int64_t bytes = 256ll << 20;  // of all texts and lists that are made on the way
  std::int64_t output = 64ll << 20;  // bytes of the result
  int depth = 600;                   // of calls and expressions in each other
};

}  // namespace croze::llm::jinja
