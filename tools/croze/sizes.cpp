// sizes.cpp -- reading "batch=4".
#include "sizes.h"

#include <croze/base/error.h>
#include <croze/io/onnx/model.h>

#include <algorithm>
#include <charconv>
#include <system_error>

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
    for (const std::string& name : onnx::tied_names(text.substr(0, equals))) sizes[name] = size;
  }
  return sizes;
}

OpenedSizes opened_sizes_of(const std::vector<std::string>& texts) {
  OpenedSizes sizes;
  std::vector<std::string> closed;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    const std::size_t dots = equals == text.npos ? text.npos : text.find("..", equals);
    if (dots == text.npos) {
      closed.push_back(text);
      continue;
    }
    const std::size_t colon = std::min(text.find(':', dots), text.size());
    const auto number = [&](std::size_t begin, std::size_t end) {
      std::int64_t value = 0;
      const char* const last = text.data() + end;
      const auto read = std::from_chars(text.data() + begin, last, value);
      check(read.ec == std::errc() && read.ptr == last,
            "--size {}: write NAME=LEAST..MOST or NAME=LEAST..MOST:MULTIPLE", text);
      return value;
    };
    const std::int64_t multiple = colon == text.size() ? 1 : number(colon + 1, text.size());
    sizes.open.emplace_back(text.substr(0, equals), number(equals + 1, dots),
                            number(dots + 2, colon), multiple);
  }
  sizes.closed = sizes_of(closed);
  return sizes;
}

}  // namespace croze::tool
