// base64.h -- bytes as text.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace croze {

// With the digits + and /, filled up with =.
std::string to_base64(std::span<const std::byte> bytes);

}  // namespace croze
