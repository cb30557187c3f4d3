// source.h -- the text of a template, and places in it.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "croze/base/error.h"

namespace croze::llm::jinja {

// The number of a byte.
struct Place {
  std::uint32_t offset = 0;
};

class Source {
 public:
  static constexpr std::size_t max_bytes = 1 << 20;

  // `name` is what messages call the template.  New lines become "\n", one at the end is removed,
  // and what is no UTF-8 is replaced.  Throws Error if it is too long.
  Source(std::string_view text, std::string name);

  const std::string& text() const { return text_; }
  const std::string& name() const { return name_; }

  // Throws Error that begins with name, line and column.
  [[noreturn]] void fail_at(Place place, std::string_view problem) const;
  template <typename... Args>
  void check_at(bool condition, Place place, fmt::format_string<Args...> format,
                Args&&... args) const {
    if (!condition) [[unlikely]] {
      fail_at(place, fmt::vformat(fmt::string_view(format), fmt::make_format_args(args...)));
    }
  }

 private:
  std::string text_, name_;
};

}  // namespace croze::llm::jinja
