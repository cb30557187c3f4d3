#include "serve/access.h"

#include <algorithm>
#include <cstddef>

namespace croze::tool {

bool are_equal(std::string_view a, std::string_view b) {
  // The length of the longer one is walked, so that the time does not tell where they part.
  const std::size_t length = std::max(a.size(), b.size());
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < length; i++) {
    const char x = i < a.size() ? a[i] : '\0', y = i < b.size() ? b[i] : '\0';
    difference |= static_cast<unsigned>(static_cast<unsigned char>(x ^ y));
  }
  return difference == 0;
}

bool is_local(std::string_view host) {
  return host == "localhost" || host == "::1" || host == "[::1]" || host == "127.0.0.1";
}

std::string_view host_of(std::string_view address) {
  if (const auto scheme = address.find("://"); scheme != std::string_view::npos) {
    address.remove_prefix(scheme + 3);
  }
  if (address.starts_with('[')) return address.substr(0, address.find(']') + 1);
  return address.substr(0, address.find(':'));
}

bool has_key(std::string_view authorization, std::string_view key) {
  constexpr std::string_view scheme = "Bearer ";
  if (!authorization.starts_with(scheme)) return false;
  return are_equal(authorization.substr(scheme.size()), key);
}

}  // namespace croze::tool
