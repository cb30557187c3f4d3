// sizes.cpp -- reading "batch=4".
#include "sizes.h"

#include <croze/base/error.h>

#include <charconv>

namespace croze::tool {

std::map<std::string, std::int64_t> sizes_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> sizes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    std::int64_t size = 0;
    const char* end = text.data() + text.size();
    const bool is_number = equals != text.npos &&
                           std::from_chars(text.data() + equals + 1, end, size).ptr == end &&
                           size > 0;
    check(is_number, "--size {}: write NAME=NUMBER", text);
    sizes[text.substr(0, equals)] = size;
  }
  return sizes;
}

}  // namespace croze::tool
